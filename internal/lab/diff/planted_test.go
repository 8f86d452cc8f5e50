package diff

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/testenv"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/dump/dumptest"
	"github.com/operetta-dev/operetta/internal/lab/player"
)

// fleet returns the objects of a cluster with several converged samples.
func fleet(t testing.TB, apply player.Strategy) []kube.Object {
	t.Helper()
	const dir = "../../../deploy/samples/"
	var objects []kube.Object
	for _, object := range converged(t, apply, dir+"modelbox.yaml", dir+"modelbox-sidecars.yaml", dir+"podset.yaml", dir+"dataservice.yaml").Objects() {
		objects = append(objects, object.DeepCopy())
	}
	return objects
}

func find(t testing.TB, objects []kube.Object, name string) kube.Object {
	t.Helper()
	for _, object := range objects {
		if kube.RefOf(object).String() == name {
			return object
		}
	}
	require.Fail(t, "there is none", name)
	return nil
}

func set(t testing.TB, object kube.Object, value any, path ...string) {
	t.Helper()
	require.NoError(t, unstructured.SetNestedField(object.Object, value, path...))
}

// verdictsIn returns all verdicts as in Deployment/web rolls.
func verdictsIn(report *Report) (list []string) {
	for _, parent := range report.Parents {
		for _, o := range parent.Objects {
			list = append(list, o.String()+" "+string(o.Verdict))
		}
	}
	return list
}

// plants are changes that people make, each of one object.
var plants = []struct {
	verdict string
	plant   func(t *testing.T, objects []kube.Object) []kube.Object
}{
	{"Deployment/sentiment changed", func(t *testing.T, objects []kube.Object) []kube.Object {
		set(t, find(t, objects, "Deployment/sentiment"), int64(9), "spec", "replicas")
		return objects
	}},
	{"Service/sentiment created", func(t *testing.T, objects []kube.Object) []kube.Object {
		gone := find(t, objects, "Service/sentiment")
		return slices.DeleteFunc(objects, func(object kube.Object) bool { return object == gone })
	}},
	{"Deployment/translate rolls", func(t *testing.T, objects []kube.Object) []kube.Object {
		containers, _, err := unstructured.NestedSlice(find(t, objects, "Deployment/translate").Object, "spec", "template", "spec", "containers")
		require.NoError(t, err)
		containers[0].(map[string]any)["image"] = "evil"
		set(t, find(t, objects, "Deployment/translate"), containers, "spec", "template", "spec", "containers")
		return objects
	}},
	{"StatefulSet/mysql-dataservice changed", func(t *testing.T, objects []kube.Object) []kube.Object {
		set(t, find(t, objects, "StatefulSet/mysql-dataservice"), "another", "metadata", "labels", "app.kubernetes.io/name")
		return objects
	}},
	{"", func(t *testing.T, objects []kube.Object) []kube.Object { // a label of somebody else stays
		set(t, find(t, objects, "Service/translate"), "ours", "metadata", "labels", "team")
		return objects
	}},
	{"Pod/cache-1 created", func(t *testing.T, objects []kube.Object) []kube.Object {
		gone := find(t, objects, "Pod/cache-1")
		return slices.DeleteFunc(objects, func(object kube.Object) bool { return object == gone })
	}},
}

// TestPlantedChangesAreFound plants all subsets of the changes: each gives its verdict, and nothing
// else does.
func TestPlantedChangesAreFound(t *testing.T) {
	for _, apply := range strategies {
		whole := fleet(t, apply)
		for chosen := range 1 << len(plants) {
			if !testenv.Often(fmt.Sprint(apply, chosen), 5) {
				continue
			}
			objects := make([]kube.Object, len(whole))
			for i, object := range whole {
				objects[i] = object.DeepCopy()
			}
			var wanted []string
			for i, p := range plants {
				if chosen>>i&1 == 0 {
					continue
				}
				objects = p.plant(t, objects)
				if p.verdict != "" {
					wanted = append(wanted, p.verdict)
				}
			}
			report := compared(t, objects, Options{})
			require.ElementsMatch(t, wanted, verdictsIn(report), "%s %b", apply, chosen)
			require.Equal(t, len(wanted) > 0, report.Outcome() == Changes)
		}
	}
}

