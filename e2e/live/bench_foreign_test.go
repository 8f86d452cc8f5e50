package live

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// foreignEvents are as many as are measured, each so long after the one before that Metacontroller
// is done with that.
const (
	foreignEvents = 500
	foreignPause  = 40 * time.Millisecond
)

// neverFits are requests that no node has. A custom resource that is not Ready makes Metacontroller watch
// Pods, if the policy does not forbid it, as one does in most clusters.
var neverFits = map[string]any{"cpu": "5k"}

// wantedOfForeign are the milliseconds that an event of a foreign Pod may cost.
var wantedOfForeign = map[string]limits{
	always: {[]float64{4}, []float64{3}}, whileNotReady: {[]float64{0.5}, []float64{0.1}}, never: {[]float64{0.05}, []float64{0.02}},
}

const (
	foreignHeader = "what is there\twatchPods\tof one event\tbeyond Never\tof that for one object\twanted\tgoal\t"
	secondShard   = cluster.Metacontroller + "-shard-1"
)

// measureForeign measures what an event of a Pod of nobody costs Metacontroller while many ModelBoxes are
// Ready, by policy; and what it costs two shards.
func measureForeign(t *testing.T, count int) {
	serveWith(t, always)
	w := newWorld(t, start(t, modes[0], operetta.HookURL))
	foreign := newWorld(t, w.run)
	foreign.createPod()
	w.createBoxes(count)
	require.NoError(t, w.createBox(t.Context(), "waits", neverFits))
	w.within("all are Ready", w.pause(count), func() int { return count - w.countReady(modelBoxes) })

	costs := w.costs(foreign)
	rows := foreignRows(fmt.Sprintf("%d Ready ModelBoxes, 1 that is not", count), count, costs, wantedOfForeign)
	printed(t, table("\nProcessor time of Metacontroller for an event of a Pod that is no custom resource's", rows))

	shards := w.costOfShards(foreign, count)
	rows = []string{"Metacontroller\tof one event", fmt.Sprintf("without shards\t%.3f ms", costs[always])}
	for i, cost := range shards {
		rows = append(rows, fmt.Sprintf("shard %d, half of the ModelBoxes\t%.3f ms", i, cost))
	}
	rows = append(rows, fmt.Sprintf("both\t%.3f ms", shards[0]+shards[1]))
	printed(t, table("\nThe same with two shards, Always", rows))
	w.deleteAll(modelBoxes, count)
}

// watchPolicies are all of them.
var watchPolicies = []string{always, whileNotReady, never}

// costs returns what an event costs Metacontroller under each policy.
func (w *world) costs(foreign *world) map[string]float64 {
	w.Helper()
	costs := map[string]float64{}
	for _, policy := range watchPolicies {
		w.restart(policy)
		costs[policy] = foreign.cost(cluster.Metacontroller)[0]
	}
	return costs
}

// foreignRows are those of the table about some objects. Under Never Metacontroller still receives the
// events, for kinds that have Pods as children, but compares them with no rule.
func foreignRows(what string, count int, costs map[string]float64, wanted map[string]limits) []string {
	rows := []string{foreignHeader}
	for _, policy := range watchPolicies {
		cost, beyond := costs[policy], costs[policy]-costs[never]
		rows = append(rows, fmt.Sprintf("%s\t%s\t%.3f ms\t%.3f ms\t%.2f µs\t%s", what, policy, cost, beyond, beyond*1000/float64(count), wanted[policy].cells(cost)))
	}
	return rows
}

// measureBuilds measures the same while many Builds have finished.
func measureBuilds(t *testing.T, count int) {
	const builds = "builds.ci.zt.vapi.cc"
	serveWith(t, always)
	w := newWorld(t, start(t, modes[0], operetta.HookURL))
	foreign := newWorld(t, w.run)
	foreign.createPod()
	create := func(ctx context.Context, name string, requests map[string]any) error {
		spec := map[string]any{"image": "golang:1.26", "script": "go build .", "source": map[string]any{"git": map[string]any{"url": "https://github.com/golang/example", "revision": "master"}}}
		if requests != nil {
			spec["resources"] = map[string]any{"requests": requests}
		}
		return objects.Create(ctx, builds, w.ns, map[string]any{
			"apiVersion": "ci.zt.vapi.cc/v1", "kind": "Build", "metadata": map[string]any{"name": name}, "spec": spec,
		})
	}
	w.forEach(count, func(ctx context.Context, name string) error { return create(ctx, name, nil) })
	require.NoError(t, create(t.Context(), "waits", neverFits))
	w.within("all have finished", w.pause(count), func() int { return count - w.countReady(builds) })

	wanted := limits{[]float64{0.5}, []float64{0.1}}
	rows := foreignRows(fmt.Sprintf("%d finished Builds, 1 that is not", count), count, w.costs(foreign), map[string]limits{always: wanted, whileNotReady: wanted})
	printed(t, table("\nThe same with Builds", rows))
	w.deleteAll(builds, count)
}

