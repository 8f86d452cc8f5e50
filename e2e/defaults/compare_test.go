package defaults

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// comparison compares objects, and goes on when some differ.
type comparison struct {
	t        *testing.T
	compared int
	// differing is the first difference and the first object with it, by path.
	differing map[string]string
	// refused are the objects that the simulation refuses.
	refused []string
}

// compare notes the first field of an object in which the two sides differ.
func (c *comparison) compare(object kube.Object) {
	object = object.DeepCopy()
	if object.GetNamespace() == "" {
		object.SetNamespace("default") // the URL of the request names it
	}
	ours, err := bySimulation(object)
	if err != nil {
		c.refused = append(c.refused, err.Error()+": "+text(object))
		return
	}
	theirs, err := byKubernetes(object)
	require.NoError(c.t, err, "Kubernetes cannot read\n%s", text(object))
	dropWhatIsNoDefault(ours)
	dropWhatIsNoDefault(theirs)
	c.compared++
	path, difference := firstDifference(object.GetKind(), theirs, ours)
	if path = index.ReplaceAllString(path, "[]"); difference != "" && c.differing[path] == "" {
		if c.differing == nil {
			c.differing = map[string]string{}
		}
		c.differing[path] = difference + "\n" + text(object)
	}
}

// index is that of an item of a list.
var index = regexp.MustCompile(`\[\d+\]`)

// report fails unless something was compared and nothing differs.
func (c *comparison) report() {
	c.t.Helper()
	c.t.Logf("%d objects compared, %d refused by the simulation", c.compared, len(c.refused))
	require.Positive(c.t, c.compared)
	for _, path := range slices.Sorted(maps.Keys(c.differing)) {
		assert.Fail(c.t, "not the defaults of Kubernetes", c.differing[path])
	}
}

// text prints an object.
func text(object kube.Object) string {
	encoded, err := yaml.Marshal(object.Object)
	if err != nil {
		return err.Error()
	}
	return string(encoded)
}

// firstDifference returns the first path, by names and indices, at which two values
// differ, and both values there. The path is empty if they are equal.
func firstDifference(path string, kubernetes, simulated any) (where, difference string) {
	switch theirs := kubernetes.(type) {
	case map[string]any:
		ours, ok := simulated.(map[string]any)
		if !ok {
			break
		}
		all := maps.Clone(theirs)
		maps.Copy(all, ours)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			one, inTheirs := theirs[name]
			other, inOurs := ours[name]
			if inTheirs != inOurs {
				return describe(path+"."+name, one, inTheirs, other, inOurs)
			}
			if where, difference = firstDifference(path+"."+name, one, other); difference != "" {
				return where, difference
			}
		}
		return "", ""
	case []any:
		ours, ok := simulated.([]any)
		if !ok || len(ours) != len(theirs) {
			break
		}
		for i := range theirs {
			if where, difference = firstDifference(fmt.Sprintf("%s[%d]", path, i), theirs[i], ours[i]); difference != "" {
				return where, difference
			}
		}
		return "", ""
	}
	if reflect.DeepEqual(kubernetes, simulated) {
		return "", ""
	}
	return describe(path, kubernetes, true, simulated, true)
}

func describe(path string, theirs any, inTheirs bool, ours any, inOurs bool) (where, difference string) {
	print := func(value any, found bool) string {
		if !found {
			return "nothing"
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	return path, fmt.Sprintf("%s: Kubernetes has %s, the simulation %s", path, print(theirs, inTheirs), print(ours, inOurs))
}