// edited returns a custom resource of some objects as a user edits it.
func edited(t testing.TB, objects []kube.Object, name string, value any, path ...string) Options {
	t.Helper()
	edit := find(t, objects, name).DeepCopy()
	set(t, edit, value, path...)
	return Options{Options: dump.Options{Edits: map[kube.Ref]kube.Object{kube.RefOf(edit): edit}}}
}

func TestVerdicts(t *testing.T) {
	for _, apply := range strategies {
		objects := fleet(t, apply)
		report := compared(t, objects, edited(t, objects, "ModelBox/sentiment", "another:v2", "spec", "image"))
		require.Equal(t, []string{"Deployment/sentiment rolls"}, verdictsIn(report))
		require.Equal(t, []Field{{Path: "spec.template.spec.containers[sentiment].image", Before: "nginx:1.27-alpine", After: "another:v2"}}, report.Parents[0].Objects[0].Fields)
		require.Contains(t, report.Parents[0].Ready, "Ready=True Available -> Ready=False")

		report = compared(t, objects, edited(t, objects, "PodSet/cache", int64(1), "spec", "size"))
		require.Len(t, verdictsIn(report), 2)
		require.Contains(t, verdictsIn(report)[0], "deleted")

		edit := edited(t, objects, "PodSet/cache", "another:v2", "spec", "template", "spec", "containers")
		for _, object := range edit.Edits {
			containers, _, err := unstructured.NestedSlice(find(t, objects, "PodSet/cache").Object, "spec", "template", "spec", "containers")
			require.NoError(t, err)
			containers[0].(map[string]any)["image"] = "another:v2"
			set(t, object, containers, "spec", "template", "spec", "containers")
		}
		report = compared(t, objects, edit)
		require.Equal(t, []string{"Pod/cache-2 recreated"}, verdictsIn(report), "one after the other")
		require.Contains(t, printed(t, report), "~ Pod/cache-2 recreated as cache-3\n")
		require.Contains(t, printed(t, report), "\n-     spec.containers[memcached].image: memcached:1.6\n+     spec.containers[memcached].image: another:v2\n~ status")
	}
}

// TestFormsOfTheClusterAreNoDifference: an API server of another version has written what is there.
func TestFormsOfTheClusterAreNoDifference(t *testing.T) {
	objects := fleet(t, player.DynamicApply)
	deployment := find(t, objects, "Deployment/sentiment")
	set(t, deployment, nil, "spec", "template", "metadata", "creationTimestamp")
	set(t, deployment, "of a newer version", "spec", "unheardOf")
	set(t, deployment, int64(9), "spec", "replicas")
	report := compared(t, objects, Options{})
	require.Equal(t, []string{"Deployment/sentiment changed"}, verdictsIn(report))
	require.Equal(t, []Field{{Path: "spec.replicas", Before: int64(9), After: int64(3)}}, report.Parents[0].Objects[0].Fields)
}

// TestRemovedFieldsGo, unless another manager has them under server-side apply, too.
func TestRemovedFieldsGo(t *testing.T) {
	const path = "spec.template.spec.initContainers[init-container].image"
	for _, apply := range strategies {
		objects := fleet(t, apply)
		edit := edited(t, objects, "ModelBox/translate", []any{}, "spec", "initContainers")
		text := printed(t, compared(t, objects, edit))
		require.Contains(t, text, "-     "+path+": busybox:1.37\n", apply)
		if apply == player.DynamicApply {
			continue
		}
		deployment := find(t, objects, "Deployment/translate")
		managed := deployment.GetManagedFields()
		fields := metav1.NewFieldsV1(`{"f:spec":{"f:template":{"f:spec":{"f:initContainers":{"k:{\"name\":\"init-container\"}":{".":{},"f:name":{},"f:image":{}}}}}}}`)
		deployment.SetManagedFields(append(managed, metav1.ManagedFieldsEntry{
			Manager: "kubectl-edit", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: fields,
		}))
		require.NotContains(t, printed(t, compared(t, objects, edit)), path)
	}
}

// TestTheStatusMayComeFirst: a Build notes the new revision in its status before it creates the Job.
func TestTheStatusMayComeFirst(t *testing.T) {
	for _, apply := range strategies {
		objects := converged(t, apply, "../../../deploy/samples/build.yaml").Objects()
		report := compared(t, objects, edited(t, objects, "Build/hello", "v2", "spec", "source", "git", "revision"))
		require.Len(t, verdictsIn(report), 1, printed(t, report))
		require.Regexp(t, `^Job/hello-[0-9a-f]+ created$`, verdictsIn(report)[0])
	}
}

