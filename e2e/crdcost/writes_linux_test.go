package crdcost

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/e2e/cluster"
	"github.com/operetta-dev/operetta/e2e/tools"
)

const (
	// plainGroup is prepended to the group of a CRD without rules, so that one API server has both.
	plainGroup = "plain."
	// writes is how many writes one measurement has, and writeRounds how many measurements. The medians count.
	writes      = 100
	writeRounds = 15
)

// written are the samples that are measured, and the field of each that spec writes change.
var written = []struct {
	kind   string
	sample string
	field  []string
	values [2]any
}{
	{"ModelBox", "modelbox", []string{"image"}, [2]any{"measured:1", "measured:2"}},
	{"ModelBox, large", "modelbox-sidecars", []string{"image"}, [2]any{"measured:1", "measured:2"}},
	{"DataService", "dataservice", []string{"web", "image"}, [2]any{"measured:1", "measured:2"}},
	{"Build", "build", []string{"image"}, [2]any{"measured:1", "measured:2"}},
	{"MyJob", "myjob", []string{"ttlSecondsAfterFinished"}, [2]any{int64(100), int64(200)}},
	{"PodSet", "podset", []string{"size"}, [2]any{int64(7), int64(8)}},
	{"Podbuggertool", "podbuggertool", []string{"image"}, [2]any{"measured:1", "measured:2"}},
}

// spent is what one write took: of the API server's processor, and for the client.
type spent struct{ processor, latency time.Duration }

