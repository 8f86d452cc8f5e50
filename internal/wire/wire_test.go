package wire

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func wireOf(t *testing.T, object any) string {
	t.Helper()
	wire, err := AppendObject(nil, object)
	require.NoError(t, err)
	return string(wire)
}

func TestWireFormHasNothingThatWasNotMeant(t *testing.T) {
	deployment := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Status:     appsv1.DeploymentStatus{Replicas: 3},
	}
	require.JSONEq(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}`, wireOf(t, deployment),
		"no strategy, selector, template or status that nobody wrote")
}

func TestWireFormKeepsEmptyObjectsThatWereMeant(t *testing.T) {
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{}, Annotations: map[string]string{"empty": ""}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name:            "main",
				Command:         []string{},
				SecurityContext: &corev1.SecurityContext{},
				Ports:           []corev1.ContainerPort{{ContainerPort: 80}},
			}},
			Volumes:                      []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
			AutomountServiceAccountToken: new(bool),
			Tolerations:                  []corev1.Toleration{{}},
		},
	}
	require.JSONEq(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","annotations":{"empty":""}},"spec":{
		"automountServiceAccountToken":false,
		"containers":[{"name":"main","ports":[{"containerPort":80}],"securityContext":{}}],
		"tolerations":[{}],
		"volumes":[{"name":"scratch","emptyDir":{}}]}}`, wireOf(t, pod))
}

func TestWireFormIsThatOfTheAPIServer(t *testing.T) {
	container := corev1.Container{
		Name: "main",
		Env:  []corev1.EnvVar{{Name: "EMPTY"}, {Name: "QUOTED", Value: "a \"b\"\n\\ ü <&>"}},
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
			"memory": resource.MustParse("2048Mi"), "cpu": resource.MustParse("1000m"),
		}},
		LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
			TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("http")},
		}},
	}
	set := &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			ServiceName: "db",
			Template:    corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Status:     corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
			}},
		},
	}
	require.JSONEq(t, `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db"},"spec":{"serviceName":"db",
		"template":{"spec":{"containers":[{"name":"main",
			"env":[{"name":"EMPTY"},{"name":"QUOTED","value":"a \"b\"\n\\ ü <&>"}],
			"livenessProbe":{"tcpSocket":{"port":"http"}},
			"resources":{"limits":{"cpu":"1","memory":"2Gi"}}}]}},
		"volumeClaimTemplates":[{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},"status":{"phase":"Pending"}}]}}`,
		wireOf(t, set), "volumeClaimTemplates are merged whole, so they keep the status that the server returns")
}

func TestWireFormIsInTheOrderOfNames(t *testing.T) {
	secret := &corev1.Secret{
		Data:     map[string][]byte{"b": []byte("two"), "a": {}},
		TypeMeta: metav1.TypeMeta{Kind: "Secret", APIVersion: "v1"},
	}
	secret.Name = "s"
	require.Equal(t, `{"apiVersion":"v1","data":{"a":"","b":"dHdv"},"kind":"Secret","metadata":{"name":"s"}}`, wireOf(t, secret))
}

func TestWireFormOfUnstructuredContent(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"kind": "X", "status": map[string]any{"a": int64(1)}, "nothing": nil,
		"list": []any{int64(1), 1.5, true, "x", map[string]any{}}, "empty": map[string]any{},
	}}
	require.Equal(t, `{"empty":{},"kind":"X","list":[1,1.5,true,"x",{}]}`, wireOf(t, object))

	object.Object["list"] = []any{nil}
	_, err := AppendObject(nil, object)
	require.ErrorContains(t, err, "[0] is null")
}

// Types of an author's status.
type (
	phase struct {
		Phase string `json:"phase,omitempty"`
	}
	Shared     struct{ Phase, Other string }
	outerFirst struct {
		Phase string `json:"phase"`
		phase
	}
	outerLast struct {
		phase
		Phase string `json:"phase"`
	}
	pointed struct {
		*Shared
		A string
	}
	pointedInline struct {
		*Shared `json:",inline"`
		A       string
	}
	named struct {
		Shared `json:"shared"`
	}
	shout string
	odd   struct {
		Address   netip.Addr   `json:"address"`
		Addresses []netip.Addr `json:"addresses"`
		Number    json.Number  `json:"number"`
		None      json.Number  `json:"none"`
		Any       any          `json:"any"`
		Left      string       `json:"-"`
		Shout     *shout       `json:"shout"`
		Shouts    []*shout     `json:"shouts"`
	}
	also    struct{ Phase string }
	hidden  struct{ *also }
	color   byte
	numbers struct {
		Float   float32
		Large   float32
		Three   [3]int
		Bytes   [2]byte
		Colors  []color
		Shouts  map[shout]int
		Pointer uintptr
	}
	options struct {
		Zero    time.Time `json:"zero,omitzero"`
		Count   int       `json:"count,omitnothing"`
		Other   string    `json:"é"`
		Dash    string    `json:"dash"`
		Generic generic[int]
	}
	generic[T any] struct{ Value T }
	// written write themselves.
	written struct {
		Level   level                   `json:"level"`
		Pointer *level                  `json:"pointer"`
		Shout   shout                   `json:"shout"`
		Time    struct{ metav1.Time }   `json:"time"`
		Times   []struct{ metav1.Time } `json:"times"`
		Raw     json.RawMessage         `json:"raw"`
		Values  apiextensionsv1.JSON    `json:"values"`
		Anys    map[string]any          `json:"anys"`
		Level7  level                   `json:"level7,omitzero"`
		Level8  level                   `json:"level8,omitzero"`
		Level9  *level                  `json:"level9,omitzero"`
		Level0  level                   `json:"level0,omitempty"`
		Empty   json.RawMessage         `json:"empty,omitempty"`
	}
	level int
)

