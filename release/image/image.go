// Package image builds the container image of Operetta without Docker: the program
// and nothing else, for each platform, and an index of both.
//
// The same source, version and Go give the same digests, on every machine.
package image

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Platforms returns what the image is built for.
func Platforms() []v1.Platform {
	return []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}
}

// Source is what an image is built from.
type Source struct {
	// Root is the folder of the product's go.mod.
	Root string
	// Go is the go command.
	Go string
	// Version is what `operetta version` prints, and Revision the commit. Both are
	// labels of the image.
	Version, Revision string
	// Created is the time that the image tells as that of its creation: that of the
	// commit, for the same source is to give the same image.
	Created time.Time
}

// Built is an image for each platform.
type Built struct {
	// Index lists the images, one for each of [Platforms].
	Index v1.ImageIndex
	// Images are those of [Platforms], in that order, and Programs what they run.
	Images   []v1.Image
	Programs [][]byte
}

// Build compiles the program and returns its images.
func Build(ctx context.Context, source Source) (Built, error) {
	built := Built{Index: mutate.IndexMediaType(empty.Index, types.OCIImageIndex)}
	for _, platform := range Platforms() {
		program, err := compile(ctx, source, platform)
		if err != nil {
			return Built{}, fmt.Errorf("compiling for %s: %w", platform, err)
		}
		image, err := assemble(source, platform, program)
		if err != nil {
			return Built{}, fmt.Errorf("the image for %s: %w", platform, err)
		}
		built.Images, built.Programs = append(built.Images, image), append(built.Programs, program)
		built.Index = mutate.AppendManifests(built.Index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &platform},
		})
	}
	return built, nil
}

// assemble returns the image of a program: what the Dockerfile says, on no base.
func assemble(source Source, platform v1.Platform, program []byte) (v1.Image, error) {
	files, err := archive("operetta", program)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.Append(image, mutate.Addendum{
		Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: v1.Time{Time: source.Created}, CreatedBy: "make image-oci"},
	}); err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = platform.OS, platform.Architecture
	config.Created = v1.Time{Time: source.Created}
	config.Config = v1.Config{
		Labels: map[string]string{
			"org.opencontainers.image.title":       "Operetta",
			"org.opencontainers.image.description": "Kubernetes operators as pure functions, behind Metacontroller",
			"org.opencontainers.image.licenses":    "Apache-2.0",
			"org.opencontainers.image.source":      "https://github.com/operetta-dev/operetta",
			"org.opencontainers.image.version":     source.Version,
			"org.opencontainers.image.revision":    source.Revision,
		},
		// A number, because the kubelet cannot tell whether a name is root's, and because
		// there is no file with names.
		User:         "65532:65532",
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "9090/tcp": {}},
		Entrypoint:   []string{"/operetta"},
		Cmd:          []string{"serve"},
		Env:          []string{"PATH=/"},
	}
	return mutate.ConfigFile(image, config)
}

// archive returns a tar with one program in its root, which everybody may run and
// nobody but root may write.
func archive(name string, program []byte) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: int64(len(program)), Mode: 0o755,
		ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR,
	}
	if err := w.WriteHeader(header); err != nil {
		return nil, err
	}
	if _, err := w.Write(program); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
