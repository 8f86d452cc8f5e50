package metrics

import (
	"cmp"
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
	// otherReason is the label of every reason that no operator declares: myjob copies
	// reasons of the kubelet and of containers.
	otherReason = "Other"
)

// parents counts custom resources by their Ready condition and its reason, as of the last
// request about each. It implements [prometheus.Collector].
type parents struct {
	description *prometheus.Desc
	selecting   *prometheus.Desc
	now         func() time.Time
	most        int
	seed        maphash.Seed
	uncounted   prometheus.Counter // answers about custom resources beyond most

	mu         sync.Mutex
	counts     map[class]*count  // all that may be counted
	remembered map[uint64]parent // by a hash of kind, name and UID: names can be long
}

// class are the label values by which parents are counted.
type class struct{ kind, ready, reason string }

// count is how many parents a class has had at the last scrape. One that was never used is not told.
type count struct {
	parents   int
	selecting int // those whose last request had related objects
	isUsed    bool
}

type parent struct {
	of         *count
	hasRelated bool
	seen       time.Time
}

func (m *Metrics) addParents(controllers []metacontroller.Controller, most int) {
	p := &parents{
		description: prometheus.NewDesc("operetta_parents", "Custom resources by status and reason of the Ready condition that this process answered last.",
			[]string{"kind", "ready", "reason"}, nil),
		selecting: prometheus.NewDesc("operetta_parents_selecting", "Custom resources whose last request to this process had related objects: Metacontroller compares each change of such an object with all of them.",
			[]string{"kind"}, nil),
		now: time.Now, most: most, seed: maphash.MakeSeed(),
		counts: map[class]*count{}, remembered: map[uint64]parent{},
		uncounted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "operetta_parents_uncounted_total", Help: "Answers about custom resources beyond operetta_parents_limit.",
		}),
	}
	for _, controller := range controllers {
		for _, reason := range slices.Concat(operator.Reasons(), controller.Reasons, []string{otherReason}) {
			for _, ready := range []string{"True", "False", "Unknown"} {
				p.counts[class{controller.Name(), ready, reason}] = &count{}
			}
		}
	}
	m.parents = p
	m.gauge("operetta_parents_limit", "How many custom resources operetta_parents can count.", "", func() int64 { return int64(most) })
	m.registry.MustRegister(p, p.uncounted)
}

// note remembers the Ready condition in an answer, or forgets a finalized parent.
func (p *parents) note(kind string, answer *metacontroller.Answer) {
	key, ready := p.keyOf(kind, &answer.Parent), answer.Ready
	of := cmp.Or(p.counts[class{kind, ready.Status, ready.Reason}], p.counts[class{kind, ready.Status, otherReason}])
	p.mu.Lock()
	defer p.mu.Unlock()
	_, isKnown := p.remembered[key]
	switch {
	case answer.Finalized:
		delete(p.remembered, key)
	case of == nil: // there is no such status
	case !isKnown && len(p.remembered) >= p.most:
		p.uncounted.Inc()
	default:
		of.isUsed = true
		p.remembered[key] = parent{of, answer.HasRelated, p.now()}
	}
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

// Describe implements [prometheus.Collector].
func (p *parents) Describe(to chan<- *prometheus.Desc) {
	to <- p.description
	to <- p.selecting
}

// Collect implements [prometheus.Collector]. It forgets parents that had no request for rememberedFor.
func (p *parents) Collect(to chan<- prometheus.Metric) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, of := range p.counts {
		of.parents, of.selecting = 0, 0
	}
	now := p.now()
	for key, is := range p.remembered {
		if now.Sub(is.seen) > rememberedFor {
			delete(p.remembered, key)
			continue
		}
		is.of.parents++
		if is.hasRelated {
			is.of.selecting++
		}
	}
	selecting := map[string]int{}
	for c, of := range p.counts {
		if of.isUsed {
			selecting[c.kind] += of.selecting
			to <- prometheus.MustNewConstMetric(p.description, prometheus.GaugeValue, float64(of.parents), c.kind, c.ready, c.reason)
		}
	}
	for kind, number := range selecting {
		to <- prometheus.MustNewConstMetric(p.selecting, prometheus.GaugeValue, float64(number), kind)
	}
}
