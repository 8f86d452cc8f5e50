package apiserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// Actor is who writes, as reports say it.
type Actor string

// The actors.
const (
	ByUser       Actor = "a person"
	ByHook       Actor = "the hook"
	ByKubernetes Actor = "Kubernetes"
)

// Write is a write that has changed something. Its objects are not to be modified.
type Write struct {
	// By is who wrote.
	By Actor
	// Ref names the object.
	Ref kube.Ref
	// Before is nil for a new object, and After for a deleted one.
	Before, After kube.Object

	stored *stored // After
}

// JSON returns the JSON of After, which is not nil.
func (w Write) JSON() json.RawMessage { return w.stored.JSON() }

// Server is the simulated API server. The objects that it returns must not be modified.
type Server struct {
	*Cache
	*Catalogue

	now       func() time.Time
	lenient   bool // custom resources are not validated
	refusing  []refusal
	refused   map[refusal]bool // that have refused something
	addresses int
	version   int64 // the newest resource version
	uids      int
	full      error // once a limit was exceeded
	watchers  []func(Write)
	warnings  map[warned]*warning
}

// Options are what a Server needs.
type Options struct {
	// Now is the clock.
	Now func() time.Time
	// Kinds are the kinds that it knows.
	Kinds *Catalogue
	// SkipValidation accepts custom resources that their CustomResourceDefinition refuses.
	SkipValidation bool
}

// New returns a Server without objects.
func New(options Options) *Server {
	return &Server{
		Cache: NewCache(""), now: options.Now, lenient: options.SkipValidation,
		Catalogue: options.Kinds, warnings: map[warned]*warning{}, refused: map[refusal]bool{},
	}
}

// Now returns the time.
func (s *Server) Now() time.Time { return s.now() }

// Earliest returns the first of some times, of which zero ones do not count, or zero.
func Earliest(times ...time.Time) time.Time {
	times = slices.DeleteFunc(times, time.Time.IsZero)
	if len(times) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(times, time.Time.Compare)
}

// Version returns the newest resource version: it grows with each write.
func (s *Server) Version() int64 { return s.version }

// Watch calls a function at each write from now on, after the existing watches.
func (s *Server) Watch(tell func(Write)) { s.watchers = append(s.watchers, tell) }

// Latest returns an object as a new watch delivers it: as a write without an actor.
func (s *Server) Latest(ref kube.Ref) Write {
	return Write{Ref: ref, After: s.Get(ref), stored: s.objects[ref]}
}

// maxObjects is how many objects there may be at once: a few bytes can ask for any number.
const maxObjects = 10_000

// Full returns the error that ends the simulation once a limit was exceeded.
func (s *Server) Full() error { return s.full }

func (s *Server) overflow(format string, args ...any) error {
	if s.full == nil {
		s.full = fmt.Errorf("the simulated cluster is full: "+format+": simulate something smaller", args...)
	}
	return s.full
}

// HasRoomFor reports whether there is room for the Pods of a workload.
func (s *Server) HasRoomFor(ref kube.Ref, pods int32) bool {
	if pods > maxObjects {
		_ = s.overflow("%s wants %d Pods, and there is room for %d objects", ref, pods, maxObjects) // it is checked after every step
	}
	return s.full == nil
}
