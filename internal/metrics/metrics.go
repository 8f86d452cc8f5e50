// Package metrics are the server's metrics for Prometheus. Every label value comes from a
// fixed list in the program, so that users who write custom resources cannot create series.
package metrics

import (
	"log/slog"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/operetta-dev/operetta/metacontroller"
)

// maxScrapes is the maximum number of scrapes at once. Each holds some 200 KB.
const maxScrapes = 4

// Options are what [New] needs.
type Options struct {
	// Controllers are the operators whose requests are counted.
	Controllers []metacontroller.Controller
	// Version is the program's version, for operetta_build_info.
	Version string
	// Load is the server's load, read at each scrape.
	Load Load
	// Log takes errors of scrapes.
	Log *slog.Logger
}

// Metrics counts requests and answers scrapes. It has its own registry, because the
// default one has the metrics of Kubernetes' libraries.
type Metrics struct {
	registry *prometheus.Registry
	log      *slog.Logger
	requests requests
	parents  *parents
}

// New returns metrics with the value zero.
func New(options Options) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), log: options.Log}
	m.addRequests()
	m.addLoad(options.Load)
	m.addParents(options.Controllers, maxParents)
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "operetta_build_info", Help: "Always 1: the versions of program and Go.",
	}, []string{"version", "goversion"})
	info.WithLabelValues(options.Version, runtime.Version()).Set(1)
	m.registry.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Registry returns the registry of these metrics.
func (m *Metrics) Registry() *prometheus.Registry { return m.registry }

// Handler answers GET /metrics in the text format, OpenMetrics or Protocol Buffers. Only
// the last supports native histograms.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes,
		EnableOpenMetrics:   true,
		ErrorLog:            slog.NewLogLogger(m.log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
	})
}

// gauge adds one that is read at each scrape, with the label part unless that is empty.
func (m *Metrics) gauge(name, help, part string, value func() int64) {
	options := prometheus.GaugeOpts{Name: name, Help: help}
	if part != "" {
		options.ConstLabels = prometheus.Labels{"part": part}
	}
	m.registry.MustRegister(prometheus.NewGaugeFunc(options, func() float64 { return float64(value()) }))
}
