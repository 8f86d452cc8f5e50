package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// shardLabel is the label by which custom resources are divided.
const shardLabel = "operetta.dev/shard"

// callers passes the requests for hooks on, and notes which CompositeController asks for
// which custom resource.
type callers struct {
	mu    sync.Mutex
	found map[string][]string // the CompositeControllers by namespace/kind/name
}

func newCallers(t *testing.T) (*callers, string) {
	t.Helper()
	target, err := url.Parse(operetta.HookURL)
	require.NoError(t, err)
	c := &callers{found: map[string][]string{}}
	reverse := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // its client has gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		var request struct {
			Controller struct{ Metadata struct{ Name string } }
			Parent     struct {
				Kind     string
				Metadata struct{ Name, Namespace string }
			}
		}
		// Customize is asked by every Metacontroller about all parents.
		if json.Unmarshal(body, &request) == nil && !strings.HasSuffix(r.URL.Path, "/customize") {
			c.note(request.Parent.Metadata.Namespace+"/"+strings.ToLower(request.Parent.Kind)+"/"+request.Parent.Metadata.Name, request.Controller.Metadata.Name)
		}
		reverse.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return c, server.URL
}

func (c *callers) note(parent, controller string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.found[parent], controller) {
		c.found[parent] = append(c.found[parent], controller)
	}
}

// forget begins anew.
func (c *callers) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.found)
}

// of returns the CompositeControllers that have asked for a custom resource.
func (c *callers) of(w *world, parent string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.found[w.ns+"/"+parent])
}

// requireServed has each custom resource asked for by one shard only.
func (c *callers) requireServed(w *world, shards map[string]string) {
	w.Helper()
	for parent, suffix := range shards {
		kind, _, _ := strings.Cut(parent, "/")
		require.Equal(w, []string{"operetta-" + kind + suffix}, c.of(w, parent), parent)
	}
}

// metacontrollers returns those of the overlay by name, and applies the permissions that
// they have in addition.
func metacontrollers(t *testing.T) map[string]appsv1.StatefulSet {
	t.Helper()
	deploy := t.TempDir()
	require.NoError(t, cluster.CopyWithoutNetwork(root+"/deploy", deploy))
	rendered, _, err := operetta.Kubectl("kustomize", deploy+"/overlays/sharded/metacontroller")
	require.NoError(t, err)
	found := map[string]appsv1.StatefulSet{}
	for _, text := range strings.Split(rendered, "\n---\n") {
		var set appsv1.StatefulSet
		require.NoError(t, yaml.Unmarshal([]byte(text), &set))
		switch set.Kind {
		case "StatefulSet":
			found[set.Name] = set
		case "Role":
			kubectl(t, text, "apply", "--filename=-")
		}
	}
	require.Len(t, found, 2)
	return found
}

// TestShards divides the custom resources among two Metacontrollers, moves some from one
// to the other, and goes back to one. No child is lost on the way.
func TestShards(t *testing.T) {
	if metacontroller == "" {
		skipped.Add(1)
		t.Skip("metacontroller is not on the PATH")
	}
	for _, m := range modes[:2] {
		t.Run(m.String(), func(t *testing.T) { testShards(t, m) })
	}
}

