package metacontroller

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/processor"
)

// TestDecodedSizeIsNoLessThanWhatDecodingTakes, and not much more for an honest
// object, of which a small process has to decode thousands.
func TestDecodedSizeIsNoLessThanWhatDecodingTakes(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("it measures, and takes long: make cover")
	}
	repeated := func(text string) string { return "[" + strings.Repeat(text+",", 19_999) + text + "]" }
	var labels []string
	for i := range 20_000 {
		labels = append(labels, fmt.Sprintf(`"%d":""`, i))
	}
	for name, raw := range map[string]string{
		"conditions": `{"status":{"conditions":` + repeated("{}") + `}}`,
		"containers": `{"spec":{"containers":` + repeated("{}") + `}}`,
		"arguments":  `{"spec":{"containers":[{"args":` + repeated(`""`) + `}]}}`,
		"pointers":   `{"spec":{"containers":` + repeated(`{"securityContext":{},"livenessProbe":{}}`) + `}}`,
		"owners":     `{"metadata":{"ownerReferences":` + repeated("{}") + `}}`,
		"labels":     `{"metadata":{"labels":{` + strings.Join(labels, ",") + `}}}`,
		"quantities": `{"spec":{"overhead":{` + strings.ReplaceAll(strings.Join(labels, ","), `""`, `"1"`) + `}}}`,
		"unknown":    `{"x":{"y":` + repeated("{}") + `}}`,
		"deep":       `{"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`,
		"twice":      `{"metadata":{"finalizers":` + repeated(`""`) + `,"finalizers":` + repeated(`""`) + `}}`,
		"mixed":      `{"x":` + repeated(`{"a":[1,"b",null],"c":{"d":1.5}}`) + `}`,
		"numbers":    `{"x":` + repeated("300") + `}`,
	} {
		for _, into := range []any{new(corev1.Pod), new(map[string]any), new(any)} {
			_ = decode([]byte(raw), reflect.New(reflect.TypeOf(into).Elem()).Interface()) // the decoder learns the type
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_ = decode([]byte(raw), into)
			runtime.GC() // what is left is what is held
			runtime.ReadMemStats(&after)
			held := int64(after.HeapAlloc) - int64(before.HeapAlloc) //nolint:gosec // no heap is that large
			runtime.KeepAlive(into)
			require.Less(t, held, decodedSize([]byte(raw), reflect.TypeOf(into).Elem())+64<<10, "%s into %T", name, into)
		}
	}
}

// expression has itself in it, as who declares one writes it.
type expression struct {
	Not    *expression       `json:"not"`
	All    []expression      `json:"all"`
	Values []string          `json:"values"`
	Size   resource.Quantity `json:"size"`
}

// filter has itself in it, and a list of what is large.
type filter struct {
	Not  *filter          `json:"not"`
	Pods []corev1.PodSpec `json:"pods"`
}

// TestTextsOfATypeWithItselfInIt: thousands of levels take no time that grows with the
// product of levels and bytes, of which no deadline ends any, and no memory that is not
// reserved.
func TestTextsOfATypeWithItselfInIt(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("it measures, and takes long: make cover")
	}
	const levels = 9000
	nested := func(inner string) []byte {
		return []byte(strings.Repeat(`{"not":`, levels) + inner + strings.Repeat("}", levels))
	}
	for name, raw := range map[string][]byte{
		"a text":    nested(`{"values":["` + strings.Repeat(`\\`, 650<<10) + `"]}`),
		"a list":    nested(`{"values":[` + strings.Repeat(`"",`, 430_000) + `""]}`),
		"objects":   nested(`{"all":[` + strings.Repeat(`{},`, 20_000) + `{}]}`),
		"nulls":     nested(`{"all":[` + strings.Repeat(`null,`, 20_000) + `{}]}`),
		"by itself": nested("{}"),
	} {
		t.Run(name, func(t *testing.T) {
			var size int64
			took, err := processor.Time(func() {
				size = decodedSize(raw, reflect.TypeFor[expression]())
				require.NoError(t, checkQuantities(raw, reflect.TypeFor[expression]()))
			})
			require.NoError(t, err)
			require.Less(t, took, 10*time.Second) // a fraction of a second, and a minute where it goes by the product
			requireReserved(t, raw, new(expression), size)
		})
	}
	large := []byte(strings.Repeat(`{"not":`, 40) + `{"pods":[` + strings.Repeat(`{},`, 20_000) + `{}]}` + strings.Repeat("}", 40))
	requireReserved(t, large, new(filter), decodedSize(large, reflect.TypeFor[filter]()))
	require.ErrorContains(t, checkQuantities(nested(`{"size":"1e150000"}`), reflect.TypeFor[expression]()), "has a quantity or a time of more than 64 characters")
}

