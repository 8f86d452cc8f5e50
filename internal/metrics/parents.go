package metrics

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

const (
	// maxParents is the maximum number of remembered custom resources.
	maxParents = 50_000
	// rememberedFor is how long a custom resource counts after its last request.
	// Metacontroller resyncs each at least every 30 minutes.
	rememberedFor = 65 * time.Minute
	// sweepPause is the interval at which expired custom resources are removed.
	sweepPause = 10 * time.Second
	// otherReason is the label of every reason that no operator declares: myjob copies
	// reasons of the kubelet and of containers.
	otherReason = "Other"
)

// parents counts custom resources by their Ready condition and its reason, as of the last
// request about each.
type parents struct {
	*prometheus.GaugeVec

	now       func() time.Time
	most      int
	seed      maphash.Seed
	uncounted prometheus.Counter // answers about custom resources beyond most

	mu         sync.Mutex
	classes    map[class]prometheus.Gauge // all that may be counted; nil if it never was
	remembered map[uint64]parent          // by a hash of kind, name and UID: names can be long
	swept      time.Time
}

// class are the label values by which parents are counted.
type class struct{ kind, ready, reason string }

type parent struct {
	counted prometheus.Gauge
	seen    time.Time
}

func (m *Metrics) addParents(controllers []metacontroller.Controller, most int) {
	p := &parents{
		GaugeVec: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "operetta_parents", Help: "Custom resources by the status and the reason of their Ready condition, as this process has last answered for them.",
		}, []string{"kind", "ready", "reason"}),
		now: time.Now, most: most, seed: maphash.MakeSeed(),
		classes: map[class]prometheus.Gauge{}, remembered: map[uint64]parent{},
		uncounted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "operetta_parents_uncounted_total", Help: "Answers about custom resources that operetta_parents does not count, because it has as many others as it can.",
		}),
	}
	for _, controller := range controllers {
		for _, reason := range slices.Concat(operator.Reasons(), controller.Reasons, []string{otherReason}) {
			for _, ready := range []string{"True", "False", "Unknown"} {
				p.classes[class{controller.Name(), ready, reason}] = nil
			}
		}
	}
	m.parents = p
	m.gauge("operetta_parents_limit", "How many custom resources operetta_parents can count.", "", func() int64 { return int64(most) })
	m.registry.MustRegister(p, p.uncounted)
}

// note remembers the Ready condition in an answer, or forgets a finalized parent.
func (p *parents) note(kind string, answer *metacontroller.Answer) {
	key, now := p.keyOf(kind, &answer.Parent), p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	before, isKnown := p.remembered[key]
	counted := p.gaugeOf(class{kind, answer.Ready.Status, answer.Ready.Reason})
	switch {
	case answer.Finalized && isKnown:
		p.forget(key, before)
		return
	case answer.Finalized || counted == nil:
		return
	case isKnown:
		before.counted.Dec()
	case len(p.remembered) >= p.most:
		if p.sweep(now); len(p.remembered) >= p.most {
			p.uncounted.Inc()
			return
		}
	}
	counted.Inc()
	p.remembered[key] = parent{counted, now}
}

// gaugeOf returns nil for a Ready condition that is not counted.
func (p *parents) gaugeOf(c class) prometheus.Gauge {
	counted, isDeclared := p.classes[c]
	if !isDeclared {
		c.reason = otherReason
		counted, isDeclared = p.classes[c]
	}
	if counted == nil && isDeclared {
		counted = p.WithLabelValues(c.kind, c.ready, c.reason)
		p.classes[c] = counted
	}
	return counted
}

func (p *parents) keyOf(kind string, id *metacontroller.Identity) uint64 {
	var hash maphash.Hash
	hash.SetSeed(p.seed)
	for _, part := range [...]string{kind, id.Namespace, id.Name, string(id.UID)} {
		_, _ = hash.WriteString(part)
		_ = hash.WriteByte(0)
	}
	return hash.Sum64()
}

func (p *parents) forget(key uint64, is parent) {
	delete(p.remembered, key)
	is.counted.Dec()
}

// sweep forgets parents that had no request for rememberedFor.
func (p *parents) sweep(now time.Time) {
	if now.Sub(p.swept) < sweepPause {
		return
	}
	p.swept = now
	for key, is := range p.remembered {
		if now.Sub(is.seen) > rememberedFor {
			p.forget(key, is)
		}
	}
}

// Collect implements [prometheus.Collector].
func (p *parents) Collect(to chan<- prometheus.Metric) {
	p.mu.Lock()
	p.sweep(p.now())
	p.mu.Unlock()
	p.GaugeVec.Collect(to)
}
