package dump_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/dump/dumptest"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/rawjson"
	"github.com/operetta-dev/operetta/metacontroller"
)

var direct = player.Direct(hooks.All()...)

// converged plays samples until nothing changes, and returns the World and the last sync request
// about a custom resource of each kind.
func converged(t *testing.T, apply player.Strategy, paths ...string) (*player.World, map[string][]byte) {
	t.Helper()
	last := map[string][]byte{}
	call := func(now time.Time, path string, body []byte) (int, []byte, error) {
		if strings.HasSuffix(path, "/sync") {
			parent, err := kube.ParseObject(rawjson.Lookup(body, "parent"))
			require.NoError(t, err)
			last[parent.GetKind()] = bytes.Clone(body)
		}
		return direct(now, path, body)
	}
	world := dumptest.Converged(t, player.Options{Controllers: hooks.All(), Simulation: invariants.All(), Call: call, Apply: apply}, paths...)
	require.True(t, world.Do(player.Action{Do: "restart"})) // Metacontroller asks for the rules of what is Ready
	require.NoError(t, world.Play())
	return world, last
}

func samples(t *testing.T) []string { t.Helper(); return dumptest.Samples(t, "../../..") }

func read(t *testing.T, text []byte) *dump.Dump {
	t.Helper()
	d, err := dump.Read(iotest.HalfReader(bytes.NewReader(text)))
	require.NoError(t, err)
	return d
}

// TestRequestsAreThoseOfMetacontroller compares each request with the last one of the World that the
// dump is of, and holds that nothing changes there.
func TestRequestsAreThoseOfMetacontroller(t *testing.T) {
	for _, apply := range []player.Strategy{player.DynamicApply, player.ServerSideApply} {
		for _, path := range samples(t) {
			t.Run(string(apply)+"/"+path, func(t *testing.T) {
				world, last := converged(t, apply, path)
				d := read(t, dumptest.List(t, world.Objects()))
				count := 0
				for r := range d.Requests(dump.Options{Controllers: hooks.All(), Call: direct, Apply: apply}) {
					count++
					require.NoError(t, r.Err)
					require.JSONEq(t, string(last[r.Parent.GetKind()]), string(r.Body))
					require.Empty(t, r.Changed())
					require.NotEmpty(t, r.Answer)
				}
				require.Equal(t, 1, count)
			})
		}
	}
}

// TestOrderAndFormChangeNothing reads the same objects shuffled, in several Lists, with an older one
// twice, and in YAML.
func TestOrderAndFormChangeNothing(t *testing.T) {
	world, _ := converged(t, player.DynamicApply, samples(t)...)
	objects := world.Objects()
	older := objects[0].DeepCopy()
	older.SetResourceVersion("9")
	objects[0] = objects[0].DeepCopy()
	objects[0].SetResourceVersion("10")
	older.SetLabels(map[string]string{"older": "true"})
	want := read(t, dumptest.List(t, objects))
	require.Equal(t, len(objects), want.Len())
	for range 5 {
		shuffled := append(slices.Clone(objects), older)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		cut := rand.N(len(shuffled))
		text := slices.Concat(dumptest.List(t, shuffled[:cut]), dumptest.List(t, shuffled[cut:]))
		got := read(t, text)
		require.Equal(t, want.All(), got.All())
		require.Equal(t, want.Digest(), got.Digest())
		require.Equal(t, want.Newest(), got.Newest())
		for _, ref := range want.All() {
			require.Equal(t, want.Get(ref), got.Get(ref))
		}
	}
	text, err := documents.ToYAML(dumptest.List(t, objects))
	require.NoError(t, err)
	require.Equal(t, want.Digest(), read(t, text).Digest())
}

func TestLooks(t *testing.T) {
	world, _ := converged(t, player.DynamicApply, "../../../deploy/samples/modelbox.yaml")
	d := read(t, dumptest.List(t, world.Objects()))
	var kinds []string
	for box := range d.Objects("model.github.com/v1", "ModelBox") {
		for object := range d.ByOwner(box.GetUID()) {
			kinds = append(kinds, object.GetKind())
		}
	}
	require.Equal(t, []string{"Deployment", "Service"}, kinds)
	require.True(t, d.Sees("v1", "Pod"))
	require.False(t, d.Sees("v1", "Secret"))
	d.Asked(metacontroller.Secret)
	require.True(t, d.Sees("v1", "Secret"))
	require.Equal(t, world.Now().Year(), d.Newest().Year())
}