// reserving fails if a text that is decoded into a value holds more than is reserved.
func reserving[T any](t *testing.T, into *T, text string) {
	t.Helper()
	requireReserved(t, []byte(text), into, decodedSize([]byte(text), reflect.TypeFor[T]()))
}

// requireReserved fails if a text that is decoded into a value holds more than size.
func requireReserved[T any](t *testing.T, raw []byte, into *T, size int64) {
	t.Helper()
	_ = decode([]byte(`{}`), new(T)) // the decoder learns the type
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	require.NoError(t, decode(raw, into))
	runtime.GC()
	runtime.ReadMemStats(&after)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), size+64<<10) //nolint:gosec // no heap is that large
	runtime.KeepAlive(into)
}

// Spacious is large, and read from little text.
type Spacious struct {
	Unread [100]int64 `json:"-"`
	Text   string     `json:"text"`
}

type embedding struct{ *Spacious }

// Roomy is large, and its fields hold nothing but what the text says.
type Roomy struct {
	Unread [100]int64 `json:"-"`
	List   []string   `json:"list"`
	Empty  struct{}   `json:"empty"`
	Other  *string    `json:"other"`
}

type roomy struct{ *Roomy }

// Types with decoders of their own, as authors write them.
type (
	textOrTexts []string
	oneOrMany   []Spacious
	byName      map[string]Spacious
	unseen      struct{ list []Spacious }
	anything    struct{ value any }
	shorthand   struct{ long *Spacious } // a number stands for a struct
)

func (o *textOrTexts) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, (*[]string)(o)) }
func (o *oneOrMany) UnmarshalJSON(b []byte) error   { return json.Unmarshal(b, (*[]Spacious)(o)) }
func (o *byName) UnmarshalJSON(b []byte) error      { return json.Unmarshal(b, (*map[string]Spacious)(o)) }
func (o *unseen) UnmarshalJSON(b []byte) error      { return json.Unmarshal(b, &o.list) }
func (o *anything) UnmarshalJSON(b []byte) error    { return json.Unmarshal(b, &o.value) }
func (o *shorthand) UnmarshalJSON(b []byte) error {
	o.long = new(Spacious)
	return json.Unmarshal(b, &o.long.Unread[0])
}

// TestTypesOfAuthorsAreReserved: what Go allocates for a text may be in the type alone.
func TestTypesOfAuthorsAreReserved(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("it measures, and takes long: make cover")
	}
	list := func(entry string) string { return "[" + strings.Repeat(entry+",", 50_000) + entry + "]" }
	reserving(t, new([2][]corev1.PodSpec), "["+list("{}")+"]")
	reserving(t, new([]embedding), list(`{"text":""}`))
	reserving(t, new([]map[string]Spacious), list(`{"a":{}}`))
	reserving(t, new([]map[string][13]int64), list(`{"a":[]}`))
	reserving(t, new([]map[string]string), list(`{"a":""}`))
	reserving(t, new([]corev1.ResourceList), list(`{"a":"1"}`))
	reserving(t, new(map[string]map[string]bool), `{"a":{"":true}}`)
	reserving(t, new(apiextensionsv1.JSONSchemaProps), `{"items":`+list("{}")+`}`)
	reserving(t, new(apiextensionsv1.JSONSchemaProps), `{"dependencies":{"a":`+list(`""`)+`}}`)
	reserving(t, new(apiextensionsv1.JSONSchemaProps), `{"anyOf":`+list(`{"additionalProperties":{}}`)+`}`)
	for _, member := range []string{`"list":[]`, `"list":null`, `"empty":{}`, `"other":null`} {
		reserving(t, new([]roomy), list("{"+member+"}"))
	}
	reserving(t, new(textOrTexts), list(`""`))
	reserving(t, new(oneOrMany), list("{}"))
	reserving(t, new([]byName), list(`{"":{}}`))
	reserving(t, new(unseen), list("{}"))
	reserving(t, new(anything), list("{}"))
	reserving(t, new([]shorthand), list("1"))
	reserving(t, new([]metav1.Time), list(`"2026-01-01T00:00:00Z"`))
	reserving(t, new([]metav1.LabelSelector), list(`{"matchLabels":{"":""}}`))
}

