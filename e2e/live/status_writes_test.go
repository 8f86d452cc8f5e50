package live

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStatusWrites counts how often Metacontroller writes the status of ModelBoxes that are
// created, get another image, and are touched when they are Ready. Each write is a request
// to the API server, an entry in etcd and an event for all who watch.
func TestStatusWrites(t *testing.T) {
	const count = 20
	w := newWorld(t, start(t, modes[0], operetta.HookURL))
	w.settle()
	sample := read(t, filepath.Join(root, "deploy/samples/modelbox.yaml"))
	apply := func(image string) {
		var all strings.Builder
		for i := range count {
			all.WriteString("---\n" + strings.NewReplacer("name: sentiment", fmt.Sprintf("name: box-%d", i), "nginx:1.27-alpine", image).Replace(sample))
		}
		w.apply(all.String())
		w.ready("modelbox", "--all")
	}
	offset := auditEnd(t)
	for _, step := range []struct {
		name string
		most float64 // of each ModelBox, on average: twice what make bench-cluster wants, for a busy machine is called more often
		do   func()
	}{
		{"creation", 5, func() { apply("nginx:1") }},
		{"another image", 7, func() { apply("nginx:2") }},
		{"a touch", 0, func() { w.kubectl("annotate", "modelbox", "--all", "example.com/touched=1") }},
	} {
		began := time.Now()
		step.do()
		took := time.Since(began)
		w.settle()
		var list []request
		list, offset = w.requests(offset)
		require.NotEmpty(t, list)
		list = slices.DeleteFunc(list, func(r request) bool {
			return r.Verb != "update" || r.ObjectRef.Resource != "modelboxes" || r.ObjectRef.Subresource != "status" || r.ResponseStatus.Code != 200
		})
		written := float64(len(list)) / count
		t.Logf("%s: %.2f writes of the status of each, in %s", step.name, written, took.Round(time.Second))
		assert.LessOrEqual(t, written, step.most, step.name)
	}
}
