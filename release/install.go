package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/operetta-dev/operetta/release/install"
)

// makeInstall writes deploy/ as one file.
func makeInstall(_ context.Context, args []string) error {
	var options install.Options
	set := flag.NewFlagSet("install", flag.ContinueOnError)
	root := set.String("root", ".", "folder of the product's go.mod")
	out := set.String("out", "dist", "folder to write to")
	kinds := set.String("kinds", "", "kinds to install, as in build,podset; all without it")
	set.StringVar(&options.Image, "name", "", "name of the image, if it is another than in deploy/")
	set.StringVar(&options.Tag, "version", "", "tag of the image, if it is another than in deploy/")
	if err := set.Parse(args); err != nil {
		return err
	}
	if *kinds != "" {
		options.Kinds = strings.Split(*kinds, ",")
	}
	text, err := install.Render(filepath.Join(*root, "deploy"), options)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	path := filepath.Join(*out, "install.yaml")
	header := "# Operetta without Metacontroller, whose CRDs must be there before: kubectl apply -f install.yaml\n"
	if err := os.WriteFile(path, append([]byte(header), text...), 0o644); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, path)
	return nil
}
