package metacontroller

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// contesting returns an operator whose hook asks for two ConfigMaps, and tells what
// it has found.
func contesting(found *Difference) Controller {
	c := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
		children := []Object{configMap("a"), configMap("b")}
		diff, err := seen.Compare(children)
		*found = diff
		return greetingResult{Children: children, Status: map[string]any{}}, err
	})
	c.Children[0].SharedName = true
	return c
}

// askBeside returns a request with ConfigMaps among the children and among the
// related objects.
func askBeside(children, related string) []byte {
	return []byte(strings.Replace(string(ask(false, children, "")), `"related":{}`, `"related":{"ConfigMap.v1":{`+related+`}}`, 1))
}

// controlledBy is what metadata has beside the name.
func controlledBy(uid, kind, name string) string {
	return fmt.Sprintf(`,"ownerReferences":[{"uid":"x","kind":"Other","name":"x"},{"apiVersion":"example.com/v1","kind":%q,"name":%q,"uid":%q,"controller":true}]`, kind, name, uid)
}

// TestNamesOfAnotherController holds what is asked for where the request shows an
// object of a child's name, and what is said of it.
func TestNamesOfAnotherController(t *testing.T) {
	other := controlledBy("v", "Greeting", "other")
	for name, test := range map[string]struct {
		children, related string
		isLeft            bool   // out of the answer
		by                string // who has it, if that is to be said
	}{
		"nothing is known":              {},
		"another's":                     {related: observed("ConfigMap", "a", other), isLeft: true, by: "Greeting/other"},
		"another's, seen as our child":  {children: observed("ConfigMap", "a", ""), related: observed("ConfigMap", "a", other)},
		"another's, that is going":      {related: observed("ConfigMap", "a", other+`,"deletionTimestamp":"2026-01-01T00:00:00Z"`), isLeft: true},
		"a former parent's":             {related: observed("ConfigMap", "a", controlledBy("v", "Greeting", "hi")), isLeft: true},
		"ours, not yet among children":  {related: observed("ConfigMap", "a", controlledBy("u", "Greeting", "hi"))},
		"nobody's":                      {related: observed("ConfigMap", "a", "")},
		"owned, but not controlled":     {related: observed("ConfigMap", "a", `,"ownerReferences":[{"uid":"v","kind":"A","name":"a","controller":false}]`)},
		"in another namespace":          {related: strings.ReplaceAll(observed("ConfigMap", "a", other), `"ns"`, `"elsewhere"`)},
		"of another name":               {related: observed("ConfigMap", "c", other)},
		"with a kind that is a text":    {related: observed("ConfigMap", "a", controlledBy("v", "<b> \n", "other")), isLeft: true, by: "another controller"},
		"with a name that is a text":    {related: observed("ConfigMap", "a", controlledBy("v", "Greeting", "a b")), isLeft: true, by: "another controller"},
		"with damaged owner references": {related: observed("ConfigMap", "a", `,"ownerReferences":{"controller":true}`)},
		"with a damaged controller":     {related: observed("ConfigMap", "a", `,"ownerReferences":[7,{"controller":"true","uid":"v"}]`)},
		"with a controller without UID": {related: observed("ConfigMap", "a", `,"ownerReferences":[{"controller":true,"uid":7,"kind":[],"name":{}}]`), isLeft: true, by: "another controller"},
	} {
		t.Run(name, func(t *testing.T) {
			var diff Difference
			answer, err := contesting(&diff).Call(SyncHook, noon, askBeside(test.children, test.related))
			require.NoError(t, err)
			wanted := []string{"a", "b"}
			if test.isLeft {
				wanted = []string{"b"}
			}
			var got []string
			for _, child := range answer.Children {
				got = append(got, child.Name)
			}
			require.Equal(t, wanted, got)
			require.True(t, json.Valid(answer.Body))
			require.Equal(t, len(wanted), strings.Count(string(answer.Body), `"kind":"ConfigMap"`))
			if test.children == "" {
				require.Equal(t, []string{"ConfigMap/a", "ConfigMap/b"}, diff.Missing, "it counts as missing whatever the reason")
			}
			if test.by == "" {
				require.Empty(t, diff.Conflicts)
				return
			}
			require.Equal(t, []Conflict{{Ref: "ConfigMap/a", By: test.by}}, diff.Conflicts)
		})
	}
}

