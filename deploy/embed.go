// Package deploy carries the manifests that the program itself needs.
package deploy

import (
	"embed"
	"strings"
	"sync"
)

//go:embed crds
var files embed.FS

// CRD returns the CustomResourceDefinition of a kind as `make generate` has
// written it, or nil where there is none yet. A kind is named in lower case, as
// its file is. The bytes are the same at every call, and are not to be changed.
func CRD(kind string) []byte { return crds()[kind] }

// crds reads the files once: a file system hands out a copy at every reading.
var crds = sync.OnceValue(func() map[string][]byte {
	byKind := map[string][]byte{}
	entries, err := files.ReadDir("crds")
	if err != nil {
		return nil // a folder that is embedded can be read
	}
	for _, entry := range entries {
		kind, isYAML := strings.CutSuffix(entry.Name(), ".yaml")
		if text, err := files.ReadFile("crds/" + entry.Name()); err == nil && isYAML && kind != "kustomization" {
			byKind[kind] = text
		}
	}
	return byKind
})
