package why_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/why"
)

// all returns everything that can be printed about a scene.
func (s *scene) all() string {
	s.Helper()
	d, err := dump.Read(bytes.NewReader(s.dump()))
	require.NoError(s, err)
	var out bytes.Buffer
	for subject := range why.FromDump(d, dump.Options{Controllers: hooks.All(), Call: direct}, why.Selection{}) {
		answer := subject.Explain()
		why.Summary(&out, []why.Answer{answer}, true)
		text, err := json.Marshal(answer)
		require.NoError(s, err)
		out.Write(append(text, '\n'))
		require.NoError(s, why.TreeText(&out, []why.Node{subject.Tree()}))
		why.TreeDot(&out, []why.Node{subject.Tree()})
	}
	return out.String()
}

// TestNoSecrets: values of Secrets and of variables, and what programs have written, are not printed.
func TestNoSecrets(t *testing.T) {
	const secret = "c0rrect-horse"
	s := begin(t, "modelbox")
	failing(player.Fail)(s)
	s.extra = append(s.extra, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "login", "namespace": "default"},
		"data": map[string]any{"password": base64.StdEncoding.EncodeToString([]byte(secret))}, "stringData": map[string]any{"password": secret},
	}})
	s.replace(s.pod(), func(fields map[string]any) {
		spec := fields["spec"].(map[string]any)
		spec["containers"].([]any)[0].(map[string]any)["env"] = []any{map[string]any{"name": "PASSWORD", "value": secret}}
		statuses := fields["status"].(map[string]any)["containerStatuses"].([]any)
		last := statuses[0].(map[string]any)["lastState"].(map[string]any)
		last["terminated"].(map[string]any)["message"] = "cannot log in with " + secret
	})
	text := s.all()
	require.Contains(t, text, "CrashLoopBackOff")
	require.NotContains(t, text, secret)
	require.NotContains(t, text, base64.StdEncoding.EncodeToString([]byte(secret)))
}

// TestNothingControlsATerminal: names and messages are those of others.
func TestNothingControlsATerminal(t *testing.T) {
	s := begin(t, "podset")
	waiting("Image\x1b[2JPull", "no such\nimage \u202e\u009b31m")(s)
	s.warn(s.pod(), "Failed\x07", "\x1b]0;owned\a")
	text := s.all()
	require.NotContains(t, text, "\x1b")
	require.Negative(t, strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\u202e' && r != '\u009b' }), "%q", text)
}

// TestReadyInTheMeantime: the objects are well, and only the status is older.
func TestReadyInTheMeantime(t *testing.T) {
	s := begin(t, "modelbox")
	s.apply()
	require.NoError(t, s.Play())
	s.replace(s.parent(), func(fields map[string]any) {
		conditions := fields["status"].(map[string]any)["conditions"].([]any)
		ready := conditions[0].(map[string]any)
		ready["status"], ready["reason"] = "False", "RollingOut"
	})
	answer := s.answer()
	require.Equal(t, "NotCalled", answer.Because[0].Reason, "nothing has changed for a minute")
	require.Contains(t, textOf(answer), "Metacontroller does not call its hook: the hook says now that it is Ready")
	require.Contains(t, textOf(answer), "the next sync sets Ready=True Available")

	s.replace(s.pod(), func(fields map[string]any) {
		fields["status"].(map[string]any)["startTime"] = s.Now().UTC().Format(time.RFC3339)
	})
	answer = s.answer()
	require.Equal(t, "NotSynced", answer.Because[0].Reason, "it is on its way")
	require.Contains(t, textOf(answer), "next      the next sync sets Ready=True Available")
}

// TestDeleting: a custom resource that is being deleted waits for what its finalize hook waits for.
func TestDeleting(t *testing.T) {
	s := begin(t, "dataservice")
	s.apply()
	require.NoError(t, s.Play())
	child := s.Owned(s.parent())[0]
	require.True(t, s.Do(player.Action{Do: "edit", Target: child.GetKind() + "/" + child.GetName(), Detail: `{"metadata":{"finalizers":["example.com/audit"]}}`}))
	s.DeleteParents()
	require.Error(t, s.Play(), "the finalizer holds it")
	answer := s.answer()
	text := textOf(answer)
	require.Contains(t, text, "which is being deleted: ")
	require.Contains(t, text, "because   "+child.GetKind()+"/"+child.GetName())
	require.Contains(t, text, "the finalizers example.com/audit hold it")
}

// partial explains a custom resource from a dump that has nothing else.
func (s *scene) partial() why.Answer {
	s.Helper()
	text, err := s.parent().MarshalJSON()
	require.NoError(s, err)
	d, err := dump.Read(bytes.NewReader(text))
	require.NoError(s, err)
	for subject := range why.FromDump(d, dump.Options{Controllers: hooks.All(), Call: direct, Now: s.Now()}, why.Selection{}) {
		return subject.Explain()
	}
	return why.Answer{}
}

// TestUnreadIsNotAbsent: without its children, a custom resource is what its status says.
func TestUnreadIsNotAbsent(t *testing.T) {
	s := begin(t, "modelbox")
	s.apply()
	require.NoError(t, s.Play())
	answer := s.partial()
	require.Empty(t, answer.Because)
	require.Equal(t, []string{"Deployment", "Pod", "Service"}, answer.NotSeen)

	failing(player.Fail)(s)
	require.NoError(t, s.Play())
	answer = s.partial()
	s.requireFirst(answer, "ModelBox/sentiment", "ProgressDeadlineExceeded", "CrashLoopBackOff")
	require.Len(t, answer.Because, 1)
	require.Equal(t, []string{"Deployment", "Event", "Pod", "ReplicaSet", "Service"}, answer.NotSeen)
}

// TestOrphan: Metacontroller adopts a child that has lost its owner, so its name is not taken.
func TestOrphan(t *testing.T) {
	s := begin(t, "modelbox")
	failing(player.Fail)(s)
	require.NoError(t, s.Play())
	for _, child := range s.Owned(s.parent()) {
		s.replace(child, func(fields map[string]any) { delete(fields["metadata"].(map[string]any), "ownerReferences") })
	}
	require.NotContains(t, textOf(s.answer()), "NameTaken")
}
