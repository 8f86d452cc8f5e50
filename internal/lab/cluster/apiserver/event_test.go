package apiserver

import (
	"strings"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
)

// TestAnEventIsRaised as a recorder does with one that comes again, and expires.
func TestAnEventIsRaised(t *testing.T) {
	s := emptyServer()
	now := s.Now()
	s.now = func() time.Time { return now }
	object, err := put(t, s, configMap("a"))
	require.NoError(t, err)
	told, version := 0, s.Version()
	s.Watch(func(Write) { told++ })

	s.Warn("kubelet", object, "Failed", "first")
	now = now.Add(time.Minute)
	s.Warn("kubelet", object, "Failed", "second")
	s.Warn("kubelet", object, "BackOff", "other")

	events := s.Events()
	require.Len(t, events, 2)
	require.Equal(t, `["Failed","second",2,"2026-01-01T00:00:00Z","2026-01-01T00:01:00Z","Warning"]`, fields(t, events[0], "reason", "message", "count", "firstTimestamp", "lastTimestamp", "type"))
	require.Equal(t, `"kubelet"`, text(t, events[0], "source", "component"))
	require.Equal(t, `"c"`, text(t, events[0], "involvedObject", "name"))
	require.NotEqual(t, events[0].GetName(), events[1].GetName())
	require.Zero(t, told)
	require.Equal(t, version, s.Version())
	require.Len(t, s.Objects(), 1)

	now = now.Add(time.Hour)
	require.Empty(t, s.Events())
	s.Warn("kubelet", object, "Failed", "third")
	require.Equal(t, `1`, text(t, s.Events()[0], "count"))
}

// fields returns members of an object as a JSON list.
func fields(t testing.TB, object kube.Object, names ...string) string {
	t.Helper()
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = text(t, object, name)
	}
	return "[" + strings.Join(list, ",") + "]"
}
