package image

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// WriteLayout writes an OCI layout with all platforms into a folder, instead of what
// was there.
func (b Built) WriteLayout(folder, version string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	return path.AppendIndex(b.Index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version}))
}

// WriteArchives writes a tar for each platform into a folder, in the form that
// `docker load` and `ctr image import` take, and returns their paths. The image has
// the name tag there.
func (b Built) WriteArchives(folder string, tag name.Tag) ([]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	var paths []string
	for i, platform := range Platforms() {
		path := filepath.Join(folder, fmt.Sprintf("image-%s-%s.tar", platform.OS, platform.Architecture))
		if err := tarball.WriteToFile(path, tag, b.Images[i]); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Push uploads a layout that [Built.WriteLayout] has written to a registry, and
// returns its digest. The credentials are those of `docker login`.
func Push(ctx context.Context, folder string, tag name.Tag, transport http.RoundTripper) (v1.Hash, error) {
	root, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return v1.Hash{}, err
	}
	manifest, err := root.IndexManifest()
	if err != nil {
		return v1.Hash{}, err
	}
	if len(manifest.Manifests) != 1 {
		return v1.Hash{}, fmt.Errorf("%s has %d images, and should have one", folder, len(manifest.Manifests))
	}
	digest := manifest.Manifests[0].Digest
	index, err := root.ImageIndex(digest)
	if err != nil {
		return v1.Hash{}, err
	}
	return digest, remote.WriteIndex(tag, index, remote.WithContext(ctx), remote.WithTransport(transport), remote.WithAuthFromKeychain(authn.DefaultKeychain))
}
