package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/operetta-dev/operetta/metacontroller"
)

// The values of the label reason of refused requests.
const (
	Busy           = "busy"            // 429: there was no memory or no slot in time
	SlowBody       = "slow_body"       // 429: the body did not arrive in time
	BadRequest     = "bad_request"     // 400
	Unauthorized   = "unauthorized"    // 401
	Forbidden      = "forbidden"       // 403
	NoSuchHook     = "no_such_hook"    // 404 and 405
	LengthRequired = "length_required" // 411
	TooLarge       = "too_large"       // 413
	Late           = "late"            // 500: no answer was computed in time
	ClientGone     = "client_gone"     // 503: the client has hung up
	Draining       = "draining"        // 503
)

func reasons() []string {
	return []string{Busy, SlowBody, BadRequest, Unauthorized, Forbidden, NoSuchHook, LengthRequired, TooLarge, Late, ClientGone, Draining}
}

// Request is a request that has been answered.
type Request struct {
	// Code is the HTTP status, and Refused the reason of a refusal.
	Code    int
	Refused string
	// Duration is the time from the request's headers to the end of the response.
	Duration time.Duration
	// Received and Sent are the bytes of the bodies.
	Received, Sent int64
	// Panicked is true if the hook panicked.
	Panicked bool
	// Answer is the hook's answer. It counts where the code is 200.
	Answer *metacontroller.Answer
}

// requests are the metrics of requests.
type requests struct {
	byCode, refused, panics, answered, changes, statuses *prometheus.CounterVec
	duration, received, sent                             *prometheus.HistogramVec
}

func (m *Metrics) addRequests() {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.registry.MustRegister(vec)
		return vec
	}
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: help, Buckets: buckets,
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
		}, []string{"kind", "hook"})
		m.registry.MustRegister(vec)
		return vec
	}
	bytes := prometheus.ExponentialBuckets(1<<10, 4, 9) // to 64 MiB
	m.requests = requests{
		byCode:   counter("operetta_requests_total", "Requests for hooks, by HTTP status. Kind and hook are empty for any other path.", "kind", "hook", "code"),
		refused:  counter("operetta_requests_refused_total", "Requests that were refused, by reason.", "reason"),
		panics:   counter("operetta_panics_total", "Requests whose hook panicked: code 500, and a stack in the log.", "kind", "hook"),
		answered: counter("operetta_answered_children_total", "Children in answers: desired, kept as they are, or withheld because another controller owns the name.", "kind", "hook", "as"),
		changes:  counter("operetta_children_changes_total", "Children that answers created, updated or removed, as the requests show.", "kind", "hook", "change"),
		statuses: counter("operetta_status_changes_total", "Answers with another status than the request.", "kind", "hook"),
		duration: histogram("operetta_request_duration_seconds", "Time from the headers of a request to the end of its answer, waiting included.",
			[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 4, 8}),
		received: histogram("operetta_request_size_bytes", "Bytes of a request's body that were read.", bytes),
		sent:     histogram("operetta_response_size_bytes", "Bytes of an answer's body.", bytes),
	}
	for _, reason := range reasons() {
		m.requests.refused.WithLabelValues(reason)
	}
}

// Route counts the requests for one hook of a kind.
type Route struct {
	metrics                  *Metrics
	kind                     string
	codes                    map[int]prometheus.Counter
	duration, received, sent prometheus.Observer // nil without a kind
	panics, statuses         prometheus.Counter
	children                 []prometheus.Counter // in the answers, by childCounts; none for customize
}

// Route returns the counters of a hook of a kind, or with both empty those of other paths. They
// exist from then on, at zero, because rate() misses the first increase of a new series.
func (m *Metrics) Route(kind string, hook metacontroller.HookName) *Route {
	r := &Route{metrics: m, kind: kind, codes: map[int]prometheus.Counter{}}
	codes := []int{http.StatusOK, http.StatusBadRequest, http.StatusLengthRequired, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusServiceUnavailable}
	if kind == "" {
		codes = []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusInternalServerError}
	}
	for _, code := range codes {
		r.codes[code] = m.requests.byCode.WithLabelValues(kind, string(hook), strconv.Itoa(code))
	}
	if kind == "" {
		return r
	}
	labels := []string{kind, string(hook)}
	r.duration, r.received, r.sent = m.requests.duration.WithLabelValues(labels...), m.requests.received.WithLabelValues(labels...), m.requests.sent.WithLabelValues(labels...)
	r.panics = m.requests.panics.WithLabelValues(labels...)
	if hook == metacontroller.CustomizeHook {
		return r
	}
	r.statuses = m.requests.statuses.WithLabelValues(labels...)
	for _, as := range []string{"asked", "kept", "withheld"} {
		r.children = append(r.children, m.requests.answered.WithLabelValues(kind, string(hook), as))
	}
	for _, change := range []string{"created", "updated", "removed"} {
		r.children = append(r.children, m.requests.changes.WithLabelValues(kind, string(hook), change))
	}
	return r
}

// Count counts a request.
func (r *Route) Count(request Request) {
	if counter, known := r.codes[request.Code]; known {
		counter.Inc()
	}
	if request.Refused != "" {
		r.metrics.requests.refused.WithLabelValues(request.Refused).Inc()
	}
	if r.duration == nil {
		return
	}
	r.duration.Observe(request.Duration.Seconds())
	r.received.Observe(float64(request.Received))
	r.sent.Observe(float64(request.Sent))
	if request.Panicked {
		r.panics.Inc()
	}
	if request.Code != http.StatusOK || r.children == nil {
		return
	}
	for i, count := range childCounts(request.Answer) {
		r.children[i].Add(float64(count))
	}
	if request.Answer.Changes.Status {
		r.statuses.Inc()
	}
	r.metrics.parents.note(r.kind, request.Answer)
}

// childCounts returns how many children an answer asks for, keeps, withholds, creates, updates
// and removes.
func childCounts(answer *metacontroller.Answer) [6]int {
	kept := 0
	for i := range answer.Children {
		if answer.Children[i].Kept {
			kept++
		}
	}
	c := answer.Changes
	return [...]int{len(answer.Children) - kept, kept, c.Withheld, c.Created, c.Updated, c.Removed}
}
