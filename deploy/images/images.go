// Package images tells the images of tools, which images.yaml lists for hooks and
// manifests alike.
package images

import (
	_ "embed"
	"fmt"

	"sigs.k8s.io/yaml"
)

//go:embed images.yaml
var text []byte

// listed is images.yaml. It is read once, for what is answered is to be a constant.
var listed = func() map[string]string {
	images := map[string]string{}
	if err := yaml.UnmarshalStrict(text, &images); err != nil {
		panic(fmt.Sprintf("deploy/images/images.yaml: %v", err))
	}
	return images
}()

// Of returns the reference of an image by its name in images.yaml, as in busybox:1.37. It
// panics where that has no such name, which a test of whatever asks for it shows.
func Of(name string) string {
	reference, found := listed[name]
	if !found {
		panic("deploy/images/images.yaml has no " + name)
	}
	return reference
}
