// Web bundles the page of operetta play, and the player of the files that it exports, into the
// folder that the product embeds.
//
//	go run . ../internal/lab/page/page
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name the folder to write to")
	}
	files, err := bundle(".")
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(args[0], name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
