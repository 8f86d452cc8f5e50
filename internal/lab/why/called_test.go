package why_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/why"
)

// edited has a spec of some time ago in the dump that nobody has observed. Without a time the dump has
// no managedFields, as kubectl prints it by default.
func (s *scene) edited(ago time.Duration) {
	s.Helper()
	s.apply()
	require.NoError(s, s.Play())
	s.replace(s.parent(), func(fields map[string]any) {
		metadata := fields["metadata"].(map[string]any)
		metadata["generation"] = s.parent().GetGeneration() + 1
		if ago > 0 {
			at := func(ago time.Duration) string { return s.Now().Add(-ago).UTC().Format(time.RFC3339) }
			metadata["managedFields"] = []any{
				map[string]any{"manager": "kubectl", "operation": "Update", "time": at(ago)},
				map[string]any{"manager": "metacontroller", "operation": "Update", "time": at(0), "subresource": "status"},
			}
		}
	})
}

// warnAgo puts an event of some time ago about the custom resource into the dump.
func (s *scene) warnAgo(ago time.Duration, message string) {
	s.warn(s.parent(), "SyncError", message)
	at := s.Now().Add(-ago).UTC().Format(time.RFC3339)
	last := s.extra[len(s.extra)-1].Object
	last["firstTimestamp"], last["lastTimestamp"] = at, at
}

const hookDown = "Sync error: sync hook failed for x a/b: connection refused"

// TestNotCalled: Metacontroller is the cause where nobody has observed what was written, for longer than
// it takes, and where nothing says that it tries.
func TestNotCalled(t *testing.T) {
	unseen := "Metacontroller does not call its hook: nobody has observed generation 2: the status is about generation 1"
	for name, test := range map[string]struct {
		plant  func(s *scene)
		reason string
		words  string
	}{
		"an edit of an hour ago":       {func(s *scene) { s.edited(time.Hour) }, "NotCalled", unseen},
		"an edit just now":             {func(s *scene) { s.edited(3 * time.Second) }, "NotSynced", "nobody has observed generation 2"},
		"an edit that nothing dates":   {func(s *scene) { s.edited(0) }, "NotSynced", "nobody has observed generation 2"},
		"its hook fails":               {func(s *scene) { s.edited(time.Hour); s.warnAgo(time.Minute, hookDown) }, "SyncError", "connection refused"},
		"its hook failed before that":  {func(s *scene) { s.edited(time.Minute); s.warnAgo(5*time.Minute, hookDown) }, "NotCalled", unseen},
		"its hook has failed long ago": {func(s *scene) { s.edited(time.Hour); s.warnAgo(30*time.Minute, hookDown) }, "NotCalled", unseen},
		"a new one of long ago":        {func(s *scene) { s.created(time.Minute) }, "NotCalled", "Metacontroller does not call its hook: no operator has synced it yet"},
		"a new one":                    {func(s *scene) { s.created(time.Second) }, "NotSynced", "no operator has synced it yet"},
		"a child is gone": {func(s *scene) {
			s.without("Service")
			s.waited = time.Minute
		}, "NotCalled", "Metacontroller does not call its hook: nobody has made Service/sentiment"},
		"a child is refused": {func(s *scene) {
			s.without("Service")
			s.waited = time.Minute
			s.warnAgo(0, `Sync error: can't reconcile children: services "sentiment" is forbidden: quota`)
		}, "Refused", "is forbidden: quota"},
		"a child has just gone": {func(s *scene) {
			s.without("Service")
			s.replace(s.pod(), func(fields map[string]any) {
				fields["status"].(map[string]any)["startTime"] = s.Now().UTC().Format(time.RFC3339)
			})
		}, "Missing", "does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, "modelbox")
			test.plant(s)
			answer := s.answer()
			t.Log("\n" + textOf(answer))
			require.Equal(t, test.reason, answer.Because[0].Reason)
			require.Contains(t, answer.Because[0].Message, test.words)
			if test.reason == "NotCalled" || test.reason == "NotSynced" {
				require.Contains(t, answer.Because[0].Look, "kubectl --namespace metacontroller get pods")
			}
			if test.reason == "NotCalled" {
				require.NotContains(t, textOf(answer), "called again", "that time will pass")
			}
		})
	}
}

// created has a custom resource in the dump that was created some time ago, and nothing else of it.
func (s *scene) created(ago time.Duration) {
	s.apply()
	s.until(func() kube.Object {
		if list := s.Parents(); len(list) > 0 {
			return list[0]
		}
		return nil
	})
	s.replace(s.parent(), func(fields map[string]any) {
		delete(fields, "status")
		fields["metadata"].(map[string]any)["creationTimestamp"] = s.Now().Add(-ago).UTC().Format(time.RFC3339)
	})
}

// without leaves a child out of the dump.
func (s *scene) without(kind string) {
	s.apply()
	require.NoError(s, s.Play())
	s.dropped = map[string]bool{kube.RefOf(s.child(kind)).String(): true}
}

// TestNotCalledIsToldOnce: one block tells of all kinds, before those of other causes.
func TestNotCalledIsToldOnce(t *testing.T) {
	failed, edited, other := begin(t, "podset"), begin(t, "modelbox"), begin(t, "myjob")
	image := waiting("ImagePullBackOff", "no such image")
	image(failed)
	edited.edited(time.Hour)
	other.created(time.Hour)
	var out strings.Builder
	why.Summary(&out, []why.Answer{failed.answer(), edited.answer(), other.answer()}, true)
	text := out.String()
	require.True(t, strings.HasPrefix(text, "3 of 3 custom resources are not Ready: 3 stuck, 0 in progress\n\n2 custom resources have the same cause: ModelBox default/sentiment, MyJob default/"), text)
	require.Equal(t, 1, strings.Count(text, "Metacontroller does not call"), text)
	require.Contains(t, text, "ImagePullBackOff")
}
