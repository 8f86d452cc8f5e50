// Command release makes the parts of a release of Operetta that no other tool makes without Docker
// and a cluster, from a checkout of it. The Makefile calls it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// flags are those of all commands.
type flags struct {
	source           source
	root, out, image string
	kinds            string
}

// commands are what it can make.
var commands = map[string]func(context.Context, flags) error{
	"image": makeImage, "install": makeInstall, "pin": pinImages, "push": pushImage,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Helm tells of each link in the chart
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("write: release image|install|pin|push [flags]")
	}
	var f flags
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	set.StringVar(&f.root, "root", ".", "folder of the product's go.mod")
	set.StringVar(&f.out, "out", "dist", "folder to write to")
	set.StringVar(&f.image, "name", "", "name of the image")
	set.StringVar(&f.kinds, "kinds", "", "kinds to install, as in build,podset; all without it")
	set.StringVar(&f.source.goCommand, "go", "go", "the go command")
	set.StringVar(&f.source.version, "version", "", "version, which is the tag of the image")
	set.StringVar(&f.source.revision, "revision", "unknown", "commit that the image is built from")
	set.Int64Var(&f.source.created, "created", 0, "time of the commit, in seconds since 1970")
	if err := set.Parse(args[1:]); err != nil {
		return err
	}
	f.source.root = f.root
	if err := commands[args[0]](ctx, f); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}
