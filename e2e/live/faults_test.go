package live

import (
	"bytes"
	"errors"
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

// proxy stands between Metacontroller and the hooks. It passes all requests on,
// except those about a namespace whose test lets the hooks fail.
type proxy struct {
	mu     sync.Mutex
	faults map[string]*faults // by namespace
}

// faults are what the hooks do wrong for the custom resources of a namespace.
type faults struct {
	sync.Mutex

	fault func(w http.ResponseWriter, r *http.Request) // nil for none
	hits  int
}

func newProxy(t *testing.T) (*proxy, string) {
	t.Helper()
	target, err := url.Parse(operetta.HookURL)
	require.NoError(t, err)
	p := &proxy{faults: map[string]*faults{}}
	reverse := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault := p.of(r).strike(); fault != nil {
			fault(w, r)
			return
		}
		reverse.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return p, server.URL
}

// of returns the faults for a request, or nil.
func (p *proxy) of(r *http.Request) *faults {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil // its client has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.mu.Lock()
	defer p.mu.Unlock()
	for namespace, f := range p.faults {
		if bytes.Contains(body, []byte(`"namespace":"`+namespace+`"`)) {
			return f
		}
	}
	return nil
}

// strike returns what is to be done instead of asking the hook, or nil.
func (f *faults) strike() func(http.ResponseWriter, *http.Request) {
	if f == nil {
		return nil
	}
	f.Lock()
	defer f.Unlock()
	if f.fault != nil {
		f.hits++
	}
	return f.fault
}

func (f *faults) begin(fault func(http.ResponseWriter, *http.Request)) {
	f.Lock()
	defer f.Unlock()
	f.fault, f.hits = fault, 0
}

func (f *faults) struck() int {
	f.Lock()
	defer f.Unlock()
	return f.hits
}

// withFaults returns the faults of a test's own namespace.
func (w *world) withFaults() *faults {
	f := &faults{}
	w.hooks.mu.Lock()
	defer w.hooks.mu.Unlock()
	w.hooks.faults[w.ns] = f
	w.Cleanup(func() { f.begin(nil) }) // before the namespace is cleared
	return f
}

// testHooksThatFail replaces the hooks' answers by errors, invalid and incomplete ones, and
// by none. No child is deleted, an event of the parent names the error, and the next valid
// answer is applied.
func testHooksThatFail(w *world) {
	faults := w.withFaults()
	w.apply(modelBox(`image: "nginx:0", replicas: 2, ports: [{port: 80}]`))
	w.apply(podSet(`size: 2`))
	w.ready("modelbox/box", "podset/set")
	before := w.uids("deployments,services")
	offset := auditEnd(w)
	for i, test := range []struct {
		name, event string
		fault       func(http.ResponseWriter, *http.Request)
	}{
		{"500", "the desired state could not be computed", hookStatus(500, "the desired state could not be computed")},
		{"503", "it is shutting down", hookStatus(503, "it is shutting down")},
		{"garbage", "invalid character", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>what?</html>") }},
		{"half a body", "EOF", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"status":{},"children":[`)
			panic(http.ErrAbortHandler)
		}},
		{"no answer in time", "deadline exceeded", func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}},
	} {
		faults.begin(test.fault)
		w.apply(modelBox(fmt.Sprintf(`image: "nginx:%d", replicas: 2, ports: [{port: 80}]`, i+1)))
		w.eventually("an event names "+test.name, func() error {
			if faults.struck() == 0 {
				return fmt.Errorf("the hook has not been called")
			}
			events := w.kubectl("get", "events", "--field-selector=involvedObject.kind=ModelBox,involvedObject.name=box,type=Warning", "--output=jsonpath={.items[*].message}")
			if !strings.Contains(events, test.event) {
				return fmt.Errorf("no event has %q: %s", test.event, events)
			}
			return nil
		})
		faults.begin(nil)
		w.kubectl("annotate", "--overwrite", "modelbox/box", "example.com/touched="+fmt.Sprint(i))
		w.until("deployment", "box", fmt.Sprintf("nginx:%d", i+1), "spec", "template", "spec", "containers", 0, "image")
		w.ready("modelbox/box")
	}
	require.Equal(w, before, w.uids("deployments,services"))
	requireNoDeletes(w, offset)
}

// hookStatus answers with a status.
func hookStatus(code int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, body, code) }
}

func requireNoDeletes(w *world, offset int64) {
	w.Helper()
	list, _ := w.requests(offset)
	for _, r := range writes(list) {
		require.NotEqual(w, "delete", r.Verb, "%s", r)
	}
}

// testServerIsKilledInTheMiddleOfARoll kills the server during a rolling update, and
// starts it again.
func testServerIsKilledInTheMiddleOfARoll(w *world) {
	set := func(image string) string {
		return podSet(`size: 20, template: {spec: {containers: [{name: main, image: "` + image + `"}]}}`)
	}
	w.apply(set("one"))
	w.ready("podset/set")
	w.apply(set("two"))
	w.eventually("the rolling update has begun", func() error {
		updated, _ := at(w.get("podset", "set"), "status", "updatedReplicas").(int64)
		if updated < 1 || updated > 15 {
			return fmt.Errorf("%v Pods are updated", updated)
		}
		return nil
	})
	require.NoError(w, operetta.Kill(cluster.OperettaServer))
	offset := auditEnd(w)
	w.eventually("an event says that the connection was refused", func() error {
		if events := w.kubectl("get", "events", "--field-selector=involvedObject.kind=PodSet,type=Warning", "--output=jsonpath={.items[*].message}"); !strings.Contains(events, "connection refused") {
			w.kubectl("annotate", "--overwrite", "podset/set", "example.com/touched="+fmt.Sprint(len(events)))
			return fmt.Errorf("the events say %q", events)
		}
		return nil
	})
	requireNoDeletes(w, offset)
	require.NoError(w, operetta.StartServer(w.Context()))
	w.kubectl("annotate", "--overwrite", "podset/set", "example.com/touched=again")
	w.until("podset", "set", 20, "status", "updatedReplicas")
	w.ready("podset/set")
	require.Len(w, w.uids("pods"), 20)
}

// testMetacontrollerIsKilled changes objects while Metacontroller does not run.
func testMetacontrollerIsKilled(w *world) {
	w.apply(modelBox(`image: "nginx:1", replicas: 1, ports: [{port: 80}]`))
	w.ready("modelbox/box")
	before := w.uids("deployments,services")
	require.NoError(w, operetta.Kill(cluster.Metacontroller))
	w.apply(modelBox(`image: "nginx:2", replicas: 2, ports: [{port: 80}]`))
	w.kubectl("delete", "service/box")
	w.eventually("it is told", func() error {
		text := w.plugin("why", "modelbox/box")
		if !strings.Contains(text, "NotCalled: Metacontroller does not call its hook: nobody has observed generation 2") {
			return errors.New(text)
		}
		return nil
	})
	require.NoError(w, operetta.StartMetacontroller(w.Context(), metacontroller, w.mode.strategy))
	w.until("deployment", "box", "nginx:2", "spec", "template", "spec", "containers", 0, "image")
	w.until("modelbox", "box", "2/2", "status", "ready")
	w.ready("modelbox/box")
	after := w.uids("deployments,services")
	require.Equal(w, before["Deployment/box"], after["Deployment/box"])
	require.NotEmpty(w, after["Service/box"])
}
