// Package tracing sends the spans of requests to an OpenTelemetry collector, as
// the OTEL_* variables of the environment say. Without them there is nothing of it.
package tracing

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/operetta-dev/operetta/internal/printable"
)

// serviceName is the service.name where the environment has no other.
const serviceName = "operetta"

// Exporter sends spans. They wait in a queue of 2048, or OTEL_BSP_MAX_QUEUE_SIZE, and
// are dropped while it is full: ending a span never waits for the collector.
type Exporter struct {
	provider *sdktrace.TracerProvider
	log      *slog.Logger
	version  string
}

// FromEnvironment returns the exporter that the environment asks for, or nil where
// it asks for none. A setting that is not supported is logged and turns tracing
// off: a server without traces is better than none. It sets the error handler and
// the logger of the OpenTelemetry library, which are those of the process.
func FromEnvironment(ctx context.Context, log *slog.Logger, version string) *Exporter {
	isWanted, err := wanted()
	if err != nil {
		log.Warn("requests are not traced", "error", err.Error())
	}
	if !isWanted {
		return nil
	}
	failures := &failures{log: log, now: time.Now}
	otel.SetErrorHandler(failures)
	otel.SetLogger(logr.FromSlogHandler(withoutValues{log.Handler()}))
	sender, err := otlptracehttp.New(ctx)
	if err != nil {
		log.Warn("requests are not traced", "error", printable.Line(err.Error(), mostError))
		return nil
	}
	// What is later wins. An error is about a part of the environment, and the rest counts.
	about, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", serviceName), attribute.String("service.version", version)),
		resource.WithFromEnv())
	if err != nil {
		failures.Handle(err)
	}
	log.Info("requests are traced")
	return &Exporter{sdktrace.NewTracerProvider(sdktrace.WithBatcher(sender), sdktrace.WithResource(about)), log, version}
}

// wanted reports whether the environment asks for spans to be exported. By the
// specification of OpenTelemetry they are exported to localhost unless it says
// otherwise; here a collector has to be named, or the exporter.
func wanted() (bool, error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	first := func(names ...string) (name, value string) {
		for _, name := range names {
			if value := strings.TrimSpace(os.Getenv(name)); value != "" {
				return name, value
			}
		}
		return "", ""
	}
	switch _, exporter := first("OTEL_TRACES_EXPORTER"); exporter {
	case "none":
		return false, nil
	case "":
		if _, endpoint := first("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"); endpoint == "" {
			return false, nil
		}
	case "otlp":
	default:
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER %q is not supported: use otlp or none", printable.Line(exporter, mostError))
	}
	name, protocol := first("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
	if protocol != "" && protocol != "http/protobuf" {
		return false, fmt.Errorf("%s %q is not supported: use http/protobuf, which collectors take on port 4318", name, printable.Line(protocol, mostError))
	}
	return true, nil
}

// withoutValues passes on what the OpenTelemetry library logs without the values: it quotes
// what it cannot read in the environment, and a header or a URL can have a credential.
type withoutValues struct{ slog.Handler }

// Handle logs the message alone.
func (h withoutValues) Handle(ctx context.Context, said slog.Record) error {
	message := "OpenTelemetry: " + said.Message
	if said.Level >= slog.LevelError {
		message += ": correct the variables OTEL_EXPORTER_OTLP_..., of which it does not use this one"
	}
	return h.Handler.Handle(ctx, slog.NewRecord(said.Time, said.Level, message, said.PC))
}

// WithAttrs leaves the attributes out.
func (h withoutValues) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup leaves the group out.
func (h withoutValues) WithGroup(string) slog.Handler { return h }

// Tracer returns what makes spans, or nil for no exporter.
func (e *Exporter) Tracer() trace.Tracer {
	if e == nil {
		return nil
	}
	return e.provider.Tracer("github.com/operetta-dev/operetta", trace.WithInstrumentationVersion(e.version))
}

// Shutdown sends what is in the queue, until ctx ends. Spans that end later are
// dropped.
func (e *Exporter) Shutdown(ctx context.Context) {
	if e == nil {
		return
	}
	if err := e.provider.Shutdown(ctx); err != nil {
		e.log.Warn("the last spans were not sent", "error", printable.Line(err.Error(), mostError))
	}
}

const (
	// mostError is the length in bytes of an error in the log: a collector may answer anything.
	mostError = 500
	// logEvery is how often errors are logged at most.
	logEvery = time.Minute
)

// failures logs that spans were not sent, once in a while.
type failures struct {
	log    *slog.Logger
	now    func() time.Time
	mu     sync.Mutex
	logged time.Time
	count  int // since then
}

// Handle implements [otel.ErrorHandler].
func (f *failures) Handle(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if now := f.now(); f.logged.IsZero() || now.Sub(f.logged) >= logEvery {
		f.log.Warn("traces cannot be sent", "error", printable.Line(err.Error(), mostError), "failures", f.count)
		f.logged, f.count = now, 0
	}
}
