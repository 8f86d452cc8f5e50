package compact_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/internal/compact"
	"github.com/operetta-dev/operetta/metacontroller"
)

// readPod is what the toy below reads of a Pod.
type readPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Status struct {
		Phase      string `json:"phase"`
		Conditions []struct {
			Type string `json:"type"`
		} `json:"conditions"`
	} `json:"status"`
}

func toy() metacontroller.Controller {
	return metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "toys/v1", Kind: "Toy", Plural: "toys"},
		Children: []metacontroller.Child{
			{Resource: metacontroller.Resource{APIVersion: "v1", Kind: "Pod", Plural: "pods"}, Update: metacontroller.OnDelete, Reads: reflect.TypeFor[readPod]()},
			{Resource: metacontroller.Resource{APIVersion: "batch/v1", Kind: "Job", Plural: "jobs"}, Update: metacontroller.OnDelete},
			{Resource: metacontroller.Resource{APIVersion: "apps/v1", Kind: "Deployment", Plural: "deployments"}, Update: metacontroller.InPlace},
			{Resource: metacontroller.Resource{APIVersion: "v1", Kind: "ConfigMap", Plural: "configmaps"}, Update: metacontroller.InPlace, Contested: true},
		},
	}
}

func read(t testing.TB, source io.Reader) string {
	t.Helper()
	out, err := io.ReadAll(compact.NewReader(source, toy()))
	require.NoError(t, err)
	return string(out)
}

const object = `{"apiVersion":"v1","kind":"K","metadata":{"name":"a\"}","namespace":"n","uid":"u","generation":3,"deletionTimestamp":null,` +
	`"labels":{"a":"b"},"managedFields":[{"fieldsV1":{"f:x":{"}":"]\\"}}}],` +
	`"annotations":{"operetta.dev/hash":"h","mine":"m","metacontroller.k8s.io/last-applied-configuration":"{\"a\":1}"}},` +
	`"spec":{"containers":[{"name":"c","env":[[{}]]}],"n":-1.5e3},"status":{"phase":"Running","observedGeneration":3,"conditions":[ {"type":"Ready","status":"True"}, {"type":"X"} ]}}`

func TestReaderLeavesWhatIsRead(t *testing.T) {
	request := `{"controller":` + object + `,"parent":` + object + `,"children":{"Pod.v1":{"n/a":` + object + `},"Job.batch/v1":{"n/a":` + object +
		`},"Deployment.apps/v1":{"n/a":` + object + `},"Undeclared.v1":{"n/a":` + object + `}},"related":{"Pod.v1":{"n/a":` + object + `}},"finalizing":false}`
	unmanaged := strings.NewReplacer(`"managedFields":[{"fieldsV1":{"f:x":{"}":"]\\"}}}]`, `"managedFields":[]`, `"{\"a\":1}"`, `""`).Replace(object)
	pod := strings.NewReplacer(`"mine":"m"`, `"mine":""`, `"spec":{"containers":[{"name":"c","env":[[{}]]}],"n":-1.5e3}`, `"spec":{}`,
		`"status":"True"`, `"status":""`).Replace(unmanaged)
	want := `{"controller":` + object + `,"parent":` + object + `,"children":{"Pod.v1":{"n/a":` + pod + `},"Job.batch/v1":{"n/a":` + unmanaged +
		`},"Deployment.apps/v1":{"n/a":` + object + `},"Undeclared.v1":{"n/a":` + object + `}},"related":{"Pod.v1":{"n/a":` + unmanaged + `}},"finalizing":false}`
	require.True(t, json.Valid([]byte(request)))
	require.Equal(t, want, read(t, strings.NewReader(request)))
	require.Equal(t, want, read(t, iotest.OneByteReader(strings.NewReader(request))))
	require.Equal(t, want, read(t, strings.NewReader(want)))

	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, []byte(request), "", " \t\r"))
	require.JSONEq(t, want, read(t, &indented))
}

