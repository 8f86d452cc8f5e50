package server

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/operetta-dev/operetta/metacontroller"
)

// stuckAfter is after how many times the answer timeout a hook that still runs counts as one that
// does not end. Go cannot end it, and each such call keeps its turn from all kinds: the health
// check fails, so that Kubernetes starts the container again.
const stuckAfter = 8

// calls are those of hooks that run.
type calls struct {
	mu      sync.Mutex
	running map[*job]call
}

type call struct {
	controller string
	hook       metacontroller.HookName
	began      time.Time
	isTold     bool // that it does not end
}

func (c *calls) enter(j *job, controller string, hook metacontroller.HookName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = map[*job]call{}
	}
	c.running[j] = call{controller: controller, hook: hook, began: time.Now()}
}

func (c *calls) leave(j *job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, j)
}

// longerThan returns a call that has run for longer than a time, if there is one. It isTold
// when it is returned again.
func (c *calls) longerThan(longest time.Duration) (found call, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for j, running := range c.running {
		if time.Since(running.began) > longest {
			found, running.isTold = running, true
			c.running[j] = running
			return found, true
		}
	}
	return call{}, false
}

// isAlive answers the health check.
func (s *Server) isAlive(w http.ResponseWriter, r *http.Request) {
	longest := stuckAfter * s.options.AnswerTimeout
	stuck, found := s.calls.longerThan(longest)
	if !found {
		writeLine(w, r, http.StatusOK, "ok")
		return
	}
	text := fmt.Sprintf("the hook %s/%s has run for more than %s and does not end", stuck.controller, stuck.hook, longest)
	if !stuck.isTold {
		s.options.Log.Error(text)
	}
	writeLine(w, r, http.StatusServiceUnavailable, text)
}