// deleteAll deletes custom resources, and waits for their Pods.
func (w *world) deleteAll(kind string, count int) {
	w.Helper()
	require.NoError(w, objects.DeleteAll(w.Context(), kind, w.ns))
	w.within("all are deleted", w.pause(count), func() int { return len(w.list(kind, "")) + len(w.list("pods", "")) })
}

// createPod creates a Pod of nobody, and waits until it runs.
func (w *world) createPod() {
	w.Helper()
	w.apply(`{apiVersion: v1, kind: Pod, metadata: {name: foreign}, spec: {containers: [{name: main, image: nginx}]}}`)
	w.kubectl("wait", "--for=condition=Ready", "pod/foreign", "--timeout="+patience.String())
}

// restart starts the server with a policy, and Metacontroller, which asks for the rules again: it keeps
// them for twenty minutes.
func (w *world) restart(policy string) {
	w.Helper()
	require.NoError(w, operetta.End(cluster.Metacontroller))
	restartServer(w.T, policy)
	require.NoError(w, operetta.StartMetacontroller(w.Context(), metacontroller, w.mode.strategy))
	w.quiet(cluster.Metacontroller)
}

// quiet waits until programs do next to nothing.
func (w *world) quiet(programs ...string) {
	w.Helper()
	const look, most = 5 * time.Second, 100 * time.Millisecond
	time.Sleep(look)
	w.eventually("it is quiet", func() error {
		for i, used := range used(w.T, look, programs) {
			if used > most {
				return fmt.Errorf("%s had %s of %s", programs[i], used, look)
			}
		}
		return nil
	})
}

// used returns what programs have of the processors for some time.
func used(t *testing.T, during time.Duration, programs []string) (all []time.Duration) {
	t.Helper()
	before := processors(t, programs)
	time.Sleep(during)
	for i, after := range processors(t, programs) {
		all = append(all, after-before[i])
	}
	return all
}

// cost returns the milliseconds of a processor that programs have for each event of the foreign Pod, beyond
// what they have for as long without.
func (w *world) cost(programs ...string) (all []float64) {
	w.Helper()
	idle := used(w.T, foreignEvents*foreignPause, programs)
	before := processors(w.T, programs)
	tick := time.NewTicker(foreignPause)
	defer tick.Stop()
	for i := range foreignEvents {
		require.NoError(w, objects.Patch(w.Context(), "pods", w.ns, "foreign", fmt.Sprintf(`{"metadata":{"labels":{"event":"%d"}}}`, i)))
		<-tick.C
	}
	for i, after := range processors(w.T, programs) {
		w.Logf("%s: idle %s, with events %s", programs[i], idle[i], after-before[i])
		all = append(all, (after-before[i]-idle[i]).Seconds()*1000/foreignEvents)
	}
	return all
}

// costOfShards gives every other ModelBox to the second of two shards, and measures both.
func (w *world) costOfShards(foreign *world, count int) []float64 {
	w.Helper()
	require.NoError(w, operetta.End(cluster.Metacontroller))
	restartServer(w.T, always)
	w.forEach(count, func(ctx context.Context, name string) error {
		var i int
		if _, err := fmt.Sscanf(name, boxForm, &i); err != nil {
			return err
		}
		return objects.Patch(ctx, modelBoxes, w.ns, name, fmt.Sprintf(`{"metadata":{"labels":{"operetta.dev/shard":"%d"}}}`, i%2))
	})
	require.NoError(w, operetta.Connect(operetta.HookURL, "v2", "--shards=2"))
	programs := []string{cluster.Metacontroller, secondShard}
	sets := metacontrollers(w.T)
	for _, name := range programs {
		args := append(sets[name].Spec.Template.Spec.Containers[0].Args, "--leader-election-namespace=metacontroller", "--apply-strategy="+w.mode.strategy)
		require.NoError(w, operetta.StartMetacontrollerAs(w.Context(), name, metacontroller, nil, args...))
	}
	w.Cleanup(func() { // the first one ends with the test
		require.NoError(w, operetta.End(secondShard))
		kubectl(w.T, "", "delete", "compositecontrollers.metacontroller.k8s.io", "--selector=operetta.dev/shard=1")
	})
	w.quiet(programs...)
	return foreign.cost(programs...)
}
