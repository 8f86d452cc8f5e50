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
	Busy         = "busy"         // 429: there was no memory or no slot in time
	SlowBody     = "slow_body"    // 429: the body did not arrive in time
	BadRequest   = "bad_request"  // 400
	Unauthorized = "unauthorized" // 401
	Forbidden    = "forbidden"    // 403
	NoSuchHook   = "no_such_hook" // 404 and 405
	TooLarge     = "too_large"    // 413
	TooMuch      = "too_much"     // 500: more memory than one request may take
	Late         = "late"         // 500: no answer was computed in time
	ClientGone   = "client_gone"  // 503: the client has hung up
	Draining     = "draining"     // 503
)

// reasons returns all of them.
func reasons() []string {
	return []string{Busy, SlowBody, BadRequest, Unauthorized, Forbidden, NoSuchHook, TooLarge, TooMuch, Late, ClientGone, Draining}
}

// codes are the status codes that the server sends. Their counters exist from the start,
// at zero, because rate() misses the first increase of a new series.
func codes() []int {
	return []int{
		http.StatusOK, http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusRequestEntityTooLarge,
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
}

// Request is a request that has been answered.
type Request struct {
	// Kind and Hook are empty if the path is not that of a hook.
	Kind string
	Hook metacontroller.HookName
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
	// Answer is the hook's answer, and nil for another code than 200.
	Answer *metacontroller.Answer
}

// route is a hook of a kind.
type route struct {
	kind string
	hook metacontroller.HookName
}

// counted are the metrics of one hook.
type counted struct {
	byCode                   map[int]prometheus.Counter
	otherCode                func(code string) prometheus.Counter
	duration, received, sent prometheus.Observer
	panics                   prometheus.Counter

	// Of the children in the answers.
	asked, kept, withheld     prometheus.Counter
	created, updated, removed prometheus.Counter
	statusChanges             prometheus.Counter
}

func (m *Metrics) register(controllers []metacontroller.Controller) {
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
	requests := counter("operetta_requests_total", "Requests for hooks that were answered, by kind, hook and HTTP status. Kind and hook are empty where the path is that of no hook.", "kind", "hook", "code")
	duration := histogram("operetta_request_duration_seconds", "Time from the headers of a request to the end of its answer, waiting included.",
		[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 4, 8})
	received := histogram("operetta_request_size_bytes", "Bytes of a request's body that were read.", bytes)
	sent := histogram("operetta_response_size_bytes", "Bytes of an answer's body.", bytes)
	panics := counter("operetta_panics_total", "Requests whose hook panicked. They were answered with 500, and the log has the stack.", "kind", "hook")
	answered := counter("operetta_answered_children_total", "Children in the answers: asked for, kept as they are, or withheld because another controller has an object of that name.", "kind", "hook", "as")
	changes := counter("operetta_children_changes_total", "Children that answers have had created, updated or removed, as far as the requests told what was there.", "kind", "hook", "change")
	statuses := counter("operetta_status_changes_total", "Answers with another status than the parent had in the request.", "kind", "hook")
	refused := counter("operetta_requests_refused_total", "Requests that were refused, by reason.", "reason")

	count := func(kind, hook string) *counted {
		c := &counted{
			byCode:    map[int]prometheus.Counter{},
			otherCode: func(code string) prometheus.Counter { return requests.WithLabelValues(kind, hook, code) },
			duration:  duration.WithLabelValues(kind, hook), received: received.WithLabelValues(kind, hook), sent: sent.WithLabelValues(kind, hook),
			panics: panics.WithLabelValues(kind, hook),
		}
		for _, code := range codes() {
			c.byCode[code] = c.otherCode(strconv.Itoa(code))
		}
		return c
	}
	m.routes = map[route]*counted{}
	for _, controller := range controllers {
		for _, hook := range controller.Hooks() {
			kind, name := controller.Name(), string(hook)
			c := count(kind, name)
			m.routes[route{kind, hook}] = c
			if hook == metacontroller.CustomizeHook {
				continue // its answers have no children
			}
			c.asked, c.kept, c.withheld = answered.WithLabelValues(kind, name, "asked"), answered.WithLabelValues(kind, name, "kept"), answered.WithLabelValues(kind, name, "withheld")
			c.created, c.updated, c.removed = changes.WithLabelValues(kind, name, "created"), changes.WithLabelValues(kind, name, "updated"), changes.WithLabelValues(kind, name, "removed")
			c.statusChanges = statuses.WithLabelValues(kind, name)
		}
	}
	m.unknown = &counted{
		byCode:    map[int]prometheus.Counter{},
		otherCode: func(code string) prometheus.Counter { return requests.WithLabelValues("", "", code) },
	}
	for _, code := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed} {
		m.unknown.byCode[code] = m.unknown.otherCode(strconv.Itoa(code))
	}
	m.refused = map[string]prometheus.Counter{}
	for _, reason := range reasons() {
		m.refused[reason] = refused.WithLabelValues(reason)
	}
}

// Count counts a request.
func (m *Metrics) Count(r Request) {
	c, isHook := m.routes[route{r.Kind, r.Hook}]
	if !isHook {
		c = m.unknown
	}
	if counter, known := c.byCode[r.Code]; known {
		counter.Inc()
	} else {
		c.otherCode(strconv.Itoa(r.Code)).Inc() // a code that is not in codes
	}
	if counter, known := m.refused[r.Refused]; known {
		counter.Inc()
	}
	if !isHook {
		return
	}
	c.duration.Observe(r.Duration.Seconds())
	c.received.Observe(float64(r.Received))
	c.sent.Observe(float64(r.Sent))
	if r.Panicked {
		c.panics.Inc()
	}
	if r.Code == http.StatusOK && r.Hook != metacontroller.CustomizeHook {
		c.countAnswer(r.Answer)
		m.parents.note(r.Kind, r.Answer)
	}
}

func (c *counted) countAnswer(answer *metacontroller.Answer) {
	kept := 0
	for i := range answer.Children {
		if answer.Children[i].Kept {
			kept++
		}
	}
	changes := answer.Changes
	c.asked.Add(float64(len(answer.Children) - kept))
	c.kept.Add(float64(kept))
	c.withheld.Add(float64(changes.Withheld))
	c.created.Add(float64(changes.Created))
	c.updated.Add(float64(changes.Updated))
	c.removed.Add(float64(changes.Removed))
	if changes.Status {
		c.statusChanges.Inc()
	}
}
