package dataservice_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/dataservice"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

type object = map[string]any

// asked is a request with its answer.
type asked struct {
	name     string
	hook     metacontroller.HookName
	now      time.Time
	request  []byte
	observed []string // the references of the observed children of a golden, in a fixed order
	answered []string // the references of the children in the answer
}

// ask answers a request. It reports an error, after which nothing is lost, and
// fails where the request is not understood.
func ask(name string, hook metacontroller.HookName, now time.Time, request []byte) (asked, metacontroller.Answer, error) {
	answer, err := dataservice.Controller().Call(hook, now, request)
	var refs []string
	for _, child := range answer.Children {
		refs = append(refs, child.Kind+"/"+child.Name)
	}
	return asked{name: name, hook: hook, now: now, request: request, answered: refs}, answer, err
}

// goldenRequests returns every golden request that is answered.
func goldenRequests(t *testing.T) []asked {
	var all []asked
	for _, c := range operettatest.Cases(t, "../..", dataservice.Controller()) {
		if c.Hook == metacontroller.CustomizeHook {
			continue
		}
		if a, _, err := ask(c.Name, c.Hook, c.Now, c.Request); err == nil {
			var request object
			require.NoError(t, json.Unmarshal(a.request, &request))
			for _, child := range childrenIn(request) {
				a.observed = append(a.observed, refIn(child))
			}
			all = append(all, a)
		}
	}
	require.NotEmpty(t, all)
	return all
}

// failingProducts returns the converged product while a workload of each stage
// fails, and when besides one of its components has just been renamed, with the
// status of before and of after.
func failingProducts(t *testing.T) []asked {
	var all []asked
	for _, failing := range []string{"mysql-dataservice", "eureka", "proxy", "gateway-web", "web"} {
		for _, renamed := range []string{"", "web", "proxy"} {
			request, now := changed(t, func(spec map[string]any) {
				if renamed != "" {
					spec[renamed].(object)["name"] = "other"
				}
			}, failingWorkload(failing))
			name := fmt.Sprintf("%s fails and %q is renamed", failing, renamed)
			first, answer, err := ask(name, metacontroller.SyncHook, now, request)
			require.NoError(t, err)
			second, _, err := ask(name+", the status is written", metacontroller.SyncHook, now, withStatusOf(t, request, answer))
			require.NoError(t, err)
			all = append(all, first)
			if renamed != "" {
				all = append(all, second)
			}
		}
	}
	return all
}

// failingWorkload takes the ready Pods from a workload.
func failingWorkload(failing string) func(kind, name, component string, child map[string]any) bool {
	return func(kind, name, _ string, child map[string]any) bool {
		if name == failing && (kind == "Deployment" || kind == "StatefulSet") {
			child["status"].(object)["readyReplicas"] = 0
		}
		return true
	}
}

// withStatusOf returns a request with the status of the answer to it.
func withStatusOf(t *testing.T, request []byte, answer metacontroller.Answer) []byte {
	var parsed, response object
	require.NoError(t, json.Unmarshal(request, &parsed))
	require.NoError(t, json.Unmarshal(answer.Body, &response))
	parsed["parent"].(object)["status"] = response["status"]
	encoded, err := json.Marshal(parsed)
	require.NoError(t, err)
	return encoded
}

// childrenIn returns the observed children of a request in a fixed order.
func childrenIn(request object) []object {
	var children []object
	groups := request["children"].(object)
	for _, kind := range slices.Sorted(maps.Keys(groups)) {
		group := groups[kind].(object)
		for _, key := range slices.Sorted(maps.Keys(group)) {
			children = append(children, group[key].(object))
		}
	}
	return children
}

func refIn(child object) string {
	return child["kind"].(string) + "/" + child["metadata"].(object)["name"].(string)
}

// within returns a map in a child's metadata, which is made where there is none.
func within(child object, name string) object {
	metadata := child["metadata"].(object)
	if _, isMap := metadata[name].(object); !isMap {
		metadata[name] = object{}
	}
	return metadata[name].(object)
}

var components = []string{
	"mysql", "uuc", "eureka", "api-manager", "auth", "ds-adapter", "es-adapter", "trd-adapter", "proxy", "gateway-master", "gateway-web", "web",
}

// labelForgeries are what a user can write in the place of the labels that the
// hook reads.
func labelForgeries() map[string]func(child object) {
	forgeries := map[string]func(object){
		"no labels": func(child object) { delete(child["metadata"].(object), "labels") },
		"no app":    func(child object) { delete(within(child, "labels"), "app") },
		"app":       func(child object) { within(child, "labels")["app"] = "forged" },
		"product":   func(child object) { within(child, "labels")["dataservice"] = "forged" },
		"removed":   func(child object) { delete(within(child, "labels"), componentLabel) },
	}
	for _, value := range append([]string{"", "forged"}, components...) {
		forgeries[fmt.Sprintf("component %q", value)] = func(child object) { within(child, "labels")[componentLabel] = value }
	}
	return forgeries
}

