package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// selections are how many rules the customize hook answered with last, by namespace and name of the
// custom resource.
type selections struct {
	mu     sync.Mutex
	counts map[string]int
}

// newSelections returns selections, and the URL of a proxy in front of the hooks that notes them.
func newSelections(t *testing.T) (*selections, string) {
	t.Helper()
	target, err := url.Parse(operetta.HookURL)
	require.NoError(t, err)
	s := &selections{counts: map[string]int{}}
	reverse := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/customize") {
			reverse.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // its client has gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		answer := httptest.NewRecorder()
		reverse.ServeHTTP(answer, r)
		s.note(body, answer.Body.Bytes())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}))
	t.Cleanup(server.Close)
	return s, server.URL
}

func (s *selections) note(request, answer []byte) {
	var asked struct {
		Parent struct {
			Metadata struct{ Namespace, Name string }
		}
	}
	var selected struct{ RelatedResources []any }
	if json.Unmarshal(request, &asked) != nil || json.Unmarshal(answer, &selected) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[asked.Parent.Metadata.Namespace+"/"+asked.Parent.Metadata.Name] = len(selected.RelatedResources)
}

// forget forgets all.
func (s *selections) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.counts)
}

// of returns the number of rules of a custom resource, or -1 if nobody has asked.
func (s *selections) of(w *world, name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if count, isKnown := s.counts[w.ns+"/"+name]; isKnown {
		return count
	}
	return -1
}

// TestWatchPods has the cause told of a ModelBox whose image does not exist, new and edited, and of one
// that was Ready when Metacontroller asked for the rules: here after a restart, which forgets them.
func TestWatchPods(t *testing.T) {
	const command = "to see why: kubectl operetta why modelbox/box -n "
	for policy, says := range map[string]struct {
		early, late string
		rules       int // of a ModelBox that is Ready
	}{
		"Always":        {"ErrImagePull", "CrashLoopBackOff", 1},
		"WhileNotReady": {"ErrImagePull", command, 0},
		"Never":         {command, command, 0},
	} {
		t.Run(policy, func(t *testing.T) {
			selected, proxy := newSelections(t)
			r := start(t, modes[0], proxy)
			serveWith(t, policy)
			w := newWorld(t, r)
			w.createNodeWithoutKubelet()
			const noImage, crashes = `{"waiting":{"reason":"ErrImagePull","message":"not found"}}`, `{"waiting":{"reason":"CrashLoopBackOff"}}`

			w.apply(modelBox(`image: "a:1", replicas: 1, strategy: Recreate, nodeSelector: {kubelet: none}, tolerations: [{operator: Exists}]`))
			w.report("a:1", noImage, false)
			w.readySays(says.early)
			w.kubectl("patch", "modelboxes.model.github.com/box", "--type=merge", `--patch={"spec":{"image":"a:2"}}`)
			w.report("a:2", noImage, false)
			w.readySays(says.early)
			w.report("a:2", `{"running":{"startedAt":"2026-01-01T00:00:00Z"}}`, true)
			w.ready("modelbox/box")
			w.apply(`{apiVersion: ci.zt.vapi.cc/v1, kind: Build, metadata: {name: hello}, spec: {source: {git: {url: "https://git.example.com/a.git"}}, image: a, script: make}}`)
			w.ready("build/hello")

			require.NoError(t, operetta.End(cluster.Metacontroller))
			selected.forget()
			require.NoError(t, operetta.StartMetacontroller(t.Context(), metacontroller, modes[0].strategy))
			w.eventually("Metacontroller has asked for the rules", func() error {
				if box, build := selected.of(w, "box"), selected.of(w, "hello"); box != says.rules || build != 0 {
					return fmt.Errorf("the ModelBox has %d rules, and the Build %d", box, build)
				}
				return nil
			})
			w.report("a:2", crashes, false)
			w.readySays(says.late)
		})
	}
}

// createNodeWithoutKubelet creates a node whose Pods have the status that a test reports.
func (w *world) createNodeWithoutKubelet() {
	w.Helper()
	w.kubectlWithInput(`{apiVersion: v1, kind: Node, metadata: {name: quiet, labels: {kubelet: none}}, status: {
		capacity: &all {cpu: 1k, memory: 1Ti, pods: 1k}, allocatable: *all}}`, "apply", "--filename=-")
	w.Cleanup(func() {
		_, _, err := operetta.Kubectl("delete", "node/quiet", "--ignore-not-found")
		require.NoError(w, err)
	})
}

// report writes the state of the one container of the Pods that run an image.
func (w *world) report(image, state string, isReady bool) {
	w.Helper()
	phase, ready := "Pending", "False"
	if strings.Contains(state, "running") || strings.Contains(state, "CrashLoopBackOff") {
		phase = "Running"
	}
	if isReady {
		ready = "True"
	}
	w.eventually("a Pod with the image "+image+" has a node", func() error {
		for _, pod := range w.list("pods", "modelbox=box") {
			if at(pod, "spec", "containers", 0, "image") != image || at(pod, "spec", "nodeName") != "quiet" {
				continue
			}
			status := fmt.Sprintf(`{"status":{"phase":%q,"containerStatuses":[{"name":%q,"image":%q,"imageID":"","ready":%t,"restartCount":0,"state":%s}],
				"conditions":[{"type":"Ready","status":%[6]q},{"type":"ContainersReady","status":%[6]q}]}}`,
				phase, at(pod, "spec", "containers", 0, "name"), image, isReady, state, ready)
			w.kubectl("patch", "pod", fmt.Sprint(at(pod, "metadata", "name")), "--subresource=status", "--patch="+status)
			return nil
		}
		return fmt.Errorf("there is none")
	})
}

// readySays waits until the message of Ready has a text.
func (w *world) readySays(text string) {
	w.Helper()
	w.eventually("Ready says "+text, func() error {
		if is := w.condition("modelboxes.model.github.com", "box", "Ready"); !strings.HasPrefix(is, "False ") || !strings.Contains(is, text) {
			return fmt.Errorf("it is %q", is)
		}
		return nil
	})
}
