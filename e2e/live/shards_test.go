package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

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
	const product, label, suffix = "dataservice/small", "operetta.dev/shard", "-shard-1"
	programs, running := metacontrollers(t), []string{first}
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
		require.NoError(t, operetta.Connect(operetta.HookURL, m.hookVersion, "--shards="+shards))
	}

	// Without shards.
	connect("1")
	require.NoError(t, operetta.StartMetacontroller(t.Context(), metacontroller, m.strategy))
	t.Cleanup(func() {
		for _, name := range running {
			require.NoError(t, operetta.End(name))
		}
	})
	w := newWorld(t, &run{mode: m})
	set := func(name, shard string) {
		w.apply(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: ` + name + `, labels: {` + label + `: "` + shard + `"}}, spec: {size: 2}}`)
	}
	w.apply(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: none}, spec: {size: 2}}`)
	w.apply(smallProduct)
	w.ready("podset/none", product)
	before := w.uids(children)
	offset := auditEnd(w)
	requireKept := func() {
		t.Helper()
		w.settle()
		now := w.uids(children)
		for ref, uid := range before {
			require.Equal(t, uid, now[ref], ref)
		}
		before = now
	}
	// Without the second, its custom resources wait, and only they.
	requireDivided := func(size, ofSecond string, ofFirst ...string) {
		t.Helper()
		end(second)
		for _, name := range append(ofFirst, ofSecond) {
			w.kubectl("scale", "podset/"+name, "--replicas="+size)
		}
		for _, name := range ofFirst {
			w.until("podset", name, size, "status", "replicas")
		}
		w.settle()
		require.NotEqual(t, size, fmt.Sprint(at(w.get("podset", ofSecond), "status", "replicas")))
		begin(second)
		w.until("podset", ofSecond, size, "status", "replicas")
		requireKept()
	}

	// To two shards: all stays with the first.
	end(first)
	connect("2")
	begin(first)
	begin(second)
	set("zero", "0")
	set("one", "1")
	set("odd", "7")
	w.ready("podset/none", "podset/zero", "podset/one", "podset/odd", product)
	requireDivided("3", "one", "none", "zero", "odd")
	w.requireFinalizer("operetta-dataservice")

	// Two change places, and a third is given to the second.
	w.kubectl("label", "--overwrite", "podset/zero", product, label+"=1")
	w.kubectl("label", "--overwrite", "podset/one", label+"=0")
	w.requireFinalizer("operetta-dataservice" + suffix)
	requireKept()
	requireDivided("4", "zero", "one")

	// Back to one Metacontroller, as the documentation has it: nothing may be left to the
	// second, whose finalizer nobody else would remove.
	back := shown(t, "## Back to one Metacontroller")
	require.Len(t, back, 6)
	runShown(t, back[0])
	w.requireFinalizer("operetta-dataservice")
	requireKept()
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
	names := []string{"podset/none", "podset/zero", "podset/one", "podset/odd", product}
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