// annotationForgeries are the same for annotations. All annotations of an object
// together have at most 256 KiB.
func annotationForgeries() map[string]func(child object) {
	junk := strings.Repeat("x", 255<<10)
	forgeries := map[string]func(object){
		"no annotations": func(child object) { delete(child["metadata"].(object), "annotations") },
	}
	for _, text := range []string{"", "forged", junk} {
		forgeries[fmt.Sprintf("hash %.10q of %d bytes", text, len(text))] = func(child object) {
			within(child, "annotations")[metacontroller.HashAnnotation] = text
		}
	}
	for _, text := range []string{"", "{", "[]", "null", "7", `{"spec":7}`, `{"metadata":[]}`, `{"spec":{"replicas":1}}`, junk, `{"metadata":{"annotations":{"junk":""}},"spec":{}}`} {
		forgeries[fmt.Sprintf("last applied %.40q of %d bytes", text, len(text))] = func(child object) {
			annotations := within(child, "annotations")
			annotations[metacontroller.LastAppliedAnnotation] = text
			if strings.Contains(text, "junk") {
				annotations["junk"] = junk[:254<<10]
			}
		}
	}
	return forgeries
}

// chosen reports whether a forgery is tried: all of them with the thorough tests,
// one of a hundred and twenty-eight without, and half of those in the inner loop.
func chosen(a *asked, what string) bool {
	sum := sha256.Sum256([]byte(a.name + what))
	return os.Getenv("OPERETTA_TEST_THOROUGH") != "" || sum[0] < 1 || !inner() && sum[0] < 2
}

// TestForgedLabelCostsNothing writes every value of every label that the hook
// reads onto each child, and onto all children of a component: whatever is
// answered without it is answered with it.
func TestForgedLabelCostsNothing(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, a := range goldenRequests(t) {
		for how, forge := range labelForgeries() {
			tried += a.forgeEach(t, how, forge) + a.forgeComponents(t, how, forge)
		}
	}
	for _, a := range failingProducts(t) {
		for how, forge := range labelForgeries() {
			tried += a.forgeComponents(t, how, forge)
		}
	}
	t.Logf("%d forged requests", tried)
	require.Positive(t, tried)
}

// TestForgedAnnotationCostsNothing does it for annotations. Whoever writes the
// hash says that a child is not as it is asked for, so that its component is not
// ready, and those that have not been started wait: but what is there stays.
func TestForgedAnnotationCostsNothing(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, a := range goldenRequests(t) {
		a.answered = slices.DeleteFunc(a.answered, func(ref string) bool { return !slices.Contains(a.observed, ref) })
		for how, forge := range annotationForgeries() {
			tried += a.forgeEach(t, how, forge)
		}
	}
	t.Logf("%d forged requests", tried)
	require.Positive(t, tried)
}

// forgeEach changes one child after the other, and returns how many.
func (a asked) forgeEach(t *testing.T, how string, forge func(child object)) (tried int) {
	for i, ref := range a.observed {
		if !chosen(&a, how+ref) {
			continue
		}
		var forged object
		require.NoError(t, json.Unmarshal(a.request, &forged))
		forge(childrenIn(forged)[i])
		a.requireNothingLost(t, how+" of "+ref, forged)
		tried++
	}
	return tried
}

// forgeComponents changes all children of one component after the other.
func (a asked) forgeComponents(t *testing.T, how string, forge func(child object)) (tried int) {
	for _, component := range components {
		if !chosen(&a, how+component) {
			continue
		}
		var forged object
		require.NoError(t, json.Unmarshal(a.request, &forged))
		found := false
		for _, child := range childrenIn(forged) {
			if labels, isMap := child["metadata"].(object)["labels"].(object); isMap && labels[componentLabel] == component {
				forge(child)
				found = true
			}
		}
		if found {
			a.requireNothingLost(t, how+" of all of "+component, forged)
			tried++
		}
	}
	return tried
}

// requireNothingLost asks about a forged request.
func (a asked) requireNothingLost(t *testing.T, how string, forged object) {
	request, err := json.Marshal(forged)
	require.NoError(t, err)
	next, _, err := ask(a.name, a.hook, a.now, request)
	require.NoError(t, err, "%s: %s", a.name, how)
	for _, ref := range a.answered {
		require.Contains(t, next.answered, ref, "%s: %s", a.name, how)
	}
}