// MarshalJSON gives a number a name.
func (c color) MarshalJSON() ([]byte, error) { return json.Marshal([]string{"red", "blue"}[c]) }

// MarshalJSON is a method of the pointer.
func (s *shout) MarshalJSON() ([]byte, error) { return json.Marshal(strings.ToUpper(string(*s))) }

// TestWireFormIsThatOfEncodingJSON where nothing is empty.
func TestWireFormIsThatOfEncodingJSON(t *testing.T) {
	for _, value := range []any{
		outerFirst{"outer", phase{"inner"}}, outerLast{phase{"inner"}, "outer"},
		pointed{&Shared{"inner", "o"}, "a"}, pointed{nil, "a"}, pointedInline{&Shared{"inner", "o"}, "a"}, named{Shared{"p", "o"}},
		odd{
			Address: netip.MustParseAddr("10.0.0.1"), Addresses: []netip.Addr{netip.MustParseAddr("fe80::1")}, Number: "1.50",
			Any: map[string]any{"n": json.Number("12345678901234567890"), "a": netip.MustParseAddr("10.0.0.2")}, Left: "l", Shout: new(shout("a")), Shouts: []*shout{new(shout("b"))},
		},
		hidden{&also{"p"}},
		numbers{0.1, 1e21, [3]int{1, 2, 3}, [2]byte{4, 5}, []color{1, 0}, map[shout]int{"s": 1}, 3},
		options{time.Time{}.In(time.FixedZone("", 3600)), 0, "b", "c", generic[int]{7}},
		map[string]string{"": "x", "a": "b"}, map[string]any{"": map[string]any{"": 1}},
		map[string]any{"pointers": []*[]color{{}}, "lists": [][]color{{}, {1}}},
		&written{
			Level: 1, Pointer: new(level(2)), Shout: "a", Raw: json.RawMessage(` {"a": [1, {"b": "}"}]} `), Values: apiextensionsv1.JSON{Raw: []byte(`"x"`)}, Empty: json.RawMessage{},
			Time: struct{ metav1.Time }{metav1.Unix(1, 0)}, Times: []struct{ metav1.Time }{{metav1.Unix(2, 0)}}, Anys: map[string]any{"r": json.RawMessage(`[1]`)}, Level7: 7, Level8: 8,
		},
	} {
		want, err := json.Marshal(value)
		require.NoError(t, err)
		got, err := AppendValue(nil, value)
		require.NoError(t, err)
		require.JSONEq(t, withoutNulls(t, want), string(got), "%T", value)
	}
	_, err := AppendValue(nil, odd{Number: "one"})
	require.ErrorContains(t, err, "number: ")
}

func (l level) MarshalJSON() ([]byte, error) { return json.Marshal(fmt.Sprint("L", int(l))) }

// IsZero is not that the number is 0.
func (l *level) IsZero() bool { return *l == 7 }

// withoutNulls removes the members that are null: nobody meant them.
func withoutNulls(t *testing.T, text []byte) string {
	var object map[string]any
	require.NoError(t, json.Unmarshal(text, &object))
	maps.DeleteFunc(object, func(_ string, value any) bool { return value == nil })
	text, err := json.Marshal(object)
	require.NoError(t, err)
	return string(text)
}

func TestWireFormRefusesWhatHasNone(t *testing.T) {
	for reason, value := range map[string]any{
		"has no form in JSON":    map[string]any{"c": make(chan int)},
		"keys of the type bool":  map[bool]string{true: "a"},
		"unsupported value: NaN": []float64{nan()},
		// Texts that would end what they are in, or nothing.
		"raw: a json.RawMessage is not one value in JSON": map[string]any{"raw": json.RawMessage(`1},{"kind":"Role"`)},
		"[0]: a v1.JSON is not one value in JSON":         []any{apiextensionsv1.JSON{Raw: []byte(`1,2`)}},
		"a runtime.RawExtension is not one value":         []runtime.RawExtension{{Raw: []byte(`{}}`)}},
		"[0]: a json.RawMessage is not one value":         []json.RawMessage{{}},
	} {
		_, err := AppendValue(nil, value)
		require.ErrorContains(t, err, reason)
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

// linked can lead back to itself.
type linked struct {
	Next *linked `json:"next,omitempty"`
}

// TestWhatLeadsBackToItselfIsAnError: a stack that overflows ends the process, whatever recovers.
func TestWhatLeadsBackToItselfIsAnError(t *testing.T) {
	ring, inMap, inList := &linked{}, map[string]any{}, make([]any, 1)
	ring.Next, inMap["self"], inList[0] = ring, inMap, inList
	var toItself any
	toItself = &toItself
	levels := func(n int) any {
		var value any = map[string]any{}
		for range n - 1 {
			value = map[string]any{"a": value}
		}
		return value
	}
	for name, value := range map[string]any{"a pointer": ring, "a map": inMap, "a list": inList, "an interface": &toItself, "too many levels": levels(mostNested/2 + 1)} {
		_, err := AppendValue(nil, value)
		require.ErrorIs(t, err, ErrNested, name)
		_, err = AppendObject(nil, &unstructured.Unstructured{Object: map[string]any{"data": value}})
		require.ErrorIs(t, err, ErrNested, name)
	}
	text, err := AppendValue(nil, levels(mostNested/2))
	require.NoError(t, err)
	require.True(t, json.Valid(text))

}

func TestErrorSaysWhere(t *testing.T) {
	_, err := AppendValue(nil, map[string]any{"a": []any{map[string]any{"b": []any{nil}}}})
	require.EqualError(t, err, "a: [0]: b: [0] is null")
}
