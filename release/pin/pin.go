// Package pin writes the digests of images where they are listed by version.
package pin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"sigs.k8s.io/yaml"
)

// manifests are the folders of deploy/ with images of the list. The samples' are their
// users', even where they have the same name.
var manifests = []string{"metacontroller", "components"}

// Files asks the registries for the digest of every image that deploy/images/images.yaml
// lists, and writes it there and into the manifests beside it. It writes nothing before
// it knows them all. It returns the references, in the order of the list.
func Files(ctx context.Context, deploy string, transport http.RoundTripper) ([]string, error) {
	path := filepath.Join(deploy, "images/images.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	pinned, replaced, err := list(ctx, text, transport)
	if err != nil {
		return nil, fmt.Errorf("nothing is changed: %w", err)
	}
	changed := map[string][]byte{path: pinned}
	for _, folder := range manifests {
		err := filepath.WalkDir(filepath.Join(deploy, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, image := range replaced {
				line := regexp.MustCompile(`(?m)^( *(?:- )?image: )` + regexp.QuoteMeta(image.was) + `$`)
				text = line.ReplaceAll(text, []byte("${1}"+image.is))
			}
			changed[path] = text
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("nothing is changed: %w", err)
		}
	}
	for path, text := range changed {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return nil, err
		}
	}
	var references []string
	for _, image := range replaced {
		references = append(references, image.is)
	}
	return references, nil
}

// replacement is an image as it was listed and as it is to be.
type replacement struct{ was, is string }

// entry is a line of the list; all others are comments and empty.
var entry = regexp.MustCompile(`^([a-z0-9-]+): (\S+)$`)

// list returns a list of images with digests, its comments as they are.
func list(ctx context.Context, text []byte, transport http.RoundTripper) ([]byte, []replacement, error) {
	var known map[string]string
	if err := yaml.UnmarshalStrict(text, &known); err != nil {
		return nil, nil, err
	}
	var replaced []replacement
	var failed []error
	lines := bytes.Split(text, []byte("\n"))
	for i, line := range lines {
		found := entry.FindSubmatch(line)
		if found == nil {
			continue
		}
		was := string(found[2])
		version, _, _ := strings.Cut(was, "@")
		digest, err := resolve(ctx, version, transport)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", version, err))
			continue
		}
		is := version + "@" + digest
		lines[i] = fmt.Appendf(nil, "%s: %s", found[1], is)
		replaced = append(replaced, replacement{was, is})
	}
	if len(failed) == 0 && len(replaced) != len(known) {
		failed = append(failed, fmt.Errorf("%d of %d images stand in a line of their own", len(replaced), len(known)))
	}
	return bytes.Join(lines, []byte("\n")), replaced, errors.Join(failed...)
}

// resolve returns the digest that a registry has under a version now: that of all
// platforms, where there are several.
func resolve(ctx context.Context, version string, transport http.RoundTripper) (string, error) {
	tag, err := name.NewTag(version)
	if err != nil {
		return "", err
	}
	descriptor, err := remote.Head(tag, remote.WithContext(ctx), remote.WithTransport(transport), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err != nil {
		return "", err
	}
	return descriptor.Digest.String(), nil
}