// TestRequestsFillIn has what an API server would have, with the CRDs of this build.
func TestRequestsFillIn(t *testing.T) {
	world, _ := converged(t, player.DynamicApply, "../../../deploy/samples/podset-default.yaml", "../../../deploy/samples/modelbox.yaml")
	var objects []kube.Object
	uids := map[string]bool{}
	for _, object := range world.Objects() {
		object = object.DeepCopy()
		uids[string(object.GetUID())] = true
		if object.GetKind() == "PodSet" {
			unstructured.RemoveNestedField(object.Object, "spec", "progressDeadlineSeconds")
			require.NoError(t, unstructured.SetNestedField(object.Object, "x", "spec", "unheardOf"))
		}
		if object.GetKind() != "Service" {
			objects = append(objects, object)
		}
	}
	d := read(t, dumptest.List(t, objects))
	d.Asked(metacontroller.Service)
	for r := range d.Requests(dump.Options{Controllers: hooks.All(), Call: direct}) {
		require.NoError(t, r.Err)
		if r.Parent.GetKind() == "PodSet" {
			require.Contains(t, r.Parent.Object["spec"], "progressDeadlineSeconds")
			require.NotContains(t, r.Parent.Object["spec"], "unheardOf")
			continue
		}
		service := r.Server.Get(kube.Ref{APIVersion: "v1", Kind: "Service", Namespace: "default", Name: "sentiment"})
		require.False(t, uids[string(service.GetUID())], "a new object has a UID of its own")
	}
}

func TestStrategy(t *testing.T) {
	objects := map[player.Strategy][]kube.Object{}
	for _, apply := range []player.Strategy{player.DynamicApply, player.ServerSideApply} {
		world, _ := converged(t, apply, "../../../deploy/samples/modelbox.yaml")
		for _, object := range world.Objects() {
			objects[apply] = append(objects[apply], object.DeepCopy())
		}
		found, err := read(t, dumptest.List(t, objects[apply])).Strategy(hooks.All(), "")
		require.NoError(t, err)
		require.Equal(t, apply, found)
	}
	for _, object := range objects[player.ServerSideApply] { // as kubectl prints it without --show-managed-fields
		object.SetManagedFields(nil)
	}
	for _, wanted := range []player.Strategy{"", player.ServerSideApply} {
		_, err := read(t, dumptest.List(t, objects[player.ServerSideApply])).Strategy(hooks.All(), wanted)
		require.ErrorContains(t, err, "--show-managed-fields")
	}
}

func TestLargeDumpsArePacked(t *testing.T) {
	var text bytes.Buffer
	for i := range 40 {
		fmt.Fprintf(&text, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%02d"},"data":{"a":%q}}`, i, strings.Repeat("x", 1<<20))
	}
	d := read(t, text.Bytes())
	count := 0
	for object := range d.Objects("v1", "ConfigMap") {
		require.Equal(t, fmt.Sprintf("c%02d", count), object.GetName())
		require.Len(t, object.Object["data"].(map[string]any)["a"], 1<<20)
		count++
	}
	require.Equal(t, 40, count)
}

func TestMistakes(t *testing.T) {
	for text, message := range map[string]string{
		"":                                 "has no object: write kubectl get",
		`{"kind":"List","items":[]}`:       "has no object: write kubectl get",
		`{"kind":"List","items":[{"kind"`:  "is cut off after",
		`{"kind":"List","items":[1]}`:      "has no Kubernetes object as object 1",
		`{"kind":"List","items":[{}]}`:     "has no apiVersion, kind or metadata.name in object 1",
		`{"kind":"List","items":[,]}`:      "is not valid JSON at byte",
		`{"items":[]} 1`:                   "is neither a List nor an object",
		"NAME  READY\nweb   1/1\n":         "is neither",
		`{"kind":"Pod","apiVersion":"v1"}`: "has no apiVersion, kind or metadata.name in object 1",
	} {
		_, err := dump.Read(strings.NewReader(text))
		require.ErrorContains(t, err, message, text)
	}
}
