package main

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/server"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, metricsListen, config string
	logLevel, logFormat           string
	maxBodyBytes                  int64
	maxInFlight                   int
	drainDelay, shutdownTimeout   time.Duration
}

func newServeCommand(p *program) *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer Metacontroller's hooks over HTTP",
		Args:  exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := readConfig(cmd, flags.config); err != nil {
				return err
			}
			return serve(cmd, p, &flags)
		},
	}
	set := cmd.Flags()
	set.StringVar(&flags.listen, "listen", ":8080", "address to answer hooks on")
	set.StringVar(&flags.metricsListen, "metrics-listen", ":9090", "address of /healthz and /readyz")
	set.StringVar(&flags.config, "config", "", "YAML file with these flags' names as keys; the command line wins")
	set.Int64Var(&flags.maxBodyBytes, "max-body-bytes", server.DefaultMaxBodyBytes, "size of a request body from which on it is refused with 413")
	set.IntVar(&flags.maxInFlight, "max-in-flight", server.DefaultMaxInFlight, "requests that are worked on at once; more are told to come back with 429")
	set.DurationVar(&flags.drainDelay, "drain-delay", server.DefaultDrainDelay, "time from failing readiness to refusing requests, after SIGTERM")
	set.DurationVar(&flags.shutdownTimeout, "shutdown-timeout", server.DefaultShutdownTimeout, "longest time for requests in flight to finish after that")
	set.StringVar(&flags.logLevel, "log-level", "info", "least level to log: debug, info, warn or error")
	set.StringVar(&flags.logFormat, "log-format", "json", "form of the log: json or text")
	return cmd
}

func serve(cmd *cobra.Command, p *program, flags *serveFlags) error {
	log, err := newLogger(p, flags)
	if err != nil {
		return err
	}
	if flags.maxBodyBytes < 1 || flags.maxInFlight < 1 {
		return usagef("max-body-bytes and max-in-flight must be at least 1")
	}
	hooks, err := net.Listen("tcp", flags.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	health, err := net.Listen("tcp", flags.metricsListen)
	if err != nil {
		_ = hooks.Close()
		return fmt.Errorf("--metrics-listen: %w", err)
	}
	return server.New(server.Options{
		Controllers:     p.controllers,
		Now:             time.Now,
		Log:             log,
		MaxBodyBytes:    flags.maxBodyBytes,
		MaxInFlight:     flags.maxInFlight,
		DrainDelay:      flags.drainDelay,
		ShutdownTimeout: flags.shutdownTimeout,
	}).Run(cmd.Context(), hooks, health)
}

func newLogger(p *program, flags *serveFlags) (*slog.Logger, error) {
	var level slog.Level
	if level.UnmarshalText([]byte(flags.logLevel)) != nil {
		return nil, usagef("log-level %q is none of debug, info, warn and error", flags.logLevel)
	}
	options := &slog.HandlerOptions{Level: level}
	switch flags.logFormat {
	case "json":
		return slog.New(slog.NewJSONHandler(p.err, options)), nil
	case "text":
		return slog.New(slog.NewTextHandler(p.err, options)), nil
	default:
		return nil, usagef("log-format %q is neither json nor text", flags.logFormat)
	}
}

// readConfig sets the flags that stand in a file and not on the command line.
func readConfig(cmd *cobra.Command, path string) error {
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("--config: %w", err)
	}
	var settings map[string]any
	if err := yaml.Unmarshal(text, &settings); err != nil {
		return fmt.Errorf("--config: %s: %w", path, err)
	}
	names := make([]string, 0, len(settings))
	for name := range settings {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		flag := cmd.Flags().Lookup(name)
		if flag == nil || name == "config" || name == "help" {
			return fmt.Errorf("--config: %s: there is no setting %q", path, name)
		}
		if flag.Changed {
			continue
		}
		if err := cmd.Flags().Set(name, settingText(settings[name])); err != nil {
			return fmt.Errorf("--config: %s: %s: %w", path, name, err)
		}
	}
	return nil
}

// settingText returns a setting as it would stand on the command line. YAML
// reads every number as a floating one.
func settingText(value any) string {
	if number, ok := value.(float64); ok {
		return fmt.Sprintf("%.0f", number)
	}
	return fmt.Sprint(value)
}
