package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/operetta-dev/operetta/internal/record"
	"github.com/operetta-dev/operetta/internal/server"
	"github.com/operetta-dev/operetta/metacontroller"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, metricsListen, config string
	record                        string
	logLevel, logFormat           string
	pprof                         bool
	maxBodyBytes, maxAnswerBytes  int64
	maxInFlight                   int
	drainDelay, shutdownTimeout   time.Duration
	credentials                   server.CredentialFiles
}

func newServeCommand(p *Program) *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer Metacontroller's hooks over HTTP",
		Long: `Serve answers the hooks of all operators, or of those in --kinds, and serves health
checks and metrics on a second port.

SIGTERM and SIGINT end it in three steps: readiness fails, after --drain-delay
new requests are refused, and when those in flight have been answered it exits
with 0. A second signal ends it at once.`,
		Args: Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := readConfiguration(flags.config)
			if err == nil {
				err = config.apply(cmd, p)
			}
			if err != nil {
				return err
			}
			if err := flags.limitMemory(cmd); err != nil {
				return err
			}
			return serve(cmd.Context(), p, &flags)
		},
	}
	flags.add(cmd, p)
	return cmd
}

// add adds the flags to a command.
func (f *serveFlags) add(cmd *cobra.Command, p *Program) {
	AddKinds(cmd, p)
	set := cmd.Flags()
	set.StringVar(&f.listen, "listen", ":8080", "address to answer hooks on")
	set.StringVar(&f.metricsListen, "metrics-listen", ":9090", "address of /healthz, /readyz and /metrics")
	set.StringVar(&f.config, "config", "", "YAML file with these flags' names as keys, and the policies of operators below policy; the command line wins; see operetta config")
	set.Var(boundedFlag(&f.maxBodyBytes, server.DefaultMaxBodyBytes, 1, maxBytes, quantity), "max-body-bytes",
		"size of the largest request body, at most a fifth of the memory limit of the container, or 30% of GOMEMLIMIT; a larger one is refused with 413")
	set.Var(boundedFlag(&f.maxAnswerBytes, metacontroller.DefaultMaxAnswerBytes, 1<<10, maxBytes, quantity), "max-answer-bytes",
		"size of the largest answer; a hook that would give a larger one answers 500")
	set.Var(boundedFlag(&f.maxInFlight, server.DefaultMaxInFlight(), 1, maxSlots, count), "max-in-flight",
		"hooks that run at once; the others wait, and get 429 after too long")
	set.Var(boundedFlag(&f.drainDelay, server.DefaultDrainDelay, 0, time.Hour, duration), "drain-delay",
		"time from failing readiness to refusing requests, after SIGTERM")
	set.Var(boundedFlag(&f.shutdownTimeout, server.DefaultShutdownTimeout, time.Millisecond, time.Hour, duration), "shutdown-timeout",
		"longest time for requests in flight to finish after that")
	addCredentials(cmd, &f.credentials)
	set.StringVar(&f.record, "record", "", "folder to write each distinct request and its answer to, for operetta replay; strings that are not known to be harmless are replaced")
	set.StringVar(&f.logLevel, "log-level", "info", "least level to log: debug, info, warn or error; an answer that changes nothing is logged at debug")
	set.StringVar(&f.logFormat, "log-format", "json", "form of the log: json or text")
	set.BoolVar(&f.pprof, "pprof", false, "serve profiles of the process below /debug/pprof/ on the port of the metrics")
}

// Upper bounds of flags.
const (
	maxBytes = 1 << 40
	maxSlots = 1024
)

// memoryBudget returns what all requests together may hold.
func (f *serveFlags) memoryBudget() int64 {
	budget := server.DefaultMemoryBudget()
	if f.record != "" {
		budget = max(budget-record.MostMemory, record.MostMemory)
	}
	return budget
}

// limitMemory limits that of the process, and refuses a limit of request bodies for which
// there is none.
func (f *serveFlags) limitMemory(cmd *cobra.Command) error {
	server.LimitMemory()
	if most := server.LargestBody(f.memoryBudget()); cmd.Flags().Changed("max-body-bytes") && f.maxBodyBytes > most {
		return Usagef("--max-body-bytes %s is more than half of the memory for requests, which is 45%% of the memory limit of the container, or 60%% of GOMEMLIMIT: write at most %s, or raise that",
			printQuantity(f.maxBodyBytes), printQuantity(most))
	}
	return nil
}

func serve(ctx context.Context, p *Program, flags *serveFlags) error {
	log, err := newLogger(p, flags)
	if err != nil {
		return err
	}
	credentials, err := loadCredentials(flags.credentials, log)
	if err != nil {
		return err
	}
	if err := loadCRDs(p.controllers); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	hooks, err := net.Listen("tcp", flags.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	health, err := net.Listen("tcp", flags.metricsListen)
	if err != nil {
		return errors.Join(fmt.Errorf("--metrics-listen: %w", err), hooks.Close())
	}
	options := server.Options{
		Controllers:     p.controllers,
		Now:             time.Now,
		Log:             log,
		Version:         versionText(),
		Pprof:           flags.pprof,
		MaxBodyBytes:    flags.maxBodyBytes,
		MaxAnswerBytes:  flags.maxAnswerBytes,
		MaxInFlight:     flags.maxInFlight,
		MemoryBudget:    flags.memoryBudget(),
		Credentials:     credentials,
		DrainDelay:      flags.drainDelay,
		ShutdownTimeout: flags.shutdownTimeout,
	}
	if flags.record != "" {
		recorder, err := record.New(flags.record, log)
		if err != nil {
			return errors.Join(fmt.Errorf("--record: %w", err), hooks.Close(), health.Close())
		}
		defer recorder.Close()
		log.Info("recording: the files hold names, images and numbers of what is in the cluster; other strings are replaced", "folder", flags.record)
		options.Record = func(c metacontroller.Controller, hook metacontroller.HookName, now time.Time, request, answer []byte) {
			recorder.Record(record.Exchange{Controller: c, Hook: hook, Now: now, Request: request, Answer: answer})
		}
	}
	return server.New(options).Run(ctx, hooks, health)
}

// loadCRDs compiles all CRDs, so that no request has to wait for that: one after the other,
// because at the same time they leave more holes in the memory.
func loadCRDs(controllers []metacontroller.Controller) error {
	failures := make([]error, len(controllers))
	for i, controller := range controllers {
		failures[i] = controller.LoadCRD()
	}
	debug.FreeOSMemory() // what only compiling needed
	return errors.Join(failures...)
}

func newLogger(p *Program, flags *serveFlags) (*slog.Logger, error) {
	var level slog.Level
	if level.UnmarshalText([]byte(flags.logLevel)) != nil {
		return nil, Usagef("log-level %q is not supported: use debug, info, warn or error", flags.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch flags.logFormat {
	case "json":
		return slog.New(slog.NewJSONHandler(p.Err, options)), nil
	case "text":
		return slog.New(slog.NewTextHandler(p.Err, options)), nil
	default:
		return nil, Usagef("log-format %q is neither json nor text", flags.logFormat)
	}
}