// TestTheServiceOfTheAPIServerIsNeverTakenOver: it has no owner, so that server-side apply would
// give it to a custom resource of its name.
func TestTheServiceOfTheAPIServerIsNeverTakenOver(t *testing.T) {
	service := func(name string) Object {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	for namespace, want := range map[string]int{"default": 1, "ns": 2} {
		var diff Difference
		c := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
			children := []Object{service("kubernetes"), service("web")}
			var err error
			diff, err = seen.Compare(children)
			return greetingResult{Children: children, Status: map[string]any{}}, err
		})
		c.Children = append(c.Children, Child{Resource: Resource{"v1", "Service", "services"}, Update: InPlace, SharedName: true})
		request := strings.ReplaceAll(string(ask(false, "", "")), `"namespace":"ns"`, `"namespace":"`+namespace+`"`)
		request = strings.Replace(request, `"children":{`, `"children":{"Service.v1":{},`, 1)
		request = strings.Replace(request, `"related":{}`, `"related":{"Service.v1":{}}`, 1)
		answer, err := c.Call(SyncHook, noon, []byte(request))
		require.NoError(t, err)
		require.Len(t, answer.Children, want, namespace)
		if want == 1 {
			require.Equal(t, []Conflict{{Ref: "Service/kubernetes", By: APIServer}}, diff.Conflicts)
		} else {
			require.Empty(t, diff.Conflicts)
		}
	}
}

// TestWhatBelongsToNobodyWaitsForItsWorkload: server-side apply would take it over alone.
func TestWhatBelongsToNobodyWaitsForItsWorkload(t *testing.T) {
	const workload = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"ns"},"spec":{"selector":{"matchLabels":{"app":"web"}}}}`
	nobodys := observed("ConfigMap", "a", "")
	for name, test := range map[string]struct {
		workload, children, related string
		waiting                     []string
	}{
		"the workload is missing":           {related: nobodys, waiting: []string{"ConfigMap/a"}},
		"the workload is a child":           {related: nobodys, workload: workload},
		"the workload has another selector": {related: nobodys, workload: strings.Replace(workload, `"app":"web"`, `"app":"other"`, 1), waiting: []string{"ConfigMap/a"}},
		"the name is free":                  {},
		"it is a child":                     {children: nobodys, related: nobodys},
		"it is ours, and not yet observed":  {related: observed("ConfigMap", "a", controlledBy("u", "Greeting", "hi"))},
	} {
		t.Run(name, func(t *testing.T) {
			var diff Difference
			c := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
				web := &appsv1.Deployment{
					ObjectMeta: metav1.ObjectMeta{Name: "web"},
					Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
				}
				children := []Object{configMap("a"), web}
				var err error
				diff, err = seen.Compare(children)
				return greetingResult{Children: children, Status: map[string]any{}}, err
			})
			c.Children[0].SharedName = true
			c.Children = append(c.Children, Child{Resource: Deployment, Update: InPlace, SharedName: true})
			request := askBeside(test.children, test.related)
			if test.workload != "" {
				test.workload = `"web":` + test.workload
			}
			request = []byte(strings.Replace(string(request), `"children":{`, `"children":{"Deployment.apps/v1":{`+test.workload+`},`, 1))
			answer, err := c.Call(SyncHook, noon, request)
			require.NoError(t, err)
			require.Equal(t, test.waiting, diff.Waiting)
			require.Len(t, answer.Children, 2-len(test.waiting))
			require.Equal(t, len(test.waiting), answer.Changes.Withheld)
			for _, child := range test.waiting {
				require.NotContains(t, diff.Missing, child)
			}
		})
	}
}

func TestOnlyContestedKindsAreLeftToOthers(t *testing.T) {
	var diff Difference
	c := contesting(&diff)
	c.Children[0].SharedName = false
	answer, err := c.Call(SyncHook, noon, askBeside("", observed("ConfigMap", "a", controlledBy("v", "Greeting", "other"))))
	require.NoError(t, err)
	require.Len(t, answer.Children, 2)
	require.Empty(t, diff.Conflicts)
}

func TestByName(t *testing.T) {
	kind := Resource{"v1", "ConfigMap", "configmaps"}
	require.Empty(t, ByName(kind, "ns"), "a rule without names selects everything")
	require.Equal(t, []Rule{{APIVersion: "v1", Resource: "configmaps", Namespace: "ns", Names: []string{"a", "b"}}}, ByName(kind, "ns", "a", "b"))
}