// TestAWriteCostsAnAPIServerLittle compares writes of converged samples with those of the
// same objects by CRDs without rules. It asserts no speed.
func TestAWriteCostsAnAPIServerLittle(t *testing.T) {
	if os.Getenv(costVariable) == "" {
		t.Skipf("%s is not set", costVariable)
	}
	c, err := cluster.Start(t.Context(), cluster.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Stop()) }()
	whole, plain := t.TempDir(), t.TempDir()
	writeCRDs(t, whole, plain)
	moveToPlainGroups(t, plain)
	for _, args := range [][]string{{"create", "--filename=" + whole}, {"create", "--filename=" + plain}, {"wait", "--for=condition=Established", "--timeout=2m", "crd", "--all"}} {
		_, _, err := c.Kubectl(args...)
		require.NoError(t, err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	require.NoError(t, err)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	pid := c.PID(tools.KubeAPIServer.Name)

	for _, w := range written {
		object := converged(t, w.sample)
		settle(t, pid)
		both := [2]*writer{newWriter(t, client, pid, "", object), newWriter(t, client, pid, plainGroup, object)}
		for _, what := range []string{"status", "spec"} {
			var all [2][]spent
			for round := range writeRounds {
				for turn := range both {
					i := (turn + round) % 2
					all[i] = append(all[i], both[i].measure(what == "status", append([]string{"spec"}, w.field...), w.values))
				}
			}
			t.Log(compared(what+" write, "+w.kind, all[0], all[1]))
		}
	}
}

// compared is a line of the table. The ratio is that of measurements that follow each other.
func compared(what string, with, without []spent) string {
	middle := func(value func(round int) float64) float64 {
		var all []float64
		for round := range with {
			all = append(all, value(round))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	const milliseconds = float64(time.Millisecond)
	return fmt.Sprintf("writes: %-28s %5.2f ms of a processor, without rules %5.2f, %.2f times; after %5.2f ms, without rules %5.2f, %.2f times", what,
		middle(func(i int) float64 { return float64(with[i].processor) / milliseconds }),
		middle(func(i int) float64 { return float64(without[i].processor) / milliseconds }),
		middle(func(i int) float64 { return float64(with[i].processor) / float64(without[i].processor) }),
		middle(func(i int) float64 { return float64(with[i].latency) / milliseconds }),
		middle(func(i int) float64 { return float64(without[i].latency) / milliseconds }),
		middle(func(i int) float64 { return float64(with[i].latency) / float64(without[i].latency) }))
}

// moveToPlainGroups gives the CRDs of a folder other groups.
func moveToPlainGroups(t *testing.T, folder string) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var definition apiextensionsv1.CustomResourceDefinition
		require.NoError(t, yaml.UnmarshalStrict(text, &definition))
		definition.Spec.Group = plainGroup + definition.Spec.Group
		definition.Name = definition.Spec.Names.Plural + "." + definition.Spec.Group
		text, err = yaml.Marshal(definition)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
}

// converged returns a sample with the status that its hook has written in the end.
func converged(t *testing.T, sample string) map[string]any {
	file := "deploy/samples/" + sample + ".yaml"
	command := exec.CommandContext(t.Context(), "go", "run", "./cmd/operetta", "simulate", "--output=json", file)
	command.Dir = "../.."
	output, err := command.Output()
	require.NoError(t, err)
	var world struct{ Items []json.RawMessage }
	require.NoError(t, json.Unmarshal(output, &world))
	text, err := os.ReadFile(filepath.Join("../..", file))
	require.NoError(t, err)
	var wanted metav1.TypeMeta
	require.NoError(t, yaml.Unmarshal(text, &wanted))
	for _, text := range world.Items {
		var object unstructured.Unstructured
		require.NoError(t, object.UnmarshalJSON(text))
		if object.GroupVersionKind() == wanted.GroupVersionKind() {
			return object.Object
		}
	}
	require.Fail(t, "no object of the sample's kind", sample)
	return nil
}

// writer writes one object again and again.
type writer struct {
	*testing.T

	resource dynamic.ResourceInterface
	pid      int
	object   *unstructured.Unstructured
	count    int64
}

// newWriter creates an object, in another group if there is a prefix.
func newWriter(t *testing.T, client dynamic.Interface, pid int, prefix string, object map[string]any) *writer {
	created := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	kind := created.GroupVersionKind()
	kind.Group = prefix + kind.Group
	created.SetGroupVersionKind(kind)
	name := map[string]any{"name": created.GetName()}
	created.Object["metadata"] = name
	resource := client.Resource(plural(kind)).Namespace(metav1.NamespaceDefault)
	made, err := resource.Create(t.Context(), created, metav1.CreateOptions{})
	require.NoError(t, err)
	made.Object["status"] = runtime.DeepCopyJSONValue(object["status"])
	made, err = resource.UpdateStatus(t.Context(), made, metav1.UpdateOptions{})
	require.NoError(t, err)
	return &writer{T: t, resource: resource, pid: pid, object: made, count: 1 << 20} // no generation that a status has
}

// plural returns the resource of a kind of deploy/crds.
func plural(kind schema.GroupVersionKind) schema.GroupVersionResource {
	name := strings.ToLower(kind.Kind)
	if strings.HasSuffix(name, "x") {
		return kind.GroupVersion().WithResource(name + "es")
	}
	return kind.GroupVersion().WithResource(name + "s")
}

// measure writes the status, or a field to its values in turn.
func (w *writer) measure(status bool, field []string, values [2]any) spent {
	processor, began := used(w.T, w.pid), time.Now()
	for range writes {
		w.count++
		var subresources []string
		if status {
			subresources = []string{"status"}
			require.NoError(w, unstructured.SetNestedField(w.object.Object, w.count, "status", "observedGeneration"))
		} else {
			require.NoError(w, unstructured.SetNestedField(w.object.Object, values[w.count%2], field...))
		}
		before := w.object.GetResourceVersion()
		made, err := w.resource.Update(w.Context(), w.object, metav1.UpdateOptions{}, subresources...)
		require.NoError(w, err)
		require.NotEqual(w, before, made.GetResourceVersion(), "nothing was written")
		w.object = made
	}
	return spent{(used(w.T, w.pid) - processor) / writes, time.Since(began) / writes}
}
