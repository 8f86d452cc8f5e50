package player

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// recorded is a status of a Pod that somebody has published, trimmed.
type recorded struct {
	Happens string         `json:"happens"`
	Policy  string         `json:"policy"`
	Status  map[string]any `json:"status"`
	// Sentence is the pattern of each message that is no list of containers, and Absent are fields that the
	// status does not have.
	Sentence string   `json:"sentence"`
	Absent   []string `json:"absent"`
}

// TestRecorded wants the simulated Pod to have, at some time, the shape of each recorded status.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(text), "\n# https://")
			c := recorded{Policy: "Always"}
			require.NoError(t, yaml.UnmarshalStrict(text, &c))
			c.compare(t)
		})
	}
}

func (c *recorded) compare(t *testing.T) {
	action, err := ParseAction(c.Happens)
	require.NoError(t, err)
	w := New(Options{Actions: []Action{action}})
	var misses []string
	fits := false
	w.Watch(func(write Write) {
		object := w.server.Get(write.Ref)
		if write.Ref.Kind != "Pod" || object == nil || fits {
			return
		}
		status, _ := object.Object["status"].(map[string]any)
		miss := c.differs("status", c.Status, status)
		for _, field := range c.Absent {
			if status[field] != nil {
				miss = "status has " + field
			}
		}
		fits = miss == ""
		misses = append(misses, miss)
	}, nil, nil)
	apply(t, w, strings.NewReplacer("POLICY", c.Policy, "PROBE", "null").Replace(everything))
	require.NoError(t, w.Play())
	require.Empty(t, w.InVain())
	require.True(t, fits, "%s\n%s", strings.Join(slices.Compact(misses), "\n"), mustJSON(t, w.Get(kube.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "p"})))
}

// differs says what a simulated value lacks of a recorded one, or nothing. The state of a container has the same
// fields; of other values only those are compared that the record shows.
func (c *recorded) differs(path string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		return c.differsIn(path, want, got)
	case []any:
		list, _ := got.([]any)
		if strings.HasSuffix(path, "onditions") {
			return c.differsInOrder(path, want, list)
		}
		var miss string
		for _, entry := range list { // one container is recorded, and others run beside it
			if miss = c.differs(path, want[0], entry); miss == "" {
				return ""
			}
		}
		return path + ": " + miss
	}
	field := path[strings.LastIndex(path, ".")+1:]
	switch field {
	case "reason", "phase", "status", "type", "exitCode", "ready", "started":
		if fmt.Sprint(want) != fmt.Sprint(got) {
			return fmt.Sprintf("%s is %v, and recorded is %v", path, got, want)
		}
	case "message":
		return c.differsInWords(path, want.(string), fmt.Sprint(got))
	case "startedAt":
		if isZero := strings.HasPrefix(fmt.Sprint(want), "1970-"); isZero != strings.HasPrefix(fmt.Sprint(got), "1970-") {
			return fmt.Sprintf("%s is %v, and recorded is %v", path, got, want)
		}
	}
	return ""
}

func (c *recorded) differsIn(path string, want map[string]any, got any) string {
	fields, _ := got.(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(want)) {
		value, has := fields[field]
		if !has && want[field] != "" {
			return path + " has no " + field
		}
		if miss := c.differs(path+"."+field, want[field], value); miss != "" {
			return miss
		}
	}
	if isState := regexp.MustCompile(`\.(waiting|running|terminated|state)$`).MatchString(path); isState && len(fields) != len(want) {
		return fmt.Sprintf("%s has %v, and recorded are %v", path, slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(want)))
	}
	return ""
}

// differsInOrder compares conditions, which have an order.
func (c *recorded) differsInOrder(path string, want, got []any) string {
	for _, condition := range want {
		kind := condition.(map[string]any)["type"]
		at := slices.IndexFunc(got, func(other any) bool { return other.(map[string]any)["type"] == kind })
		if at < 0 {
			return fmt.Sprintf("%s has no %v behind those before it", path, kind)
		}
		if miss := c.differs(fmt.Sprint(path, ".", kind), condition, got[at]); miss != "" {
			return miss
		}
		got = got[at+1:]
	}
	return ""
}

var listed = regexp.MustCompile(`\[.*\]$`)

func (c *recorded) differsInWords(path, want, got string) string {
	if strings.HasPrefix(want, "containers with ") {
		if listed.ReplaceAllString(want, "") != listed.ReplaceAllString(got, "") {
			return fmt.Sprintf("%s is %q, and recorded is %q", path, got, want)
		}
		return ""
	}
	for _, sentence := range []string{want, got} {
		if c.Sentence == "" || !regexp.MustCompile(c.Sentence).MatchString(sentence) {
			return fmt.Sprintf("%s is %q, which is not %s", path, sentence, c.Sentence)
		}
	}
	return ""
}
