// Package metrics are the server's metrics for Prometheus. Every label value comes from a
// fixed list in the program, so that users who write custom resources cannot create series.
package metrics

import (
	"cmp"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/operetta-dev/operetta/metacontroller"
)

const (
	// mostScrapes is the maximum number of scrapes that gather at once. Each holds some
	// 200 KB of text outside of the memory budget, until its client has read it.
	mostScrapes = 4
	// scrapeTimeout is the longest that one gathers: Prometheus gives up after 10 s.
	scrapeTimeout = 10 * time.Second
)

// Options are what [New] needs.
type Options struct {
	// Controllers are the operators whose requests are counted.
	Controllers []metacontroller.Controller
	// Version is the program's version, for operetta_build_info.
	Version string
	// Load returns the server's load. It is called once for each scrape.
	Load func() Load
	// Log takes errors of scrapes. Nil drops them.
	Log *slog.Logger
}

// Metrics counts requests, and answers scrapes. It has a registry of its own, because the
// default one has the metrics of Kubernetes' libraries.
type Metrics struct {
	registry *prometheus.Registry
	log      *slog.Logger
	routes   map[route]*counted
	unknown  *counted // requests whose path is not that of a hook
	refused  map[string]prometheus.Counter
	parents  *parents
}

// New returns metrics with the value zero.
func New(options Options) *Metrics {
	registry := prometheus.NewRegistry()
	m := &Metrics{registry: registry, log: cmp.Or(options.Log, slog.New(slog.DiscardHandler)), parents: newParents(options.Controllers)}
	m.register(options.Controllers)
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "operetta_build_info", Help: "Always 1: the version of the program, and of the Go that has built it.",
	}, []string{"version", "goversion"})
	info.WithLabelValues(options.Version, runtime.Version()).Set(1)
	registry.MustRegister(info, m.parents, loadCollector{options.Load},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Registry returns the registry of these metrics.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// Handler answers GET /metrics in the text format, OpenMetrics or Protocol Buffers. Only
// the last supports native histograms.
func (m *Metrics) Handler() http.Handler {
	gather := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: mostScrapes,
		EnableOpenMetrics:   true,
		ErrorLog:            slog.NewLogLogger(m.log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
	})
	// It keeps the text until the other handler has returned: a client that reads slowly does
	// not take the place of one that is gathered for.
	return http.TimeoutHandler(gather, scrapeTimeout, "gathering the metrics took too long\n")
}
