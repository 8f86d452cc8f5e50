// Package metrics is what the server tells Prometheus about itself. Every label value is
// one that the program knows: whoever writes a custom resource can choose how often
// something is counted, and never what it is counted as.
package metrics

import (
	"cmp"
	"log/slog"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/operetta-dev/operetta/metacontroller"
)

// mostScrapes is how many scrapes are answered at once. Each holds its text, some
// 200 KB, outside of the memory budget.
const mostScrapes = 4

// Options are what [New] needs.
type Options struct {
	// Controllers are the operators whose requests are counted.
	Controllers []metacontroller.Controller
	// Version is that of the program, for operetta_build_info.
	Version string
	// Load returns how busy the server is. It is called once for each scrape.
	Load func() Load
	// Log takes errors of scrapes. Nil drops them.
	Log *slog.Logger
}

// Metrics counts requests, and answers scrapes. It has a registry of its own: the
// default one holds what the libraries of Kubernetes count.
type Metrics struct {
	registry *prometheus.Registry
	log      *slog.Logger
	routes   map[route]*counted
	unknown  *counted // requests that are for no hook
	refused  map[string]prometheus.Counter
	parents  *parents
}

// New returns metrics that are all zero.
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

// Registry returns what has been counted.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// Handler answers GET /metrics: in the text format, in OpenMetrics, or in Protocol
// Buffers, which alone have native histograms.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: mostScrapes,
		EnableOpenMetrics:   true,
		ErrorLog:            slog.NewLogLogger(m.log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
	})
}