func TestRefusals(t *testing.T) {
	objects := fleet(t, player.DynamicApply)
	// The name that the new child would have is taken.
	taken := find(t, objects, "Service/sentiment")
	set(t, taken, []any{}, "metadata", "ownerReferences")
	set(t, taken, map[string]any{}, "metadata", "labels")
	// An immutable field differs from what the hook asks for.
	set(t, find(t, objects, "StatefulSet/mysql-dataservice"), "another", "spec", "serviceName")
	// A rule of the CRD that was not there before refuses what is stored.
	set(t, find(t, objects, "PodSet/cache"), int64(-1), "spec", "size")
	report := compared(t, objects, Options{})
	require.Equal(t, Refusals, report.Outcome())
	require.ElementsMatch(t, []string{"Service/sentiment refused", "StatefulSet/mysql-dataservice refused"}, verdictsIn(report), "each once")
	text := printed(t, report)
	require.Contains(t, text, "! Service/sentiment refused: an object of this name exists, and belongs to nobody")
	require.Contains(t, text, "! StatefulSet/mysql-dataservice refused: ")
	require.Contains(t, text, "updates to statefulset spec for fields other than")
	require.Contains(t, text, "! refused: the API server would refuse this PodSet: spec.size")
}

func TestBaseTellsDriftApart(t *testing.T) {
	objects := fleet(t, player.DynamicApply)
	set(t, find(t, objects, "Deployment/sentiment"), int64(9), "spec", "replicas")
	set(t, find(t, objects, "Deployment/translate"), int64(9), "spec", "replicas")
	base, err := ParseReport(dumptest.JSON(t, compared(t, objects, Options{})))
	require.NoError(t, err)

	again := compared(t, objects, Options{})
	require.NoError(t, again.MarkDrift(base))
	require.Equal(t, Nothing, again.Outcome(), printed(t, again))
	require.Contains(t, printed(t, again), "0 of 4 custom resources would change; 2 differences as the base says, too")

	report := compared(t, objects, edited(t, objects, "ModelBox/sentiment", "another:v2", "spec", "image"))
	require.NoError(t, report.MarkDrift(base))
	require.Equal(t, Changes, report.Outcome())
	var text bytes.Buffer
	report.PrintObjects(&text)
	require.Contains(t, text.String(), "Deployment/sentiment rolls")
	require.NotContains(t, text.String(), "spec.replicas")
	require.NotContains(t, text.String(), "translate")

	// What the base rolls does not roll for another change.
	label := []string{"spec", "template", "metadata", "labels", "app.kubernetes.io/part-of"}
	set(t, find(t, objects, "Deployment/sentiment"), "another", label...)
	base, err = ParseReport(dumptest.JSON(t, compared(t, objects, Options{})))
	require.NoError(t, err)
	require.Contains(t, verdictsIn(base), "Deployment/sentiment rolls")
	report = compared(t, objects, edited(t, objects, "ModelBox/sentiment", int64(5), "spec", "replicas"))
	require.NoError(t, report.MarkDrift(base))
	require.Contains(t, verdictsIn(report), "Deployment/sentiment changed")

	hidden := Field{Path: "data.a", Before: Hidden, After: Hidden}
	require.False(t, isSame(hidden, hidden), "the values may differ")

	set(t, find(t, objects, "Deployment/sentiment"), int64(8), "spec", "replicas")
	require.ErrorContains(t, compared(t, objects, Options{}).MarkDrift(base), "another dump")
	_, err = ParseReport([]byte(`{"items": []}`))
	require.ErrorContains(t, err, "is no report")
}

func TestWhatIsNotSeenIsNotCreated(t *testing.T) {
	objects := slices.DeleteFunc(fleet(t, player.DynamicApply), func(object kube.Object) bool { return object.GetKind() == "Deployment" })
	report := compared(t, objects, Options{})
	require.Equal(t, Incomplete, report.Outcome())
	text := printed(t, report)
	require.Contains(t, text, "? Deployment/sentiment not seen")
	require.NotContains(t, text, "created")
	require.NotContains(t, text, "status:", "it would be a guess")

	objects = slices.DeleteFunc(fleet(t, player.DynamicApply), func(object kube.Object) bool { return object.GetKind() == "Pod" })
	report = compared(t, objects, Options{})
	require.Equal(t, Incomplete, report.Outcome())
	require.Contains(t, printed(t, report), "? not compared: its operator reads Pod.v1, and the dump has none")

	for _, object := range objects { // as under a quota: its workload says that there is none
		if object.GetKind() == "Deployment" {
			unstructured.RemoveNestedField(object.Object, "status", "replicas")
		}
	}
	for _, parent := range compared(t, objects, Options{}).Parents {
		require.Equal(t, parent.Kind == "DataService", len(parent.NotCompared) > 0, parent.Name)
	}
}

