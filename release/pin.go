package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/operetta-dev/operetta/release/pin"
)

// pinImages writes the digests of the tools' images where they are listed.
func pinImages(ctx context.Context, args []string) error {
	set := flag.NewFlagSet("pin", flag.ContinueOnError)
	root := set.String("root", ".", "folder of the product's go.mod")
	if err := set.Parse(args); err != nil {
		return err
	}
	references, err := pin.Files(ctx, filepath.Join(*root, "deploy"), http.DefaultTransport)
	for _, reference := range references {
		fmt.Fprintln(os.Stdout, reference)
	}
	return err
}