// Types that decode one object in different ways.
type (
	Node struct {
		Spec struct {
			NodeName string `json:"nodeName"`
		} `json:"spec"`
	}
	Containers struct {
		Spec struct {
			Containers []struct {
				Name string `json:"name"`
			} `json:"containers"`
		} `json:"spec"`
	}
	Deeper    struct{ Node }
	deepFirst struct {
		Deeper
		Containers
	}
	deepLast struct {
		Containers
		Deeper
	}
	ambiguous struct {
		untagged
		Capital
	}
	Capital    struct{ Spec map[string]any }
	outerFirst struct {
		Spec map[string]any `json:"spec"`
		Node
	}
	outerLast struct {
		Node
		Spec map[string]any `json:"spec"`
	}
	untagged struct {
		Spec struct{ NodeName string }
	}
	tagged struct {
		Inner struct{ Containers []any } `json:"Spec"`
	}
	taggedOfOneDepth struct {
		untagged
		tagged
	}
	Map         map[string]any
	embeddedMap struct{ Map }
	inline      struct {
		Node `json:",inline"`
	}
	pointer struct{ *Node }
	array   struct {
		Spec struct{ Containers [1]map[string]any } `json:"spec"`
	}
	itself struct{ *itself }
	// A tree has itself in it in more than one way.
	tree struct {
		Spec struct{ Left, Right, Both *Tree }
	}
	Tree struct {
		Left, Right, Both *Tree
		All, Any          []Tree
		NodeName          string
		Containers        Names
	}
	listOfItself  []listOfItself
	listsOfItself struct{ List listOfItself }
	named         struct {
		Spec struct {
			Containers Names   `json:"containers"`
			List       **Names `json:"Containers"`
		} `json:"spec"`
	}
	// Names read other members than those of what they are made of.
	Names []struct{ X string }
)

// UnmarshalJSON implements [json.Unmarshaler].
func (n *Names) UnmarshalJSON(text []byte) error {
	var all []map[string]string
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, one := range all {
		*n = append(*n, struct{ X string }{fmt.Sprint(one)})
	}
	return nil
}

// TestReaderLeavesWhatATypeReads, whatever it embeds: encoding/json decides.
func TestReaderLeavesWhatATypeReads(t *testing.T) {
	const object = `{"apiVersion":"v1","kind":"Pod","spec":{"nodeName":"n","containers":[{"name":"c"},{"name":"d"}],"Containers":[{"a":"b"}]},
		"Spec":{"NodeName":"n","Containers":[{"name":"c"}]},"Map":{"x":"y"},"list":[{"Name":"c"}],"List":[[],[[]]]}`
	for _, reads := range []reflect.Type{
		reflect.TypeFor[deepFirst](), reflect.TypeFor[deepLast](), reflect.TypeFor[ambiguous](), reflect.TypeFor[outerFirst](), reflect.TypeFor[outerLast](),
		reflect.TypeFor[taggedOfOneDepth](), reflect.TypeFor[embeddedMap](), reflect.TypeFor[inline](), reflect.TypeFor[pointer](), reflect.TypeFor[array](),
		reflect.TypeFor[map[string]any](), reflect.TypeFor[any](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[*Node](), reflect.TypeFor[itself](),
		reflect.TypeFor[tree](), reflect.TypeFor[listsOfItself](), reflect.TypeFor[named](),
	} {
		controller := toy()
		controller.Children[0].Reads = reads
		out, err := io.ReadAll(compact.NewReader(strings.NewReader(`{"children":{"Pod.v1":{"n/a":`+object+`}}}`), controller))
		require.NoError(t, err, reads)
		var short struct {
			Children map[string]map[string]json.RawMessage `json:"children"`
		}
		require.NoError(t, json.Unmarshal(out, &short), reads)
		whole, compacted := reflect.New(reads), reflect.New(reads)
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(object), whole.Interface()))
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(short.Children["Pod.v1"]["n/a"], compacted.Interface()))
		if reads == reflect.TypeFor[json.RawMessage]() {
			require.JSONEq(t, object, string(short.Children["Pod.v1"]["n/a"]))
			continue
		}
		require.Equal(t, whole.Interface(), compacted.Interface(), reads)
	}
}

// TestReaderLeavesOutWhatATypeWithItselfInItDoesNotRead, at every level.
func TestReaderLeavesOutWhatATypeWithItselfInItDoesNotRead(t *testing.T) {
	controller := toy()
	controller.Children[0].Reads = reflect.TypeFor[tree]()
	const object = `{"Spec":{"Left":{"x":[1],"Right":{"x":[1],"All":[{"x":[1],"Both":{"x":[1],"NodeName":"n"}}]}}}}`
	out, err := io.ReadAll(compact.NewReader(strings.NewReader(`{"children":{"Pod.v1":{"n/a":`+object+`}}}`), controller))
	require.NoError(t, err)
	require.Equal(t, `{"children":{"Pod.v1":{"n/a":`+strings.ReplaceAll(object, "[1]", "[]")+`}}}`, string(out))
}

