package main

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// platforms are what the image is built for.
var platforms = []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}

// source is what an image is built from. The same source and Go give the same digests, on every machine.
type source struct {
	root, goCommand   string
	version, revision string
	created           int64 // in seconds since 1970
}

// makeImage writes an OCI layout with the image of all platforms, and a tar for each, in the form that
// docker load and ctr image import take.
func makeImage(ctx context.Context, f flags) error {
	tag, err := name.NewTag(f.image + ":" + f.source.version)
	if err != nil {
		return err
	}
	images, index, err := f.source.build(ctx)
	if err != nil {
		return err
	}
	folder := filepath.Join(f.out, "image")
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	written, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	if err := written.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": f.source.version})); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%s  %s\n", folder, digest)
	for i, platform := range platforms {
		path := filepath.Join(f.out, fmt.Sprintf("image-%s-%s.tar", platform.OS, platform.Architecture))
		if err := tarball.WriteToFile(path, tag, images[i]); err != nil {
			return err
		}
		fmt.Fprintf(os.Stdout, "%s  %s\n", path, tag)
	}
	return nil
}

// pushImage uploads the layout to a registry, with the credentials of docker login.
func pushImage(ctx context.Context, f flags) error {
	tag, err := name.NewTag(f.image + ":" + f.source.version)
	if err != nil {
		return err
	}
	written, err := layout.ImageIndexFromPath(filepath.Join(f.out, "image"))
	if err != nil {
		return err
	}
	manifest, err := written.IndexManifest()
	if err != nil {
		return err
	}
	digest := manifest.Manifests[0].Digest
	index, err := written.ImageIndex(digest)
	if err != nil {
		return err
	}
	if err := remote.WriteIndex(tag, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%s@%s\n", tag, digest)
	return nil
}

// build compiles the program and returns an image for each platform, and their index.
func (s source) build(ctx context.Context) (images []v1.Image, index v1.ImageIndex, err error) {
	index = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms {
		program, err := s.compile(ctx, platform)
		if err != nil {
			return nil, nil, fmt.Errorf("compiling for %s: %w", platform, err)
		}
		image, err := s.assemble(platform, program)
		if err != nil {
			return nil, nil, fmt.Errorf("the image for %s: %w", platform, err)
		}
		images = append(images, image)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return images, index, nil
}

// compile returns the program for a platform, built as the Dockerfile builds it.
func (s source) compile(ctx context.Context, platform v1.Platform) ([]byte, error) {
	folder, err := os.MkdirTemp("", "operetta-image-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "operetta")
	ldflags := "-s -w -buildid= -X github.com/operetta-dev/operetta/internal/cli.version=" + s.version
	cmd := exec.CommandContext(ctx, s.goCommand, "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", path, "./cmd/operetta-server")
	cmd.Dir = s.root
	// Whatever changes the bytes and may stand in somebody's environment.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture,
		"GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, said)
	}
	return os.ReadFile(path)
}

// assemble returns the image of a program: what the Dockerfile says, on no base.
func (s source) assemble(platform v1.Platform, program []byte) (v1.Image, error) {
	files, err := archive(program)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: time.Unix(s.created, 0).UTC()}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.Append(image, mutate.Addendum{
		Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: created, CreatedBy: "make image-oci"},
	}); err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = platform.OS, platform.Architecture, created
	config.Config = v1.Config{
		Labels: map[string]string{
			"org.opencontainers.image.title":       "Operetta",
			"org.opencontainers.image.description": "Kubernetes operators as pure functions, behind Metacontroller",
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.source":      "https://github.com/operetta-dev/operetta",
			"org.opencontainers.image.version":     s.version,
			"org.opencontainers.image.revision":    s.revision,
		},
		User:         "65532:65532", // a number: there is no file with names
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "9090/tcp": {}},
		Entrypoint:   []string{"/operetta"},
		Cmd:          []string{"serve"},
		Env:          []string{"PATH=/"},
	}
	return mutate.ConfigFile(image, config)
}

// archive returns a tar with the program in its root, which everybody may run and nobody but root may write.
func archive(program []byte) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: "operetta", Size: int64(len(program)), Mode: 0o755, ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR,
	}); err != nil {
		return nil, err
	}
	if _, err := w.Write(program); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}
