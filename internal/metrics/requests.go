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

// reasons returns all of them.
func reasons() []string {
	return []string{Busy, SlowBody, BadRequest, Unauthorized, Forbidden, NoSuchHook, LengthRequired, TooLarge, Late, ClientGone, Draining}
}

// Request is a request that has been answered.
type Request struct {
	// Code is the HTTP status.
	Code int
	// Duration is the time from the request's headers to the end of the response.
	Duration time.Duration
	// Received is the number of bytes read from the request's body, Sent the number of
	// bytes of the response's body.
	Received, Sent int64
	// Refused is the reason for which the request was refused, or empty.
	Refused string
	// Panicked is true if the hook panicked.
	Panicked bool
	// Answer is the hook's answer. It counts where the code is 200.
	Answer *metacontroller.Answer
}

type route struct {
	kind string
	hook metacontroller.HookName
}

// Route counts the requests for one hook of a kind. Its counters exist from the start, at
// zero, because rate() misses the first increase of a new series.
type Route struct {
	kind string

	metrics                  *Metrics
	codes                    map[int]prometheus.Counter
	duration, received, sent prometheus.Observer
	panics                   prometheus.Counter

	children      []prometheus.Counter // in the answers, by childCounts; none for customize
	statusChanges prometheus.Counter
}

func (m *Metrics) addRoutes(controllers []metacontroller.Controller) {
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: name, Help: help, Buckets: buckets,
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
		}, []string{"kind", "hook"})
		m.registry.MustRegister(vec)
		return vec
	}
	bytes := prometheus.ExponentialBuckets(1<<10, 4, 9) // to 64 MiB
	requests := m.counters("operetta_requests_total", "Requests for hooks that were answered, by kind, hook and HTTP status. Kind and hook are empty where the path is that of no hook.", "kind", "hook", "code")
	duration := histogram("operetta_request_duration_seconds", "Time from the headers of a request to the end of its answer, waiting included.",
		[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 4, 8})
	received := histogram("operetta_request_size_bytes", "Bytes of a request's body that were read.", bytes)
	sent := histogram("operetta_response_size_bytes", "Bytes of an answer's body.", bytes)
	panics := m.counters("operetta_panics_total", "Requests whose hook panicked. They were answered with 500, and the log has the stack.", "kind", "hook")
	answered := m.counters("operetta_answered_children_total", "Children in the answers: asked for, kept as they are, or withheld because another controller has an object of that name.", "kind", "hook", "as")
	changes := m.counters("operetta_children_changes_total", "Children that answers have had created, updated or removed, as far as the requests told what was there.", "kind", "hook", "change")
	statuses := m.counters("operetta_status_changes_total", "Answers with another status than the parent had in the request.", "kind", "hook")
	refused := m.counters("operetta_requests_refused_total", "Requests that were refused, by reason.", "reason")
	m.refused = map[string]prometheus.Counter{}
	for _, reason := range reasons() {
		m.refused[reason] = refused.WithLabelValues(reason)
	}
	add := func(of route, codes ...int) *Route {
		r := &Route{kind: of.kind, metrics: m, codes: map[int]prometheus.Counter{}}
		for _, code := range codes {
			r.codes[code] = requests.WithLabelValues(of.kind, string(of.hook), strconv.Itoa(code))
		}
		m.routes[of] = r
		return r
	}
	m.routes = map[route]*Route{}
	add(route{}, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusInternalServerError)
	for _, controller := range controllers {
		for _, hook := range controller.Hooks() {
			kind, name := controller.Name(), string(hook)
			r := add(route{kind, hook}, http.StatusOK, http.StatusBadRequest, http.StatusLengthRequired, http.StatusRequestEntityTooLarge,
				http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable)
			r.duration, r.received, r.sent = duration.WithLabelValues(kind, name), received.WithLabelValues(kind, name), sent.WithLabelValues(kind, name)
			r.panics = panics.WithLabelValues(kind, name)
			if hook == metacontroller.CustomizeHook {
				continue
			}
			for _, as := range []string{"asked", "kept", "withheld"} {
				r.children = append(r.children, answered.WithLabelValues(kind, name, as))
			}
			for _, change := range []string{"created", "updated", "removed"} {
				r.children = append(r.children, changes.WithLabelValues(kind, name, change))
			}
			r.statusChanges = statuses.WithLabelValues(kind, name)
		}
	}
}

// Route returns the counters of a hook, or with empty names those of paths that are of no hook.
func (m *Metrics) Route(kind string, hook metacontroller.HookName) *Route {
	return m.routes[route{kind, hook}]
}

// Count counts a request.
func (r *Route) Count(request Request) {
	if counter, known := r.codes[request.Code]; known {
		counter.Inc()
	}
	if request.Refused != "" {
		r.metrics.refused[request.Refused].Inc()
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
		r.statusChanges.Inc()
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
