package server

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

const (
	// backlogWait is how long a request may wait for others to finish. It is
	// well under the 10 s that Metacontroller gives it in all.
	backlogWait = 2 * time.Second
	// retryAfter is sent with 429. Metacontroller comes back at once, without
	// any backoff, unless it is told a positive number of seconds.
	retryAfter = 2 * time.Second
)

// Hooks returns the handler of the hooks: POST /<kind>/<hook>.
func (s *Server) Hooks() http.Handler {
	router := chi.NewRouter()
	// From the outside in: every request is logged, also one that panics, and
	// one that is refused costs as little as can be. Authentication belongs
	// before the throttle, so that strangers cannot fill it.
	router.Use(s.logRequests, s.recoverPanics, s.refuseWhileClosing)
	router.Use(middleware.ThrottleWithOpts(middleware.ThrottleOpts{
		Limit:          s.options.MaxInFlight,
		BacklogLimit:   s.options.MaxInFlight,
		BacklogTimeout: backlogWait,
		RetryAfterFn:   func(bool) time.Duration { return retryAfter },
	}))
	for _, controller := range s.options.Controllers {
		for _, hook := range controller.Hooks() {
			router.Post("/"+controller.Name()+"/"+string(hook), s.answer(controller, hook))
		}
	}
	router.NotFound(func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "no such hook: the path is /<kind>/sync, /<kind>/finalize or /<kind>/customize")
	})
	router.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "a hook takes POST only")
	})
	return router
}

// Health returns the handler of the metrics port: GET /healthz and /readyz.
// Metrics belong here too.
func (s *Server) Health() http.Handler {
	router := chi.NewRouter()
	router.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusOK, "ok") })
	router.Get("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		switch {
		case s.draining.Load():
			refuse(w, http.StatusServiceUnavailable, "draining")
		case !s.serving.Load():
			refuse(w, http.StatusServiceUnavailable, "not serving yet")
		default:
			refuse(w, http.StatusOK, "ok")
		}
	})
	return router
}
