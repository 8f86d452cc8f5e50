package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// sample is a sync request about a custom resource that has converged, as Metacontroller sent
// it on a real control plane: TestRequests in e2e/live records them.
type sample struct {
	name       string
	controller metacontroller.Controller
	body       []byte
}

func (s sample) path() string { return "/" + s.controller.Name() + "/sync" }

// call has the hook answer.
func (s sample) call(t testing.TB) metacontroller.Answer {
	t.Helper()
	answer, err := s.controller.Call(metacontroller.SyncHook, time.Now(), s.body)
	require.NoError(t, err)
	return answer
}

// read returns the request about a kind.
func read(t testing.TB, kind string) sample {
	t.Helper()
	body, err := os.ReadFile("testdata/" + kind + ".json")
	require.NoError(t, err)
	all := hooks.All()
	i := slices.IndexFunc(all, func(c metacontroller.Controller) bool { return c.Name() == kind })
	require.NotEqual(t, -1, i, kind)
	s := sample{all[i].Parent.Kind, all[i], bytes.TrimSpace(body)}
	s.converge(t)
	return s
}

// updated returns the request about a converged custom resource whose children have the hashes of
// another build, and which has no related objects.
func (s sample) updated(t testing.TB) sample {
	t.Helper()
	var request members
	request.read(t, s.body)
	var groups, related map[string]members
	require.NoError(t, json.Unmarshal(request["children"], &groups))
	require.NoError(t, json.Unmarshal(request["related"], &related))
	for kind := range related {
		related[kind] = members{}
	}
	hash := regexp.MustCompile(`("operetta.dev/hash":")[0-9a-f]{16}"`)
	for _, group := range groups {
		for key, child := range group {
			group[key] = hash.ReplaceAll(child, []byte(`${1}0123456789abcdef"`))
		}
	}
	for name, part := range map[string]any{"children": groups, "related": related} {
		text, err := json.Marshal(part)
		require.NoError(t, err)
		request[name] = text
	}
	s.name, s.body = s.name+" updated,", request.text(t)
	require.Equal(t, 2, s.call(t).Changes.Updated)
	return s
}

// podSet returns the request about a PodSet of as many Pods, each of which is the recorded first
// one under another name.
func podSet(t testing.TB, size int) sample {
	t.Helper()
	s := read(t, "podset")
	var request, parent, spec, groups, pods members
	request.read(t, s.body)
	parent.read(t, request["parent"])
	spec.read(t, parent["spec"])
	groups.read(t, request["children"])
	pods.read(t, groups["Pod.v1"])
	var meta struct {
		Metadata struct{ Namespace, UID string }
	}
	pod := pods[firstKey(pods)]
	require.NoError(t, json.Unmarshal(pod, &meta))
	name := strings.TrimSuffix(firstKey(pods), "-0")
	_, short, _ := strings.Cut(name, "/")
	many := members{}
	for i := range size {
		text := strings.ReplaceAll(string(pod), short+"-0", fmt.Sprintf("%s-%d", short, i))
		many[fmt.Sprintf("%s-%d", name, i)] = json.RawMessage(strings.ReplaceAll(text, meta.Metadata.UID, fmt.Sprintf("%s%08d", meta.Metadata.UID[:28], i)))
	}
	spec["size"] = fmt.Append(nil, size)
	parent["spec"], groups["Pod.v1"] = spec.text(t), many.text(t)
	request["parent"], request["children"] = parent.text(t), groups.text(t)
	s.name, s.body = fmt.Sprintf("PodSet of %s Pods", thousands(float64(size))), request.text(t)
	s.converge(t)
	return s
}

func firstKey(of members) string {
	for key := range of {
		if strings.HasSuffix(key, "-0") {
			return key
		}
	}
	return ""
}

// converge does what Metacontroller would with the answers until they ask for nothing: hashes and
// the words of a status may have changed since the request was recorded.
func (s *sample) converge(t testing.TB) {
	t.Helper()
	var answer metacontroller.Answer
	for i := range 5 { // once at least, for the hashes of Pods that have another's
		if answer = s.call(t); i > 0 && !answer.Changes.Any() {
			require.Equal(t, "True", answer.Ready.Status, "%s is not Ready: record it again", s.name)
			return
		}
		var request, parent, response members
		request.read(t, s.body)
		parent.read(t, request["parent"])
		response.read(t, answer.Body)
		parent["status"] = response["status"]
		request["parent"], request["children"] = parent.text(t), withHashes(t, request["children"], answer.Body)
		s.body = request.text(t)
	}
	require.Failf(t, s.name+" does not converge: record it again", "%+v", answer.Changes)
}

// withHashes gives the observed children the hashes that an answer asks for, also in what was
// applied last.
func withHashes(t testing.TB, children, answer []byte) []byte {
	t.Helper()
	asked, err := corpus.Hashes(answer)
	require.NoError(t, err)
	var groups map[string]members
	require.NoError(t, json.Unmarshal(children, &groups))
	for _, group := range groups {
		for key, child := range group {
			var object struct {
				APIVersion, Kind string
				Metadata         struct {
					Name        string
					Annotations map[string]string
				}
			}
			require.NoError(t, json.Unmarshal(child, &object))
			wanted := asked[fmt.Sprintf("%s.%s/%s", object.Kind, object.APIVersion, object.Metadata.Name)]
			if is := object.Metadata.Annotations[metacontroller.HashAnnotation]; is != "" && wanted != "" {
				group[key] = bytes.ReplaceAll(child, []byte(is), []byte(wanted))
			}
		}
	}
	text, err := json.Marshal(groups)
	require.NoError(t, err)
	return text
}

// members are those of an object in JSON.
type members map[string]json.RawMessage

func (m *members) read(t testing.TB, text []byte) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, m))
}

func (m members) text(t testing.TB) []byte {
	t.Helper()
	text, err := json.Marshal(m)
	require.NoError(t, err)
	return text
}

// TestRequestsAreReal: what is measured has what a real control plane adds, and asks for nothing.
func TestRequestsAreReal(t *testing.T) {
	t.Parallel()
	for s, wanted := range map[*sample]struct{ children, least, most int }{
		ptr(read(t, "modelbox")):    {2, 20_000, 50_000}, // with its four Pods
		ptr(read(t, "dataservice")): {35, 200_000, 400_000},
		ptr(podSet(t, 100)):         {100, 100 * 4000, 100 * 8000},
	} {
		answer := s.call(t)
		require.False(t, answer.Changes.Any(), s.name)
		require.Equal(t, wanted.children, answer.Observed, s.name)
		require.Greater(t, len(s.body), wanted.least, s.name)
		require.Less(t, len(s.body), wanted.most, s.name)
		for _, part := range []string{`"managedFields":[`, `"metacontroller.k8s.io/last-applied-configuration":`, `"kubectl.kubernetes.io/last-applied-configuration":`} {
			require.True(t, bytes.Contains(s.body, []byte(part)), "%s has no %s", s.name, part)
		}
	}
}

func ptr[T any](of T) *T { return &of }