func testShards(t *testing.T, m mode) {
	const first, second = cluster.Metacontroller, cluster.Metacontroller + "-shard-1"
	const product, suffix = "dataservice/small", "-shard-1"
	calls, hookURL := newCallers(t)
	var running []string
	programs := metacontrollers(t)
	begin := func(name string) {
		args := slices.Concat(programs[name].Spec.Template.Spec.Containers[0].Args,
			[]string{"--leader-election-namespace=metacontroller", "--apply-strategy=" + m.strategy})
		require.NoError(t, operetta.StartMetacontrollerAs(t.Context(), name, metacontroller, nil, args...))
		running = append(running, name)
	}
	end := func(name string) {
		running = slices.DeleteFunc(running, func(other string) bool { return other == name })
		require.NoError(t, operetta.End(name))
	}
	connect := func(shards string) {
		require.NoError(t, operetta.Connect(hookURL, m.hookVersion, "--shards="+shards))
	}

	// Without shards.
	connect("1")
	require.NoError(t, operetta.StartMetacontroller(t.Context(), metacontroller, m.strategy))
	running = append(running, first)
	t.Cleanup(func() {
		for _, name := range running {
			require.NoError(t, operetta.End(name))
		}
	})
	w := newWorld(t, &run{mode: m})
	set := func(name, label string) {
		w.apply(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: ` + name + `, labels: {` + label + `}}, spec: {size: 2}}`)
	}
	set("none", "")
	w.apply(smallProduct)
	w.ready("podset/none", product)
	before := w.uids(children)
	offset := auditEnd(w)

	// To two shards: all stays with the first.
	end(first)
	connect("2")
	calls.forget()
	for _, name := range []string{first, second} {
		begin(name)
	}
	set("zero", shardLabel+`: "0"`)
	set("one", shardLabel+`: "1"`)
	set("odd", shardLabel+`: "7"`)
	w.ready("podset/none", "podset/zero", "podset/one", "podset/odd", product)
	w.eventually("all are looked at", func() error {
		for _, name := range []string{"podset/none", product} {
			if len(calls.of(w, name)) == 0 {
				return fmt.Errorf("%s is not", name)
			}
		}
		return nil
	})
	w.settle()
	calls.requireServed(w, map[string]string{"podset/none": "", "podset/zero": "", "podset/one": suffix, "podset/odd": "", product: ""})
	w.requireFinalizer("operetta-dataservice")

	// Without the second, its custom resources wait, and only they.
	end(second)
	w.kubectl("scale", "podset/zero", "podset/one", "--replicas=3")
	w.until("podset", "zero", 3, "status", "replicas")
	w.settle()
	require.Nil(w, w.get("pod", "one-2"))
	begin(second)
	w.until("podset", "one", 3, "status", "replicas")

	// Two change places, and a third is given to the second.
	w.settle()
	for ref, uid := range w.uids(children) {
		require.True(w, before[ref] == "" || before[ref] == uid, ref)
		before[ref] = uid
	}
	moved := func(shards map[string]string) {
		w.Helper()
		w.requireFinalizer("operetta-dataservice" + shards[product])
		w.settle()
		calls.forget()
		w.touch(slices.Sorted(maps.Keys(shards)))
		w.settle()
		calls.requireServed(w, shards)
		require.Equal(w, before, w.uids(children))
	}
	move := func(shards map[string]string) {
		w.Helper()
		for name, suffix := range shards {
			label := strings.TrimPrefix(suffix, "-shard-")
			if label == "" {
				label = "0"
			}
			w.kubectl("label", "--overwrite", name, shardLabel+"="+label)
		}
		moved(shards)
	}
	move(map[string]string{"podset/zero": suffix, "podset/one": "", product: suffix})
	w.ready("podset/zero", "podset/one", product)

	// Back to one Metacontroller, as the documentation has it: nothing may be left to the
	// second, whose finalizer nobody else would remove.
	back := shown(t, "## Back to one Metacontroller")
	require.Len(t, back, 6)
	runShown(t, back[0])
	all := map[string]string{"podset/none": "", "podset/zero": "", "podset/one": "", "podset/odd": "", product: ""}
	moved(all)
	list, _ := w.requests(offset)
	for _, r := range list {
		require.NotEqual(w, "delete", r.Verb, r.String())
	}
	end(second)
	end(first)
	connect("1")
	runShown(t, back[4])
	left, _, err := operetta.Kubectl("get", "compositecontrollers.metacontroller.k8s.io", "--output=name")
	require.NoError(t, err)
	require.NotContains(t, left, suffix)
	require.Contains(t, left, "operetta-podset\n")
	require.NoError(t, operetta.StartMetacontroller(t.Context(), metacontroller, m.strategy))
	running = append(running, first)
	calls.forget()
	names := slices.Sorted(maps.Keys(all))
	w.touch(names)
	w.ready(names...)
	require.Equal(w, before, w.uids(children))
	w.clear()
}

// shown returns the commands below a headline of docs/operations.md.
func shown(t *testing.T, headline string) []string {
	t.Helper()
	_, section, found := strings.Cut(read(t, root+"/docs/operations.md"), "\n"+headline+"\n")
	require.True(t, found, headline)
	_, block, found := strings.Cut(section, "```sh\n")
	require.True(t, found, headline)
	block, _, _ = strings.Cut(block, "```")
	return strings.Split(strings.TrimSpace(block), "\n")
}

// runShown runs a kubectl command as it is shown.
func runShown(t *testing.T, command string) {
	t.Helper()
	command, _, _ = strings.Cut(command, " #")
	words := strings.Fields(command)
	require.Equal(t, "kubectl", words[0])
	kubectl(t, "", words[1:]...)
}

// requireFinalizer waits until the DataService has the finalizer of one CompositeController
// only.
func (w *world) requireFinalizer(controller string) {
	w.Helper()
	w.until("dataservice", "small", []any{"metacontroller.io/compositecontroller-" + controller}, "metadata", "finalizers")
}
