package apiserver

import (
	"fmt"

	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// Typed returns an object as a Go type, or nil if it does not exist.
func Typed[T any](s *Server, ref kube.Ref) *T {
	object := s.Get(ref)
	if object == nil {
		return nil
	}
	typed := new(T)
	if err := kube.Decode(object, typed); err != nil {
		panic(fmt.Sprintf("%s was stored in a form that cannot be read: %s", ref, err))
	}
	return typed
}
