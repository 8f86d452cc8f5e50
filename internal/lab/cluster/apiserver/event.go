package apiserver

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// warning is what a server keeps of an Event: one for each object and reason. They are no objects
// of it: nobody watches them, and a cluster that does nothing but warn is at rest.
type warning struct {
	about           corev1.ObjectReference
	source          string
	reason, message string
	first, last     time.Time
	count           int32
}

type warned struct {
	uid    types.UID
	reason string
}

// eventTTL is how long an API server keeps an Event after its last change (its flag --event-ttl).
const eventTTL = time.Hour

// Warn records that a component warns about an object: the newest message of a reason counts.
func (s *Server) Warn(source string, about kube.Object, reason, message string) {
	key := warned{about.GetUID(), reason}
	known, now := s.warnings[key], s.Now()
	if known == nil || now.Sub(known.last) >= eventTTL {
		known = &warning{first: now, reason: reason, about: corev1.ObjectReference{
			APIVersion: about.GetAPIVersion(), Kind: about.GetKind(), Namespace: about.GetNamespace(), Name: about.GetName(), UID: about.GetUID(),
		}}
		s.warnings[key] = known
	}
	known.about.ResourceVersion = about.GetResourceVersion()
	known.source, known.message, known.last = source, message, now
	known.count++
}

// Events returns the Events that there are, the oldest first.
func (s *Server) Events() []kube.Object {
	var list []*warning
	for _, w := range s.warnings {
		if s.Now().Sub(w.last) < eventTTL {
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b *warning) int {
		return cmp.Or(a.first.Compare(b.first), cmp.Compare(a.about.UID, b.about.UID), cmp.Compare(a.reason, b.reason))
	})
	events := make([]kube.Object, len(list))
	for i, w := range list {
		events[i] = w.event(i)
	}
	return events
}

// event returns the Event, as tools/record/event.go in k8s.io/client-go makes it. In a real name stands
// the nanosecond of the first.
func (w *warning) event(number int) kube.Object {
	return kube.Encode(&corev1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{
			Name:      fmt.Sprintf("%s.%x", w.about.Name, w.first.UnixNano()+int64(number)),
			Namespace: cmp.Or(w.about.Namespace, metav1.NamespaceDefault), CreationTimestamp: metav1.NewTime(w.first),
		},
		InvolvedObject: w.about, Reason: w.reason, Message: w.message, Type: corev1.EventTypeWarning, Count: w.count,
		FirstTimestamp: metav1.NewTime(w.first), LastTimestamp: metav1.NewTime(w.last),
		Source: corev1.EventSource{Component: w.source}, ReportingController: w.source,
	})
}
