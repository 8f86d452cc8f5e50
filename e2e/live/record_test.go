package live

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// requestsVariable names the environment variable with the folder that TestRequests writes to.
const requestsVariable = "OPERETTA_TEST_REQUESTS"

// TestRequests records what Metacontroller sends about samples that have converged, byte by
// byte: internal/bench measures with it. The PodSet has ten Pods.
func TestRequests(t *testing.T) {
	folder := os.Getenv(requestsVariable)
	if folder == "" {
		t.Skipf("%s is not set: it is the folder to record to", requestsVariable)
	}
	server, recorded := recordHooks(t)
	w := newWorld(t, startWith(t, modes[0], func() { require.NoError(t, operetta.Connect(server, "v2")) }))
	w.kubectl("apply", "--filename="+filepath.Join(root, "deploy/samples/seed/modelbox.yaml"), "--filename="+filepath.Join(root, "deploy/samples/dataservice.yaml"))
	w.apply(strings.Replace(read(t, filepath.Join(root, "deploy/samples/podset.yaml")), "size: 3", "size: 10", 1))
	w.ready("modelbox/modelbox-sample", "dataservice/dataservice-sample", "podset/cache")
	w.settle()
	last := map[string][]byte{}
	for _, call := range recorded() {
		last[call.path] = call.body
	}
	for _, kind := range []string{"modelbox", "dataservice", "podset"} {
		body := last["/"+kind+"/sync"]
		require.NotEmpty(t, body, kind)
		require.NoError(t, os.WriteFile(filepath.Join(folder, kind+".json"), append(body, '\n'), 0o600))
	}
}

// call is a request that a hook had.
type call struct {
	path string
	body []byte
}

// recordHooks returns the URL of a server in front of the hooks, and a function that returns the
// calls since it was called last.
func recordHooks(t *testing.T) (address string, recorded func() []call) {
	t.Helper()
	target, err := url.Parse(operetta.HookURL)
	require.NoError(t, err)
	var mu sync.Mutex
	var calls []call
	forward := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // its client has gone
		}
		mu.Lock()
		calls = append(calls, call{r.URL.Path, body})
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []call {
		mu.Lock()
		defer mu.Unlock()
		defer func() { calls = nil }()
		return calls
	}
}
