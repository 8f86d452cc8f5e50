package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"github.com/operetta-dev/operetta/release/image"
)

// imageFlags are what an image is built from, and where to.
type imageFlags struct {
	source     image.Source
	repository string
	created    int64
	out        string
}

func (f *imageFlags) register(set *flag.FlagSet) {
	set.StringVar(&f.source.Root, "root", ".", "folder of the product's go.mod")
	set.StringVar(&f.source.Go, "go", "go", "the go command")
	set.StringVar(&f.source.Version, "version", "devel", "version of the image, which is its tag")
	set.StringVar(&f.source.Revision, "revision", "unknown", "commit that it is built from")
	set.StringVar(&f.repository, "name", "ghcr.io/operetta-dev/operetta", "name of the image")
	set.Int64Var(&f.created, "created", 0, "time of the commit, in seconds since 1970")
	set.StringVar(&f.out, "out", "dist", "folder to write to")
}

// makeImage writes an OCI layout with the image of all platforms, and a tar for each.
func makeImage(ctx context.Context, args []string) error {
	var f imageFlags
	set := flag.NewFlagSet("image", flag.ContinueOnError)
	f.register(set)
	if err := set.Parse(args); err != nil {
		return err
	}
	_, err := f.build(ctx)
	return err
}

// build writes the image, and tells where.
func (f *imageFlags) build(ctx context.Context) (image.Built, error) {
	f.source.Created = time.Unix(f.created, 0).UTC()
	tag, err := name.NewTag(f.repository + ":" + f.source.Version)
	if err != nil {
		return image.Built{}, err
	}
	built, err := image.Build(ctx, f.source)
	if err != nil {
		return image.Built{}, err
	}
	folder := filepath.Join(f.out, "image")
	if err := built.WriteLayout(folder, f.source.Version); err != nil {
		return image.Built{}, err
	}
	paths, err := built.WriteArchives(f.out, tag)
	if err != nil {
		return image.Built{}, err
	}
	digest, err := built.Index.Digest()
	if err != nil {
		return image.Built{}, err
	}
	fmt.Fprintf(os.Stdout, "%s  %s\n", filepath.Clean(folder), digest)
	for _, path := range paths {
		fmt.Fprintf(os.Stdout, "%s  %s\n", filepath.Clean(path), tag)
	}
	return built, nil
}

// pushImage uploads the layout to a registry.
func pushImage(ctx context.Context, args []string) error {
	set := flag.NewFlagSet("push", flag.ContinueOnError)
	version := set.String("version", "devel", "tag of the image")
	repository := set.String("name", "ghcr.io/operetta-dev/operetta", "name of the image")
	out := set.String("out", "dist", "folder that the image was written to")
	if err := set.Parse(args); err != nil {
		return err
	}
	tag, err := name.NewTag(*repository + ":" + *version)
	if err != nil {
		return err
	}
	digest, err := image.Push(ctx, filepath.Join(*out, "image"), tag, http.DefaultTransport)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%s@%s\n", tag, digest)
	return nil
}
