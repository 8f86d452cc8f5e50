package server

import (
	"fmt"
	"net/http"
	"net/http/pprof"
	"path"
	"strconv"

	"github.com/go-chi/chi/v5"
)

// mostProfiled is the longest that a profile takes, in seconds. It leaves time to send it
// within the write timeout, which net/http/pprof would extend.
const mostProfiled = 15

// profile adds the handlers of net/http/pprof, one request at a time: each holds memory
// outside of the budget.
func profile(router chi.Router) {
	router.Route("/debug/pprof", func(router chi.Router) {
		router.Use(oneAtATime(), briefly)
		router.Get("/*", pprof.Index) // each profile by its name
		router.Get("/cmdline", pprof.Cmdline)
		router.Get("/profile", pprof.Profile)
		router.Get("/symbol", pprof.Symbol)
		router.Get("/trace", pprof.Trace)
	})
}

// oneAtATime refuses a request while another is answered.
func oneAtATime() func(http.Handler) http.Handler {
	free := make(chan struct{}, 1)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case free <- struct{}{}:
				defer func() { <-free }()
				next.ServeHTTP(w, r)
			default:
				w.Header().Set("Retry-After", strconv.Itoa(mostProfiled))
				writeLine(w, r, http.StatusTooManyRequests, "another profile is being taken: try again later")
			}
		})
	}
}

// briefly refuses a profile that takes too long. That of the CPU takes 30 seconds where
// nobody says otherwise.
func briefly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := r.URL.Query().Get("seconds")
		seconds, err := strconv.ParseFloat(text, 64)
		isBrief := err == nil && seconds >= 1 && seconds <= mostProfiled
		if text == "" {
			isBrief = path.Base(r.URL.Path) != "profile"
		}
		if !isBrief {
			writeLine(w, r, http.StatusBadRequest, fmt.Sprintf("seconds is a number from 1 to %d", mostProfiled))
			return
		}
		next.ServeHTTP(w, r)
	})
}
