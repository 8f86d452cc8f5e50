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
	"k8s.io/apimachinery/pkg/api/resource"

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
	maxBodyBytes, maxAnswerBytes  resource.QuantityValue
	maxInFlight                   int
	drainDelay, shutdownTimeout   time.Duration
	credentials                   server.CredentialFiles
	choose                        func() error // the operators
}

func newServeCommand(p *Program) *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:     "serve",
		GroupID: runGroup,
		Short:   "Answer Metacontroller's hooks over HTTP",
		Long: `Serve answers the hooks of all operators, or of those in --kinds, and serves health
checks and metrics on a second port.

SIGTERM and SIGINT end it in three steps: readiness fails, after --drain-delay
new requests are refused, and when those in flight have been answered it exits
with 0. A second signal ends it at once.`,
		Args: Exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, log, err := flags.read(cmd, p)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), p, &flags, log)
		},
	}
	flags.add(cmd, p)
	return cmd
}

// add adds the flags to a command.
func (f *serveFlags) add(cmd *cobra.Command, p *Program) {
	f.choose = AddKinds(cmd, p)
	set := cmd.Flags()
	set.StringVar(&f.listen, "listen", ":8080", "address to answer hooks on")
	set.StringVar(&f.metricsListen, "metrics-listen", ":9090", "address of /healthz, /readyz and /metrics")
	set.StringVar(&f.config, "config", "", "YAML file with these flags' names as keys, and the policies of operators below policy; the command line wins; see operetta config")
	f.maxBodyBytes = bytesOf(server.DefaultMaxBodyBytes)
	set.Var(&f.maxBodyBytes, "max-body-bytes",
		"size of the largest request body, at most a fifth of the memory limit of the container, or 30% of GOMEMLIMIT; a larger one is refused with 413")
	f.maxAnswerBytes = bytesOf(metacontroller.DefaultMaxAnswerBytes)
	set.Var(&f.maxAnswerBytes, "max-answer-bytes", "size of the largest answer; a hook that would give a larger one answers 500")
	set.IntVar(&f.maxInFlight, "max-in-flight", server.DefaultMaxInFlight(), "hooks that run at once; the others wait, and get 429 after too long")
	set.DurationVar(&f.drainDelay, "drain-delay", server.DefaultDrainDelay, "time from failing readiness to refusing requests, after SIGTERM")
	set.DurationVar(&f.shutdownTimeout, "shutdown-timeout", server.DefaultShutdownTimeout, "longest time for requests in flight to finish after that")
	files := &f.credentials
	set.StringVar(&files.Certificate, "tls-cert-file", "", "certificate to serve hooks with over TLS 1.2 or later, in PEM, with those that have signed it behind it; read again when it changes, as are the files below")
	set.StringVar(&files.PrivateKey, "tls-private-key-file", "", "private key of --tls-cert-file, in PEM")
	set.StringVar(&files.ClientCA, "client-ca-file", "", "certificates of those who sign the certificates of callers, in PEM; nobody else can connect")
	set.StringSliceVar(&files.ClientNames, "client-names", nil, "names, separated by commas, of which one has to stand in a caller's certificate, as its common name, a DNS name or a URI; a caller without is answered with 403 (default any that --client-ca-file has signed)")
	set.StringVar(&files.Tokens, "token-file", "", "file with a bearer token on each line, any of which a caller may send; a request with none of them is answered with 401")
	set.StringVar(&f.record, "record", "", "folder to write each distinct request and its answer to, for operetta replay; strings that are not known to be harmless are replaced")
	set.StringVar(&f.logLevel, "log-level", "info", "least level to log: debug, info, warn or error; an answer that changes nothing is logged at debug")
	set.StringVar(&f.logFormat, "log-format", "json", "form of the log: json or text")
	set.BoolVar(&f.pprof, "pprof", false, "serve profiles of the process below /debug/pprof/ on the port of the metrics")
}

func bytesOf(n int64) resource.QuantityValue {
	return resource.QuantityValue{Quantity: *resource.NewQuantity(n, resource.BinarySI)}
}

// read sets flags, the operators and their policies from the file of --config, and returns it with
// the log. It refuses what is out of range.
func (f *serveFlags) read(cmd *cobra.Command, p *Program) (*configuration, *slog.Logger, error) {
	c, err := readConfiguration(f.config)
	if err == nil {
		err = c.setFlags(cmd)
	}
	if err == nil {
		err = f.choose()
	}
	if err == nil {
		err = c.configure(p)
	}
	if err == nil {
		err = f.check(cmd)
	}
	if err != nil {
		return nil, nil, err
	}
	log, err := newLogger(p, f)
	return c, log, err
}

// check refuses what is out of range, and limits the memory of the process.
func (f *serveFlags) check(cmd *cobra.Command) error {
	const mostBytes, mostSlots, longest = 1 << 40, 1024, time.Hour
	server.LimitMemory()
	most := server.LargestBody(f.memoryBudget())
	body, _ := f.maxBodyBytes.AsInt64() // 0 where it is no number of bytes
	answer, _ := f.maxAnswerBytes.AsInt64()
	switch {
	case body < 1 || body > mostBytes:
		return Usagef("--max-body-bytes %s: write a size like 240Mi, from 1 to 1Ti", &f.maxBodyBytes)
	case answer < 1<<10 || answer > mostBytes:
		return Usagef("--max-answer-bytes %s: write a size like 64Mi, from 1Ki to 1Ti", &f.maxAnswerBytes)
	case f.maxInFlight < 1 || f.maxInFlight > mostSlots:
		return Usagef("--max-in-flight %d: write a number from 1 to %d", f.maxInFlight, mostSlots)
	case f.drainDelay < 0 || f.drainDelay > longest:
		return Usagef("--drain-delay %s: write a time like 5s, from 0s to %s", f.drainDelay, longest)
	case f.shutdownTimeout < time.Millisecond || f.shutdownTimeout > longest:
		return Usagef("--shutdown-timeout %s: write a time like 20s, from 1ms to %s", f.shutdownTimeout, longest)
	case cmd.Flags().Changed("max-body-bytes") && body > most:
		limit := bytesOf(most)
		return Usagef("--max-body-bytes %s is more than half of the memory for requests, which is 45%% of the memory limit of the container, or 60%% of GOMEMLIMIT: write at most %s, or raise that",
			&f.maxBodyBytes, &limit)
	}
	return nil
}

// memoryBudget returns what all requests together may hold.
func (f *serveFlags) memoryBudget() int64 {
	budget := server.DefaultMemoryBudget()
	if f.record != "" {
		budget = max(budget-record.MostMemory, record.MostMemory)
	}
	return budget
}

func serve(ctx context.Context, p *Program, flags *serveFlags, log *slog.Logger) error {
	credentials, err := server.LoadCredentials(flags.credentials, log)
	if err != nil {
		return usageError{err} // for there is nothing to serve without them
	}
	if flags.credentials.Tokens != "" && flags.credentials.Certificate == "" {
		log.Warn("tokens are sent in plain text, which anyone on the way can read: write --tls-cert-file, unless something else encrypts")
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
		MaxBodyBytes:    flags.maxBodyBytes.Value(),
		MaxAnswerBytes:  flags.maxAnswerBytes.Value(),
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
