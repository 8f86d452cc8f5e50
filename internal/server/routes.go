package server

import (
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/go-chi/chi/v5"
)

// Hooks returns the handler of the hooks: POST /<kind>/<hook>.
func (s *Server) Hooks() http.Handler {
	router := chi.NewRouter()
	for _, controller := range s.options.Controllers {
		for _, hook := range controller.Hooks() {
			router.Post("/"+controller.Name()+"/"+string(hook), s.answer(controller, hook))
		}
	}
	router.NotFound(func(w http.ResponseWriter, _ *http.Request) { w.(*exchange).refuse(errNoHook) })
	router.MethodNotAllowed(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		w.(*exchange).refuse(errNoPost)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := &exchange{ResponseWriter: w, server: s, began: time.Now(), route: s.noRoute}
		defer e.end(r)
		// Before routing: who may not call learns no routes.
		if err := s.options.Credentials.check(w, r); err != nil {
			e.refuse(err)
			return
		}
		router.ServeHTTP(e, r)
	})
}

// Health returns the handler of the metrics port: GET /healthz, /readyz and /metrics,
// and below /debug/pprof/ profiles, if the options ask for them.
func (s *Server) Health() http.Handler {
	router := chi.NewRouter()
	router.Get("/healthz", s.healthz)
	router.Get("/readyz", s.readyz)
	router.Method(http.MethodGet, "/metrics", s.metrics.Handler())
	if s.options.Pprof {
		router.Get("/debug/pprof/*", pprof.Index) // each profile by its name
		router.Get("/debug/pprof/cmdline", pprof.Cmdline)
		router.Get("/debug/pprof/profile", pprof.Profile)
		router.Get("/debug/pprof/symbol", pprof.Symbol)
		router.Get("/debug/pprof/trace", pprof.Trace)
	}
	return router
}
