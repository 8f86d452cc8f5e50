package live

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// trouble stands between Metacontroller and the hooks.
type trouble struct {
	sync.Mutex

	fault func(w http.ResponseWriter, r *http.Request) // nil for none
	hits  int
	edit  func(answer string) string
}

func newTrouble(t *testing.T) (*trouble, string) {
	t.Helper()
	target, err := url.Parse(operetta.HookURL)
	require.NoError(t, err)
	tr := &trouble{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(response *http.Response) error {
			_, edit := tr.now()
			if edit == nil {
				return nil
			}
			body, err := io.ReadAll(response.Body)
			if err != nil {
				return err
			}
			edited := edit(string(body))
			response.Body = io.NopCloser(strings.NewReader(edited))
			response.ContentLength = int64(len(edited))
			response.Header.Set("Content-Length", fmt.Sprint(len(edited)))
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault, _ := tr.now(); fault != nil {
			tr.Lock()
			tr.hits++
			tr.Unlock()
			fault(w, r)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return tr, server.URL
}

func (tr *trouble) now() (func(http.ResponseWriter, *http.Request), func(string) string) {
	tr.Lock()
	defer tr.Unlock()
	return tr.fault, tr.edit
}

func (tr *trouble) begin(fault func(http.ResponseWriter, *http.Request)) {
	tr.Lock()
	defer tr.Unlock()
	tr.fault, tr.hits = fault, 0
}

func (tr *trouble) struck() int {
	tr.Lock()
	defer tr.Unlock()
	return tr.hits
}

// inTrouble starts a world whose hooks are reached through trouble.
func inTrouble(t *testing.T) (*world, *trouble) {
	t.Helper()
	tr, url := newTrouble(t)
	w := newWorld(t, modes[0], url)
	t.Cleanup(func() { tr.begin(nil) }) // before the world is cleared
	return w, tr
}

// TestHooksThatFail lets the hooks answer all that Metacontroller may get to
// hear. Nothing is deleted for it, the parent's event says what is wrong, and all
// is well afterwards.
func TestHooksThatFail(t *testing.T) {
	w, tr := inTrouble(t)
	w.apply(modelBox(`image: "nginx:0", replicas: 2, ports: [{port: 80}]`))
	w.apply(podSet(`size: 2`))
	w.ready("modelbox/box", "podset/set")
	before := w.uids("deployments,services")
	_, offset := requests(t, 0)
	status := func(code int, body string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, body, code) }
	}
	for i, test := range []struct {
		name, event string
		fault       func(http.ResponseWriter, *http.Request)
	}{
		{"500", "the desired state could not be computed", status(500, "the desired state could not be computed")},
		{"503", "it is shutting down", status(503, "it is shutting down")},
		{"garbage", "invalid character", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>what?</html>") }},
		{"half a body", "EOF", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"status":{},"children":[`)
			panic(http.ErrAbortHandler)
		}},
		{"no answer in time", "deadline exceeded", func(_ http.ResponseWriter, r *http.Request) {
			// Only a server that has read the body sees its client go.
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}},
	} {
		tr.begin(test.fault)
		w.apply(modelBox(fmt.Sprintf(`image: "nginx:%d", replicas: 2, ports: [{port: 80}]`, i+1)))
		w.eventually(test.name+" is told", func() error {
			if tr.struck() == 0 {
				return fmt.Errorf("the hook has not been called")
			}
			events := w.kubectl("get", "events", "--field-selector=involvedObject.kind=ModelBox,involvedObject.name=box,type=Warning", "--output=jsonpath={.items[*].message}")
			if !strings.Contains(events, test.event) {
				return fmt.Errorf("no event has %q: %s", test.event, events)
			}
			return nil
		})
		tr.begin(nil)
		w.kubectl("annotate", "--overwrite", "modelbox/box", "example.com/touched="+fmt.Sprint(i))
		w.until("deployment", "box", fmt.Sprintf("nginx:%d", i+1), "spec", "template", "spec", "containers", 0, "image")
		w.ready("modelbox/box")
	}
	require.Equal(t, before, w.uids("deployments,services"))
	requireNoDeletes(t, offset)
}

func requireNoDeletes(t *testing.T, offset int64) {
	t.Helper()
	list, _ := requests(t, offset)
	for _, r := range writes(list) {
		require.NotEqual(t, "delete", r.Verb, "%s", r)
	}
}

// TestServerIsKilledInTheMiddleOfARoll ends the hooks without a warning, and
// starts them again.
func TestServerIsKilledInTheMiddleOfARoll(t *testing.T) {
	w := newWorld(t, modes[0], operetta.HookURL)
	set := func(image string) string {
		return podSet(`size: 20, template: {spec: {containers: [{name: main, image: "` + image + `"}]}}`)
	}
	w.apply(set("one"))
	w.ready("podset/set")
	w.apply(set("two"))
	w.eventually("the roll begins", func() error {
		updated, _ := at(w.get("podset", "set"), "status", "updatedReplicas").(float64)
		if updated < 1 || updated > 15 {
			return fmt.Errorf("%v Pods are updated", updated)
		}
		return nil
	})
	require.NoError(t, operetta.Kill(cluster.OperettaServer))
	_, offset := requests(t, 0)
	w.eventually("Metacontroller finds nobody", func() error {
		if events := w.kubectl("get", "events", "--field-selector=involvedObject.kind=PodSet,type=Warning", "--output=jsonpath={.items[*].message}"); !strings.Contains(events, "connection refused") {
			w.kubectl("annotate", "--overwrite", "podset/set", "example.com/touched="+fmt.Sprint(len(events)))
			return fmt.Errorf("the events say %q", events)
		}
		return nil
	})
	requireNoDeletes(t, offset)
	require.NoError(t, operetta.StartServer(t.Context()))
	w.kubectl("annotate", "--overwrite", "podset/set", "example.com/touched=again")
	w.until("podset", "set", 20, "status", "updatedReplicas")
	w.ready("podset/set")
	require.Len(t, w.uids("pods"), 20)
}

// TestMetacontrollerIsKilled changes the world while nobody looks.
func TestMetacontrollerIsKilled(t *testing.T) {
	for _, m := range modes[:2] {
		t.Run(m.String(), func(t *testing.T) {
			w := newWorld(t, m, operetta.HookURL)
			w.apply(modelBox(`image: "nginx:1", replicas: 1, ports: [{port: 80}]`))
			w.ready("modelbox/box")
			before := w.uids("deployments,services")
			require.NoError(t, operetta.Kill(cluster.Metacontroller))
			w.apply(modelBox(`image: "nginx:2", replicas: 2, ports: [{port: 80}]`))
			w.kubectl("delete", "service/box")
			require.NoError(t, operetta.StartMetacontroller(t.Context(), metacontroller, m.strategy))
			w.until("deployment", "box", "nginx:2", "spec", "template", "spec", "containers", 0, "image")
			w.until("modelbox", "box", "2/2", "status", "ready")
			w.ready("modelbox/box")
			after := w.uids("deployments,services")
			require.Equal(t, before["Deployment/box"], after["Deployment/box"])
			require.NotEmpty(t, after["Service/box"])
		})
	}
}

// TestAPIServerIsRestarted takes the API server away from everybody.
func TestAPIServerIsRestarted(t *testing.T) {
	w := newWorld(t, modes[0], operetta.HookURL)
	w.apply(modelBox(`image: "nginx:1", replicas: 1, ports: [{port: 80}]`))
	w.apply(smallProduct)
	w.ready("modelbox/box", "dataservice/small")
	before := w.uids("deployments,services,configmaps,pods")
	_, offset := requests(t, 0)
	require.NoError(t, operetta.RestartAPIServer(t.Context()))
	w.apply(modelBox(`image: "nginx:1", replicas: 2, ports: [{port: 80}]`))
	w.until("modelbox", "box", "2/2", "status", "ready")
	w.ready("modelbox/box", "dataservice/small")
	after := w.uids("deployments,services,configmaps,pods")
	for ref, uid := range before {
		require.Equal(t, uid, after[ref], ref)
	}
	requireNoDeletes(t, offset)
}

// TestUpgrade has children made by a build that asked for others, as their hashes
// say: the next one takes them over where they are, and restarts no Pod.
func TestUpgrade(t *testing.T) {
	w, tr := inTrouble(t)
	hash := regexp.MustCompile(`("operetta\.dev/hash":")[0-9a-f]+"`)
	tr.Lock()
	// Whatever else it knew, it did not ask for the very same objects.
	tr.edit = func(answer string) string { return hash.ReplaceAllString(answer, `${1}older"`) }
	tr.Unlock()
	w.apply(modelBox(`image: "nginx:1", replicas: 1, ports: [{port: 80}]`))
	w.apply(podSet(`size: 2`))
	w.apply(smallProduct)
	w.until("modelbox", "box", "1/1", "status", "ready")
	w.until("podset", "set", "2/2", "status", "ready")
	w.until("deployment", "eureka", 1, "status", "readyReplicas")
	w.settle()
	pods, others := w.uids("pods"), w.uids("deployments,services")
	require.Equal(t, "older", at(w.get("deployment", "box"), "metadata", "annotations", "operetta.dev/hash"))
	tr.Lock()
	tr.edit = nil
	tr.Unlock()
	for _, name := range []string{"modelbox/box", "podset/set", "dataservice/small"} {
		w.kubectl("annotate", name, "example.com/touched=1")
	}
	w.eventually("the newer build takes over", func() error {
		if is := at(w.get("deployment", "box"), "metadata", "annotations", "operetta.dev/hash"); is == "older" {
			return fmt.Errorf("the hash is still the old one")
		}
		return nil
	})
	w.ready("modelbox/box", "podset/set", "dataservice/small")
	now := w.uids("pods")
	for ref, uid := range pods {
		require.Equal(t, uid, now[ref], "%s was restarted", ref)
	}
	after := w.uids("deployments,services")
	for ref, uid := range others {
		require.Equal(t, uid, after[ref], ref)
	}
}
