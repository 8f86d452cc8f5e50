package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnchangedIsForDebug: of an answer that changes nothing the log tells whoever looks
// for it, of all others everybody.
func TestUnchangedIsForDebug(t *testing.T) {
	e := start(t, nil)
	settled := `{"parent": {"apiVersion": "toys.example.com/v1", "kind": "Greeting",
		"metadata": {"namespace": "default", "name": "hello", "uid": "u-1", "generation": 7}, "spec": {"text": "idle"},
		"status": {"now":"03:04:05","observedGeneration":7,"seen":0}},
		"children": {"ConfigMap.v1": {}}, "related": {}, "finalizing": false}`
	finalizing := strings.Replace(settled, `"finalizing": false`, `"finalizing": true`, 1)
	for _, asked := range []struct{ what, path, body, level string }{
		{"nothing changes", "/greeting/sync", settled, "DEBUG"},
		{"a rule is asked for", "/greeting/customize", settled, "DEBUG"},
		{"the status changes", "/greeting/sync", strings.Replace(settled, `"seen":0`, `"seen":1`, 1), "INFO"},
		{"a child is updated", "/greeting/sync", request("hi"), "INFO"},
		{"a child is created", "/greeting/sync", strings.Replace(settled, "idle", "hi", 1), "INFO"},
		{"it is the last answer", "/greeting/finalize", finalizing, "INFO"},
		{"it is refused", "/greeting/sync", "", "WARN"},
		{"it fails", "/greeting/sync", request("fail"), "ERROR"},
	} {
		before := len(e.log.all())
		code := e.post(t, asked.path, asked.body).code
		line := e.log.requests(t, before+1)[before]
		require.Equal(t, asked.level, line["level"], asked.what)
		require.Equal(t, float64(code), line["status"], asked.what)
	}
}
