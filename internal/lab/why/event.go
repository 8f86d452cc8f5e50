package why

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// subject is what an event is about.
type subject struct{ kind, namespace, name string }

// event is the part of an Event that is read, of v1 or of events.k8s.io/v1.
type event struct {
	about           subject
	reason, message string
	isWarning       bool
	first, last     time.Time
}

func newEvent(object Object) event {
	text := func(path ...string) string {
		value, _, _ := unstructured.NestedString(object.Object, path...)
		return value
	}
	moment := func(path ...string) time.Time {
		at, _ := time.Parse(time.RFC3339, text(path...))
		return at
	}
	field := "involvedObject"
	if object.Object[field] == nil {
		field = "regarding"
	}
	e := event{
		about:  subject{text(field, "kind"), text(field, "namespace"), text(field, "name")},
		reason: text("reason"), message: cmp.Or(text("message"), text("note")), isWarning: text("type") == "Warning",
		first: later(moment("firstTimestamp"), moment("eventTime")),
	}
	e.last = later(later(moment("lastTimestamp"), moment("series", "lastObservedTime")), e.first)
	return e
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func newestFirst(a, b event) int {
	return cmp.Or(b.last.Compare(a.last), strings.Compare(a.reason, b.reason), strings.Compare(a.message, b.message))
}

// warning returns the newest warning about an object that fits, or nil.
func (c *Cluster) warning(object Object, fits func(event) bool) *event {
	return c.newest(object, func(e event) bool { return e.isWarning && fits(e) })
}

// newest returns the newest event about an object that fits, or nil.
func (c *Cluster) newest(object Object, fits func(event) bool) *event {
	if c.events == nil {
		c.readEvents()
	}
	list := c.events[subject{object.GetKind(), object.GetNamespace(), object.GetName()}]
	for i := range list {
		if fits(list[i]) {
			return &list[i]
		}
	}
	return nil
}

func (c *Cluster) readEvents() {
	c.events = map[subject][]event{}
	for _, version := range []string{"v1", "events.k8s.io/v1"} {
		for object := range c.options.Dump.Objects(version, "Event") {
			e := newEvent(object)
			c.events[e.about] = append(c.events[e.about], e)
		}
	}
	for _, list := range c.events {
		slices.SortFunc(list, newestFirst)
	}
}

func anyEvent(event) bool { return true }
