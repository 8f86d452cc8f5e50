package server

import (
	"fmt"
	"net/http"
	"time"
)

// hungAfter is after how many times the answer timeout a hook that still runs counts as one
// that hangs. Go cannot end it, and it occupies a slot: the health check fails, so that
// Kubernetes restarts the container.
const hungAfter = 8

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	longest := hungAfter * s.options.AnswerTimeout
	code, text := http.StatusOK, "ok"
	s.running.Range(func(key, _ any) bool {
		e := key.(*exchange)
		if time.Since(e.called) > longest {
			code, text = http.StatusServiceUnavailable, fmt.Sprintf("the hook %s/%s has run for more than %s and does not end", e.kind, e.hook, longest)
			s.options.Log.Error(text)
		}
		return code == http.StatusOK
	})
	writeLine(w, code, text)
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.draining.Load() {
		writeLine(w, http.StatusServiceUnavailable, "draining")
		return
	}
	writeLine(w, http.StatusOK, "ok")
}
