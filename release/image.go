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

// makeImage writes an OCI layout with the image of all platforms, and a tar for each.
func makeImage(ctx context.Context, args []string) error {
	var source image.Source
	set := flag.NewFlagSet("image", flag.ContinueOnError)
	set.StringVar(&source.Root, "root", ".", "folder of the product's go.mod")
	set.StringVar(&source.Go, "go", "go", "the go command")
	set.StringVar(&source.Version, "version", "devel", "version of the image, which is its tag")
	set.StringVar(&source.Revision, "revision", "unknown", "commit that it is built from")
	repository := set.String("name", "ghcr.io/operetta-dev/operetta", "name of the image in the archives")
	created := set.Int64("created", 0, "time of the commit, in seconds since 1970")
	out := set.String("out", "dist", "folder to write to")
	if err := set.Parse(args); err != nil {
		return err
	}
	source.Created = time.Unix(*created, 0).UTC()
	tag, err := name.NewTag(*repository + ":" + source.Version)
	if err != nil {
		return err
	}
	built, err := image.Build(ctx, source)
	if err != nil {
		return err
	}
	folder := filepath.Join(*out, "image")
	if err := built.WriteLayout(folder, source.Version); err != nil {
		return err
	}
	paths, err := built.WriteArchives(*out, tag)
	if err != nil {
		return err
	}
	digest, err := built.Index.Digest()
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%s  %s\n", filepath.Clean(folder), digest)
	for _, path := range paths {
		fmt.Fprintf(os.Stdout, "%s  %s\n", filepath.Clean(path), tag)
	}
	return nil
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