// TestReaderLeavesWhoControlsARelatedObject of a kind of which only that is read,
// and leaves a child of that kind whole.
func TestReaderLeavesWhoControlsARelatedObject(t *testing.T) {
	object := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"a":"b"},"deletionTimestamp":null,` +
		`"ownerReferences":[{"controller":true,"uid":"u"}],"managedFields":[1]},"data":{"password":"x"}}`
	little := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{},"deletionTimestamp":null,` +
		`"ownerReferences":[{"controller":true,"uid":"u"}],"managedFields":[]},"data":{}}`
	wrap := func(related string) string {
		return `{"children":{"ConfigMap.v1":{"n/a":` + object + `}},"related":{"ConfigMap.v1":{"n/a":` + related + `}}}`
	}
	require.Equal(t, wrap(little), read(t, strings.NewReader(wrap(object))))
}

func TestReaderReadsKeysAsADecoderDoes(t *testing.T) {
	wrap := func(pod string) string { return `{"children":{"Pod.v1":{"n/a":` + pod + `}}}` }
	for in, want := range map[string]string{
		`{"met\u0061data":{"n\u0061me":"a","managed\u0046ields":[1]}}`:             `{"met\u0061data":{"n\u0061me":"a","managed\u0046ields":[]}}`,
		`{"Metadata":{"name":"a"}}`:                                                `{"Metadata":{}}`,
		`{"metadata":{"managedFields":"x","name":{"a":[]}}}`:                       `{"metadata":{"managedFields":"","name":{"a":[]}}}`,
		`{"spec":7,"other":null,"status":[{"phase":[1],"x":[1]},[{"x":[1]}],"x"]}`: `{"spec":7,"other":null,"status":[{"phase":[1],"x":[]},[{"x":[1]}],"x"]}`,
	} {
		require.Equal(t, wrap(want), read(t, strings.NewReader(wrap(in))))
	}
}

// TestReaderMendsNothing shows that what is no JSON stays none, wherever it is
// damaged.
func TestReaderMendsNothing(t *testing.T) {
	request := `{"children":{"Pod.v1":{"n/a":` + object + `}},"related":{"Pod.v1":{"n/a":` + object + `}}}`
	for i := range request {
		for _, damage := range []string{request[:i], request[:i] + request[i+1:], request[:i] + "}" + request[i:], request[:i] + `"` + request[i:], request[:i] + "\x00" + request[i+1:]} {
			got := read(t, strings.NewReader(damage))
			require.Equal(t, json.Valid([]byte(damage)), json.Valid([]byte(got)), damage)
		}
	}
}

// TestManagedFieldsThatAreNestedTooDeep: an API server stores them, and a request with them
// could not be decoded.
func TestManagedFieldsThatAreNestedTooDeep(t *testing.T) {
	with := func(fields string) string {
		object := `{"metadata":{"name":"a","managedFields":` + fields + `}}`
		return `{"parent":` + object + `,"children":{"Pod.v1":{"n/a":` + object + `},"Deployment.apps/v1":{"n/a":` + object + `}},"related":{"Job.batch/v1":{"n/a":` + object + `}}}`
	}
	deep := with("[" + strings.Repeat(`{"f:a":`, 9996) + "{}" + strings.Repeat("}", 9996) + "]")
	require.False(t, json.Valid([]byte(deep)))
	require.NotContains(t, read(t, strings.NewReader(deep)), "f:a")
	require.True(t, json.Valid([]byte(read(t, strings.NewReader(deep)))))
	usual := with("[" + strings.Repeat(`{"f:a":`, 400) + "{}" + strings.Repeat("}", 400) + "]")
	require.Equal(t, 2*400, strings.Count(read(t, strings.NewReader(usual)), "f:a"), "those of the parent and of the Deployment")

	// So are those of what an object is to make.
	fields := strings.Repeat(`{"f:a":`, 9992) + "{}" + strings.Repeat("}", 9992)
	for _, spec := range []string{
		`{"template":{"metadata":{"managedFields":[` + fields + `]}}}`,
		`{"volumeClaimTemplates":[{"metadata":{"managedFields":[` + fields + `]}}]}`,
	} {
		object := `{"metadata":{"name":"a"},"spec":` + spec + `}`
		request := `{"children":{"Job.batch/v1":{"n/a":` + object + `},"Deployment.apps/v1":{"n/a":` + object + `}},"related":{"Pod.v1":{"n/a":` + object + `}}}`
		require.False(t, json.Valid([]byte(request)))
		require.True(t, json.Valid([]byte(read(t, strings.NewReader(request)))), spec[:40])
	}

	// What is too deep by itself is no JSON.
	deep = with(strings.Repeat("[", 10001) + strings.Repeat("]", 10001))
	require.Equal(t, deep, read(t, strings.NewReader(deep)))
}