// TestWhatIsWrittenInATextIsNoValue: the descriptions of a CustomResourceDefinition have commas.
func TestWhatIsWrittenInATextIsNoValue(t *testing.T) {
	of := func(description string) int64 {
		return decodedSize([]byte(`{"items":{"description":"`+description+`"}}`), reflect.TypeFor[apiextensionsv1.JSONSchemaProps]())
	}
	require.Equal(t, of(strings.Repeat(".", 1000)), of(strings.Repeat(",", 1000)))
}

// TestLongTextIsReservedForItsMessages: a message that quotes it is cut only when it is set.
func TestLongTextIsReservedForItsMessages(t *testing.T) {
	pod := func(length int) []byte {
		return []byte(`{"status":{"reason":"` + strings.Repeat("x", length) + `"}}`)
	}
	require.Equal(t, int64(1026), decodedSize(pod(1024), reflect.TypeFor[corev1.Pod]()))
	require.Greater(t, decodedSize(pod(1<<20), reflect.TypeFor[corev1.Pod]()), int64(4<<20))
}

// TestKeptChildrenAreReserved, and end the call if there is no memory for them.
func TestKeptChildrenAreReserved(t *testing.T) {
	var pods []string
	for i := range 2 * checkedObjects {
		pods = append(pods, observed("Pod", fmt.Sprintf("p-%d", i), ""))
	}
	costOf := func(kept int, limits Limits) error {
		_, err := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
			var result greetingResult
			for _, child := range seen.Children.All("v1", "Pod")[:kept] {
				result.Children = append(result.Children, Keep(child))
			}
			return result, nil
		}).CallContext(t.Context(), SyncHook, time.Now(), ask(false, "", strings.Join(pods, ",")), limits)
		return err
	}
	reserved := func(kept int) (sum int64) {
		require.NoError(t, costOf(kept, Limits{Reserve: func(n int64) error { sum += n; return nil }}))
		return sum
	}
	few := reserved(1)
	require.GreaterOrEqual(t, reserved(2*checkedObjects)-few, int64(2*checkedObjects*keptBytes))
	full := errors.New("full")
	sum := int64(0)
	require.ErrorIs(t, costOf(2*checkedObjects, Limits{Reserve: func(n int64) error {
		if sum += n; sum > few+keptBytes {
			return full
		}
		return nil
	}}), full)
}

