// Command release makes what a release of Operetta consists of, from a checkout of
// it. The Makefile calls it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// commands are what it can make.
var commands = map[string]func(context.Context, []string) error{
	"image":   makeImage,
	"install": makeInstall,
	"notes":   printNotes,
	"pin":     pinImages,
	"push":    pushImage,
	"release": makeRelease,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Helm tells of each link in the chart
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "release: %s\n", strings.TrimSuffix(err.Error(), "\n"))
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("usage: release image|install|notes|pin|push|release [flags]")
	}
	if err := commands[args[0]](ctx, args[1:]); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}