func TestReaderHoldsLittle(t *testing.T) {
	large := `{"children":{"Pod.v1":{"n/a":{"spec":{"x":"` + strings.Repeat("x", 5<<20) + `"}}}}}`
	require.Equal(t, large, read(t, strings.NewReader(large)), "a value that is larger than any object is left as it is")

	key := `{"children":{"Pod.v1":{"n/a":{"` + strings.Repeat("k", 1<<20) + `":{"a":1}}}}}`
	require.Equal(t, key, read(t, strings.NewReader(key)))
}

// TestReaderHoldsFewLevels of a type with itself in it: no JSON has more than 10,000.
func TestReaderHoldsFewLevels(t *testing.T) {
	controller := toy()
	controller.Children[0].Reads = reflect.TypeFor[tree]()
	deep := `{"children":{"Pod.v1":{"n/a":{"Spec":` + strings.Repeat(`{"Left":`, 1_000_000)
	reader := compact.NewReader(strings.NewReader(deep), controller)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := io.Copy(io.Discard, reader)
	require.NoError(t, err)
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(1<<20)) //nolint:gosec // no heap is that large
	runtime.KeepAlive(reader)

	// So it is read whatever it has: it is refused later.
	out, err := io.ReadAll(compact.NewReader(strings.NewReader(deep), controller))
	require.NoError(t, err)
	require.Equal(t, deep, string(out))
}

func TestReaderHandsOnTheErrorOfItsSource(t *testing.T) {
	broken := errors.New("broken")
	source := io.MultiReader(strings.NewReader(`{"children":{"Pod.v1":{"n/a":{"spec":{"x":`), iotest.ErrReader(broken))
	out, err := io.ReadAll(compact.NewReader(source, toy()))
	require.ErrorIs(t, err, broken)
	require.Equal(t, `{"children":{"Pod.v1":{"n/a":{"spec":{"x":`, string(out))
}

// FuzzReader holds that a text is as valid afterwards as before and not longer,
// that the same is left of it however it comes, and nothing more to leave out.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"children":{"Pod.v1":{"n/a":` + object + `},"Job.batch/v1":{"n/a":` + object + `}},"related":{"Pod.v1":{"n/a":` + object + `}}}`))
	f.Add([]byte(`{"children":{"Pod.v1":[{"spec":["a"],"metadata":[[]]}]}}`))
	f.Add([]byte(`{"children":{"Pod.v1":{"":{"spec":"` + "\xff" + `"}}} } x`))
	f.Fuzz(func(t *testing.T, in []byte) {
		out := read(t, bytes.NewReader(in))
		require.Equal(t, json.Valid(in), json.Valid([]byte(out)))
		require.LessOrEqual(t, len(out), len(in))
		require.Equal(t, out, read(t, iotest.OneByteReader(bytes.NewReader(in))))
		if json.Valid(in) {
			require.Equal(t, out, read(t, strings.NewReader(out)))
		}
	})
}

func BenchmarkReader(b *testing.B) {
	var pods []string
	filler := strings.Repeat(`{"manager":"kubelet","operation":"Update","fieldsV1":{"f:status":{"f:conditions":{},"f:phase":{}}}},`, 130)
	for range 500 {
		pods = append(pods, `"n/a":`+strings.Replace(object, `"managedFields":[`, `"managedFields":[`+filler, 1))
	}
	request := `{"children":{"Pod.v1":{` + strings.Join(pods, ",") + `}}}`
	b.Run("validated alone", func(b *testing.B) {
		b.SetBytes(int64(len(request)))
		for b.Loop() {
			json.Valid([]byte(request))
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(int64(len(request)))
		b.ReportAllocs()
		for b.Loop() {
			_, _ = io.Copy(io.Discard, compact.NewReader(strings.NewReader(request), toy()))
		}
	})
}

// TestReaderLeavesLongNumbers: a request is refused for those in last-applied annotations.
func TestReaderLeavesLongNumbers(t *testing.T) {
	for digits, isLeft := range map[int]bool{50: false, 200: true, 100_000: true} {
		long := strings.ReplaceAll(object, `{\"a\":1}`, `{\"a\":1`+strings.Repeat("0", digits)+`}`)
		shortened := read(t, strings.NewReader(`{"parent":{},"children":{"Pod.v1":{"n/a":`+long+`}}}`))
		require.Equal(t, isLeft, strings.Contains(shortened, strings.Repeat("0", digits)), digits)
	}
}
