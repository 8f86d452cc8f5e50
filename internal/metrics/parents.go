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
	// mostParents is the maximum number of remembered custom resources, at some 40
	// bytes each. They are outside of the memory budget, and users can create any number.
	mostParents = 50_000
	// rememberedFor is how long a custom resource is counted after its last request.
	// Metacontroller resyncs each at least every 30 minutes.
	rememberedFor = 65 * time.Minute
	// sweepPause is the interval at which expired custom resources are removed.
	sweepPause = 10 * time.Second
	// otherReason is the label of every reason that is not written by this program: myjob
	// copies reasons of the kubelet and of containers.
	otherReason = "Other"
)

// parents counts custom resources by their Ready condition and its reason, as of the last
// request about each in this process.
type parents struct {
	seed    maphash.Seed
	now     func() time.Time
	most    int
	started time.Time
	classes map[class]uint16 // all label values that are possible

	mu         sync.Mutex
	remembered map[uint64]parent // by a hash of kind and UID, because names can be long
	counts     []int             // by class; -1 if it was never counted
	swept      time.Time
	uncounted  int // answers about custom resources beyond mostParents
}

// class are the label values by which parents are counted.
type class struct{ kind, ready, reason string }

type parent struct {
	class uint16
	seen  uint32 // when it was last seen, in seconds since the start
}

func newParents(controllers []metacontroller.Controller) *parents {
	p := &parents{
		seed: maphash.MakeSeed(), now: time.Now, most: mostParents, started: time.Now(),
		classes: map[class]uint16{}, remembered: map[uint64]parent{},
	}
	for _, controller := range controllers {
		for _, reason := range slices.Concat(operator.Reasons(), controller.Reasons, []string{otherReason}) {
			for _, ready := range []string{"True", "False", "Unknown"} {
				c := class{controller.Name(), ready, reason}
				if _, twice := p.classes[c]; !twice {
					p.classes[c] = uint16(len(p.classes))
					p.counts = append(p.counts, -1)
				}
			}
		}
	}
	return p
}

// note remembers the Ready condition in an answer, or removes a finalized parent.
func (p *parents) note(kind string, answer *metacontroller.Answer) {
	key := p.keyOf(kind, answer.Parent)
	now := p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	before, isKnown := p.remembered[key]
	ready := answer.Ready
	if answer.Finalized || ready.Status == "" {
		if isKnown && answer.Finalized {
			p.forget(key, before)
		}
		return
	}
	is, found := p.classes[class{kind, ready.Status, ready.Reason}]
	if !found {
		if is, found = p.classes[class{kind, ready.Status, otherReason}]; !found {
			return
		}
	}
	if !isKnown && len(p.remembered) >= p.most {
		if p.sweep(now); len(p.remembered) >= p.most {
			p.uncounted++
			return
		}
	}
	if isKnown {
		p.counts[before.class]--
	}
	p.counts[is] = max(p.counts[is], 0) + 1
	p.remembered[key] = parent{is, p.age(now)}
}

// keyOf returns a hash that identifies a parent, so that no name is kept.
func (p *parents) keyOf(kind string, id metacontroller.Identity) uint64 {
	var hash maphash.Hash
	hash.SetSeed(p.seed)
	for _, part := range [...]string{kind, id.Namespace, id.Name, string(id.UID)} {
		_, _ = hash.WriteString(part)
		_ = hash.WriteByte(0)
	}
	return hash.Sum64()
}

func (p *parents) age(now time.Time) uint32 { return uint32(now.Sub(p.started) / time.Second) }

func (p *parents) forget(key uint64, is parent) {
	delete(p.remembered, key)
	p.counts[is.class]--
}

// sweep removes parents that had no request for rememberedFor.
func (p *parents) sweep(now time.Time) {
	if now.Sub(p.swept) < sweepPause {
		return
	}
	p.swept = now
	age, most := p.age(now), uint32(rememberedFor/time.Second)
	for key, is := range p.remembered {
		if age > is.seen+most {
			p.forget(key, is)
		}
	}
}

var (
	parentsNow       = gauge("operetta_parents", "Custom resources by the status and the reason of their Ready condition, as this process has last answered for them.", "kind", "ready", "reason")
	parentsLimit     = gauge("operetta_parents_limit", "How many custom resources operetta_parents can count.")
	parentsUncounted = gauge("operetta_parents_uncounted_total", "Answers about custom resources that operetta_parents does not count, because it has as many others as it can.")
)

// Describe implements [prometheus.Collector].
func (p *parents) Describe(to chan<- *prometheus.Desc) {
	to <- parentsNow
	to <- parentsLimit
	to <- parentsUncounted
}

// Collect implements [prometheus.Collector]. A series that was counted once stays, at zero.
func (p *parents) Collect(to chan<- prometheus.Metric) {
	p.mu.Lock()
	p.sweep(p.now())
	counts, uncounted := slices.Clone(p.counts), p.uncounted
	p.mu.Unlock()
	for c, i := range p.classes {
		if counts[i] >= 0 {
			to <- prometheus.MustNewConstMetric(parentsNow, prometheus.GaugeValue, float64(counts[i]), c.kind, c.ready, c.reason)
		}
	}
	to <- prometheus.MustNewConstMetric(parentsLimit, prometheus.GaugeValue, float64(p.most))
	to <- prometheus.MustNewConstMetric(parentsUncounted, prometheus.CounterValue, float64(uncounted))
}
