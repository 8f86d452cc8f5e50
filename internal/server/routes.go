package server

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

// Hooks returns the handler of the hooks: POST /<kind>/<hook>.
func (s *Server) Hooks() http.Handler {
	router := chi.NewRouter()
	// From the outside in: every request is logged, even if it panics or has no
	// route, and every refusal is logged. Callers are authenticated after these, and
	// before routing, throttling and reading.
	router.Use(s.logRequests, recoverPanics, discardRest, s.authenticate)
	for _, controller := range s.options.Controllers {
		for _, hook := range controller.Hooks() {
			router.With(noted(controller.Name(), hook), s.traced(controller.Name(), hook), s.admit).
				Post("/"+controller.Name()+"/"+string(hook), s.answer(controller, hook))
		}
	}
	router.NotFound(func(w http.ResponseWriter, r *http.Request) {
		writeLine(w, r, http.StatusNotFound, "no such hook: the path is /<kind>/sync, /<kind>/finalize or /<kind>/customize")
	})
	router.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		writeLine(w, r, http.StatusMethodNotAllowed, "a hook takes POST only")
	})
	return s.forgetHeaders(router)
}

// Health returns the handler of the metrics port: GET /healthz, /readyz and /metrics,
// and below /debug/pprof/ profiles, where they are asked for.
func (s *Server) Health() http.Handler {
	router := chi.NewRouter()
	router.Get("/healthz", s.isAlive)
	router.Get("/readyz", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.draining.Load():
			writeLine(w, r, http.StatusServiceUnavailable, "draining")
		case !s.serving.Load():
			writeLine(w, r, http.StatusServiceUnavailable, "not serving yet")
		default:
			writeLine(w, r, http.StatusOK, "ok")
		}
	})
	router.Method(http.MethodGet, "/metrics", s.metrics.Handler())
	if s.options.Pprof {
		profile(router)
	}
	return router
}