// TestWhatIsDecodedIsReserved: a dense text costs many times its length, so that
// it is refused before it is decoded. Were it not, one request would end the
// process.
func TestWhatIsDecodedIsReserved(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("it measures, and takes long: make cover")
	}
	dense := func(text string) string { return "[" + strings.Repeat(text+",", 600_000) + text + "]" }
	pod := `"ns/z":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"z","namespace":"ns"},"status":{"conditions":` + dense("{}") + `}}`
	settings := observed("ConfigMap", "a", `,"x":`+dense("0"))
	parent := func(finalizing bool, old, now string) []byte {
		return []byte(strings.Replace(string(ask(finalizing, "", "")), old, now, 1))
	}
	keep := func(_ *greeting, seen Observed) (greetingResult, error) {
		var result greetingResult
		for _, child := range seen.Children.All("v1", "ConfigMap") {
			result.Children = append(result.Children, Keep(child))
		}
		return result, nil
	}
	list := func(_ *greeting, seen Observed) (greetingResult, error) {
		_, err := List[corev1.Pod](seen.Children, "v1", "Pod")
		return greetingResult{Status: map[string]any{}}, err
	}
	readable := func(_ *greeting, seen Observed) (greetingResult, error) {
		ListReadable[corev1.Pod](seen.Children, "v1", "Pod")
		return greetingResult{Status: map[string]any{}}, nil
	}
	get := func(_ *greeting, seen Observed) (greetingResult, error) {
		_, err := Get[corev1.Pod](seen.Children, "v1", "Pod", "z")
		return greetingResult{Status: map[string]any{}}, err
	}
	words := `"words":["` + strings.Repeat(`a","`, maxParentValues-100) + `a"]`
	for name, test := range map[string]struct {
		hook    func(*greeting, Observed) (greetingResult, error)
		request []byte
	}{
		"what is validated": {keep, parent(false, `"spec":{`, `"spec":{`+words+`,`)},
		// The damaged time makes that the whole cannot be decoded, and each part is tried.
		"the parts of a parent": {keep, []byte(strings.Replace(string(parent(true, `"uid":"u"`, `"uid":"u","creationTimestamp":"never"`)),
			`"old":true`, `"x":[`+strings.Repeat("0,", 25_000)+`0]`, 1))},
		"the second of a list": {list, ask(false, "", observed("Pod", "a", "")+","+pod)},
		"a readable one":       {readable, ask(true, "", observed("Pod", "a", "")+","+pod)},
		"one object":           {get, ask(false, "", pod)},
		"a kept child":         {keep, ask(false, settings, "")},
		"the managed fields":   {keep, parent(false, `"uid":"u"`, `"managedFields":`+dense("{}"))},
		"the owners":           {keep, parent(true, `"uid":"u"`, `"ownerReferences":`+dense("{}"))},
		"the finalizers":       {nil, parent(true, `"uid":"u"`, `"finalizers":`+dense("{}"))},
		"the status":           {keep, parent(false, `"old":true`, `"x":`+dense("0"))},
		"the default teardown": {nil, parent(true, `"old":true`, `"x":`+dense("0"))},
	} {
		controller := controllerOf(test.hook)
		if test.hook == nil {
			controller.Finalize = Hook{}
		}
		if name == "what is validated" {
			controller.CRD = crdBytes
			require.NoError(t, controller.LoadCRD())
		}
		hook := SyncHook
		if strings.Contains(string(test.request), `"finalizing":true`) {
			hook = FinalizeHook
		}
		full := errors.New("full")
		left := int64(4 << 20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := controller.CallContext(t.Context(), hook, time.Now(), test.request, Limits{Reserve: func(n int64) error {
			if left -= n; left < 0 {
				return full
			}
			return nil
		}})
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), name)
		if name != "the finalizers" { // of which nothing is decoded
			require.ErrorIs(t, err, full, name)
		}
	}
}

// TestNoObjectIsLargerThanTheAPIServerStores, in a teardown neither: nothing that
// exists is refused. Metacontroller writes each "<" of a child in six bytes.
func TestNoObjectIsLargerThanTheAPIServerStores(t *testing.T) {
	for _, finalizing := range []bool{false, true} {
		hook := map[bool]HookName{false: SyncHook, true: FinalizeHook}[finalizing]
		withChild := func(text string) []byte {
			return ask(finalizing, observed("ConfigMap", "a", `,"data":{"x":"`+text+`"}`), "")
		}
		for where, request := range map[string][]byte{
			"the parent has more than 3145728": []byte(strings.Replace(string(ask(finalizing, "", "")), "hello", strings.Repeat("x", maxObjectBytes), 1)),
			`"ns/a" has more than 16777216`:    withChild(strings.Repeat("x", maxObservedBytes)),
		} {
			_, err := controllerOf(many(0, 0)).Call(hook, time.Now(), request)
			require.True(t, IsRequestError(err))
			require.ErrorContains(t, err, where+" bytes, which no API server would store")
		}
		for _, character := range []string{"<", `"`, "\x01", "\u2028"} {
			escaped, err := json.Marshal(strings.Repeat(character, 1500<<10/len(character)))
			require.NoError(t, err)
			_, err = controllerOf(many(0, 0)).Call(hook, time.Now(), withChild(string(escaped[1:len(escaped)-1])))
			require.NoError(t, err, "%q, finalizing: %t", character, finalizing)
		}
	}
}
