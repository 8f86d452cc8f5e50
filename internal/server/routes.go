package server

import (
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

// backlogWait is how long a request may wait for others to finish. It is well
// under the 10 s that Metacontroller gives it in all.
const backlogWait = 2 * time.Second

// Hooks returns the handler of the hooks: POST /<kind>/<hook>.
func (s *Server) Hooks() http.Handler {
	router := chi.NewRouter()
	// From the outside in: every request is logged, also one that panics or has
	// no route, and every refusal is seen. Authentication belongs behind these,
	// before anything that tells a stranger what there is or lets him fill the
	// throttle.
	router.Use(s.logRequests, recoverPanics, discardRest)
	// All hooks share one throttle.
	throttle := middleware.ThrottleWithOpts(middleware.ThrottleOpts{
		Limit:          s.options.MaxInFlight,
		BacklogLimit:   s.options.MaxInFlight,
		BacklogTimeout: backlogWait,
		RetryAfterFn:   retryAfter,
	})
	for _, controller := range s.options.Controllers {
		for _, hook := range controller.Hooks() {
			router.With(named(controller.Name(), hook), s.admit, throttle).
				Post("/"+controller.Name()+"/"+string(hook), s.answer(controller, hook))
		}
	}
	router.NotFound(func(w http.ResponseWriter, _ *http.Request) {
		writeLine(w, http.StatusNotFound, "no such hook: the path is /<kind>/sync, /<kind>/finalize or /<kind>/customize")
	})
	router.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		writeLine(w, http.StatusMethodNotAllowed, "a hook takes POST only")
	})
	return router
}

// Health returns the handler of the metrics port: GET /healthz and /readyz.
// Metrics belong here too.
func (s *Server) Health() http.Handler {
	router := chi.NewRouter()
	router.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { writeLine(w, http.StatusOK, "ok") })
	router.Get("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch {
		case s.draining.Load():
			writeLine(w, http.StatusServiceUnavailable, "draining")
		case !s.serving.Load():
			writeLine(w, http.StatusServiceUnavailable, "not serving yet")
		default:
			writeLine(w, http.StatusOK, "ok")
		}
	})
	return router
}

// retryAfter is sent with 429, in whole seconds. Metacontroller comes back at
// once, without any backoff, unless it is told a positive number, and all at
// the same time, unless it is told different ones.
func retryAfter(bool) time.Duration { return time.Duration(1+rand.IntN(3)) * time.Second }
