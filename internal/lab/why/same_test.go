package why_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/why"
	"github.com/operetta-dev/operetta/internal/record"
	"github.com/operetta-dev/operetta/metacontroller"
)

func textOf(answer why.Answer) string {
	var text strings.Builder
	answer.Text(&text)
	return text.String()
}

// controllerOf returns the operator of a kind.
func controllerOf(t *testing.T, kind string) metacontroller.Controller {
	t.Helper()
	i := slices.IndexFunc(hooks.All(), func(c metacontroller.Controller) bool { return c.Name() == kind })
	require.GreaterOrEqual(t, i, 0)
	return hooks.All()[i]
}

// TestSameFromRecording: a dump and a recording of the same objects say the same, although a
// recording has other words in the place of most strings.
func TestSameFromRecording(t *testing.T) {
	for _, kind := range kinds {
		for _, what := range []string{player.Fail, player.Hold} {
			t.Run(what+"/"+kind, func(t *testing.T) {
				s := begin(t, kind)
				failing(what)(s)
				_ = s.Play() // what is held may never come to rest
				dir := t.TempDir()
				recorder, err := record.New(dir, slog.New(slog.DiscardHandler))
				require.NoError(t, err)
				s.last.Controller = controllerOf(t, kind)
				recorder.Record(s.last)
				recorder.Close()
				recorded, err := why.FromRecording(dir, hooks.All(), why.Selection{})
				require.NoError(t, err)
				require.Len(t, recorded, 1)

				d, err := dump.Read(bytes.NewReader(objectsOf(t, s.last.Request)))
				require.NoError(t, err)
				options := dump.Options{Controllers: hooks.All(), Call: direct, Now: s.last.Now}
				for subject := range why.FromDump(d, options, why.Selection{Kind: kind}) {
					dumped := textOf(subject.Explain())
					t.Log("\n" + dumped + "\n" + textOf(recorded[0].Explain()))
					requireSame(t, dumped, textOf(recorded[0].Explain()))
				}
			})
		}
	}
}

var redacted = regexp.MustCompile(`redacted-[0-9]+`)

// requireSame compares the lines that two texts have, where a placeholder stands for anything.
// When the hook is called again depends on hashes that a recording has not.
func requireSame(t *testing.T, dumped, recorded string) {
	t.Helper()
	lines := func(text string) []string {
		return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.Contains(line, "the hook is called again") })
	}
	was, is := lines(dumped), lines(recorded)
	require.Len(t, is, len(was), recorded)
	for i, line := range is {
		pattern := redacted.ReplaceAllString(regexp.QuoteMeta(line), ".*")
		require.Regexp(t, "^"+strings.ReplaceAll(pattern, `redacted-\d+`, ".*")+"$", was[i])
	}
}

// objectsOf returns the objects of a request as kubectl would print them.
func objectsOf(t *testing.T, body []byte) []byte {
	t.Helper()
	var request struct {
		Parent            any
		Children, Related map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal(body, &request))
	items := []any{request.Parent}
	for _, groups := range []map[string]map[string]any{request.Children, request.Related} {
		for _, group := range groups {
			for _, object := range group {
				items = append(items, object)
			}
		}
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	require.NoError(t, err)
	return text
}

// TestOrderDoesNotMatter: the same objects in another order have the same answer, byte for byte.
func TestOrderDoesNotMatter(t *testing.T) {
	s := begin(t, "dataservice")
	failing(player.Fail)(s)
	var list struct{ Items []json.RawMessage }
	require.NoError(t, json.Unmarshal(s.dump(), &list))
	first := ""
	for seed := range uint64(5) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(list.Items), func(i, j int) { list.Items[i], list.Items[j] = list.Items[j], list.Items[i] })
		text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": list.Items})
		require.NoError(t, err)
		d, err := dump.Read(bytes.NewReader(text))
		require.NoError(t, err)
		var out bytes.Buffer
		for subject := range why.FromDump(d, dump.Options{Controllers: hooks.All(), Call: direct}, why.Selection{}) {
			answer, err := json.Marshal(subject.Explain())
			require.NoError(t, err)
			out.Write(answer)
			require.NoError(t, why.TreeText(&out, []why.Node{subject.Tree()}))
			why.TreeDot(&out, []why.Node{subject.Tree()})
		}
		if first == "" {
			first = out.String()
		}
		require.Equal(t, first, out.String())
	}
}

// largeDump returns 10,000 objects: a hundred ModelBoxes, of which forty have a bad image, and the
// Pods and events of others.
func largeDump(t testing.TB) []byte {
	t.Helper()
	items := []json.RawMessage{}
	add := func(object kube.Object, from, to string) {
		text, err := json.Marshal(object.Object)
		require.NoError(t, err)
		items = append(items, bytes.ReplaceAll(text, []byte(from), []byte(to)))
	}
	var pod, event kube.Object
	for i := range 100 {
		options := player.Options{Controllers: hooks.All(), Call: direct}
		name := fmt.Sprintf("box-%02d", i)
		if i < 40 {
			options.Actions = []player.Action{{Do: player.Fail, Target: "Deployment/" + name}}
		}
		s := &scene{TB: t, kind: "modelbox", World: player.New(options)}
		require.NoError(t, s.Apply(fmt.Appendf(nil,
			`{"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"name":"%s","namespace":"n%02d"},"spec":{"image":"nginx:1","replicas":6,"ports":[{"port":80}]}}`, name, i)))
		for range 12 {
			s.Step()
		}
		pod = s.List("v1", "Pod")[0]
		s.warn(pod, "BackOff", "Back-off restarting failed container")
		event = s.extra[0]
		for _, object := range append(s.Objects(), event) {
			add(object, "-8000-", fmt.Sprintf("-%04d-", i)) // UIDs
		}
	}
	for i := range (10_000 - len(items) + 1) / 2 {
		add(pod, pod.GetName(), fmt.Sprint("other-", i))
		add(event, pod.GetName(), fmt.Sprint("other-", i))
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	require.NoError(t, err)
	return text
}

// BenchmarkLarge reads 10,000 objects and answers once: less than a second is wanted.
func BenchmarkLarge(b *testing.B) {
	text := largeDump(b)
	for b.Loop() {
		d, err := dump.Read(bytes.NewReader(text))
		require.NoError(b, err)
		require.GreaterOrEqual(b, d.Len(), 10_000)
		for subject := range why.FromDump(d, dump.Options{Controllers: hooks.All(), Call: direct}, why.Selection{Kind: "modelbox", Namespace: "n10", Name: "box-10"}) {
			require.Equal(b, "CrashLoopBackOff", subject.Explain().Because[0].Reason)
		}
	}
}

// TestLarge: one bad image is one group.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("it asks hundreds of hooks")
	}
	d, err := dump.Read(bytes.NewReader(largeDump(t)))
	require.NoError(t, err)
	options := dump.Options{Controllers: hooks.All(), Call: direct}
	var answers []why.Answer
	for subject := range why.FromDump(d, options, why.Selection{}) {
		answers = append(answers, subject.Explain())
	}
	groups := why.Groups(answers)
	require.Len(t, groups, 1)
	require.Len(t, groups[0].Answers, 40)
}
