package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operetta-dev/operetta/internal/documents"
)

// reloadPause is how often the configuration file is read. The kubelet writes a changed
// ConfigMap within some minute.
const reloadPause = 5 * time.Second

// reloader takes over the log level of a configuration file that changes while the server
// runs. It is a file because a file has an owner: a port would be anybody's who reaches
// it, and a Pod whose image has no shell is hard to send a signal to. SIGHUP reads it at
// once, for who runs the server by hand.
type reloader struct {
	program *Program
	path    string // of the file; empty where there is none
	// isFixed is set where the command line says the level, which wins.
	isFixed bool
	level   *slog.LevelVar
	log     *slog.Logger

	content  []byte // that has been read last
	now      *cobra.Command
	policies map[string]json.RawMessage
	failed   string // what has been said last, in order to say it once
}

// start reads the file as it is now, which the server has just begun with, and goes on
// in the background until ctx ends.
func (r *reloader) start(ctx context.Context) {
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	if r.path != "" {
		r.content, _ = documents.ReadFile(r.path)
		r.now = r.command()
		if config, err := readConfiguration(r.path); err == nil {
			_ = config.setFlags(r.now)
			r.policies = config.policies
		}
	}
	go func() {
		defer signal.Stop(hangUps)
		ticker := time.NewTicker(reloadPause)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangUps:
				r.read(true)
			case <-ticker.C:
				r.read(false)
			}
		}
	}()
}

// command returns a command with the settings of serve. It chooses no operators for the
// program that runs.
func (r *reloader) command() *cobra.Command {
	program := *r.program
	return newServeCommand(&program)
}

// read reads the file, and takes over what has changed. It tells that it has read it where
// somebody has asked for that.
func (r *reloader) read(isAsked bool) {
	if r.path == "" {
		if isAsked {
			r.log.Warn("nothing to read again: the server runs without --config")
		}
		return
	}
	content, err := documents.ReadFile(r.path)
	switch {
	case err == nil && bytes.Equal(content, r.content) && !isAsked:
		return
	case err == nil:
		r.content = content
		err = r.takeOver()
	}
	if err == nil {
		r.failed = ""
		return
	}
	if text := err.Error(); isAsked || text != r.failed {
		r.failed = text
		r.log.Error("the configuration was not taken over: all stays as it was", "error", text)
	}
}

// takeOver takes over the log level, and names the other settings that have changed.
func (r *reloader) takeOver() error {
	next := r.command()
	config, err := readConfiguration(r.path)
	if err == nil {
		err = config.setFlags(next)
	}
	if err != nil {
		return err
	}
	var level slog.Level
	if level.UnmarshalText([]byte(valueOf(next, logLevelFlag))) != nil {
		return errors.New(logLevelError(valueOf(next, logLevelFlag)))
	}
	var others []string
	next.Flags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name != logLevelFlag && flag.Value.String() != valueOf(r.now, flag.Name) {
			others = append(others, flag.Name)
		}
	})
	if !reflect.DeepEqual(config.policies, r.policies) {
		others = append(others, policyKey)
	}
	slices.Sort(others)
	if len(others) > 0 {
		r.log.Warn("the configuration has changed in settings that need a restart", "settings", others)
	}
	if r.isFixed {
		level = r.level.Level()
	}
	before := r.level.Level()
	r.level.Set(level)
	r.log.Log(context.Background(), level, "configuration read", "logLevel", level.String(), "logLevelBefore", before.String())
	return nil
}

func valueOf(cmd *cobra.Command, flag string) string { return cmd.Flags().Lookup(flag).Value.String() }