func TestIgnoredPaths(t *testing.T) {
	objects := fleet(t, player.DynamicApply)
	for path, isIgnored := range map[string]bool{
		"spec.template.spec.containers[].image":          true,
		"spec.template.spec.containers[sentiment].image": true,
		"spec.template": true,
		"spec.template.spec.containers[other].image":  false,
		"spec.template.spec.containers[].imagePullPo": false,
		"spec.temp": false,
	} {
		options := edited(t, objects, "ModelBox/sentiment", "another:v2", "spec", "image")
		options.Ignored = []string{path, "status"}
		require.Equal(t, isIgnored, compared(t, objects, options).Outcome() == Nothing, path)
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	objects := fleet(t, player.DynamicApply)
	for _, p := range plants {
		objects = p.plant(t, objects)
	}
	want := printed(t, compared(t, objects, Options{}))
	for range 5 {
		rand.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		require.Equal(t, want, printed(t, compared(t, objects, Options{})))
	}
}

// TestMarkdownHasABound: what has no room is counted.
func TestMarkdownHasABound(t *testing.T) {
	report := &Report{Dump: "x", Compared: 5000}
	for i := range 5000 {
		ref := kube.Ref{APIVersion: "model.github.com/v1", Kind: "ModelBox", Namespace: "default", Name: fmt.Sprint("web-", i)}
		fields := []Field{{Path: "metadata.annotations." + strings.Repeat("é|`", rand.N(300)), Before: strings.Repeat("\x1b", 2000)}}
		report.Parents = append(report.Parents, Parent{Ref: ref, Objects: []Object{{Ref: ref, Verdict: []Verdict{Rolls, Changed, Deleted}[i%3], Fields: fields}}})
	}
	for i := range mostPaths {
		report.Parents[i].Objects[0].Fields[0].Path = strings.Repeat("x", 10_000+i)
	}
	var b bytes.Buffer
	require.NoError(t, report.PrintMarkdown(&b))
	require.Less(t, b.Len(), MaxMarkdown)
	require.Regexp(t, `\n[0-9]{4} custom resources left out`, b.String())
	require.Equal(t, 2, strings.Count(b.String(), "```"))
	require.NotContains(t, b.String(), "\x1b")
}

// TestSecretsAreNotPrinted plants a value wherever a Secret may have it, in a Secret that a hook owns.
func TestSecretsAreNotPrinted(t *testing.T) {
	const planted = "hunter2-planted"
	encoded := base64.StdEncoding.EncodeToString([]byte(planted))
	for _, another := range []string{"", encoded} {
		secret := func(value string) kube.Object {
			text, err := json.Marshal(map[string]any{"data": map[string]any{"password": value}})
			require.NoError(t, err)
			return &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": map[string]any{"password": value}, "stringData": map[string]any{"password": planted + value},
				"metadata": map[string]any{"name": "s", "namespace": "default", "labels": map[string]any{"a": "b"}, "annotations": map[string]any{
					"kubectl.kubernetes.io/last-applied-configuration": string(text),
					"metacontroller.k8s.io/last-applied-configuration": string(text), "other": planted + value,
				}},
			}}
		}
		before, after := secret(another), secret(encoded+"AAAA")
		set(t, after, "c", "metadata", "labels", "a")
		fields := fieldsOf(before, after, nil)
		ref := kube.RefOf(after)
		text := printed(t, &Report{Parents: []Parent{{Ref: ref, Objects: []Object{{Ref: ref, Verdict: Changed, Fields: fields}}}}})
		require.NotContains(t, text, planted)
		require.NotContains(t, text, encoded)
		require.Contains(t, text, "data.password: "+Hidden)
		require.Contains(t, text, "metadata.labels.a: c")
	}
}
