package build_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/build"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// withFailedJobs returns a request with Jobs of the names that a Build gives, which
// have failed, and a Pod for each. Who may create Jobs can have them adopted.
func withFailedJobs(n int) []byte {
	var jobs, pods []string
	for i := range n {
		jobs = append(jobs, fmt.Sprintf(`"default/app-%010x":{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"app-%010x","namespace":"default","uid":"j%d"},`+
			`"spec":{},"status":{"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, i, i, i))
		pods = append(pods, fmt.Sprintf(`"default/p-%d":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p-%d","namespace":"default","uid":"p%d",`+
			`"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"app-%010x","uid":"j%d","controller":true}]},"spec":{},"status":{"phase":"Pending"}}`, i, i, i, i, i))
	}
	return []byte(`{"controller":{},"parent":{"apiVersion":"ci.zt.vapi.cc/v1","kind":"Build","metadata":{"name":"app","namespace":"default","uid":"1","generation":1},` +
		`"spec":{"source":{"git":{"url":"https://example.com/app.git","revision":"main"}},"image":"golang:1.26","command":["make"]},"status":{}},` +
		`"children":{"Job.batch/v1":{` + strings.Join(jobs, ",") + `}},"related":{"Pod.v1":{` + strings.Join(pods, ",") + `}},"finalizing":false}`)
}

// TestWorkGrowsAsTheJobs: four times as many Jobs and Pods cost less than ten times as
// much. They cost sixteen times as much where each Job is looked for among all others.
func TestWorkGrowsAsTheJobs(t *testing.T) {
	const n, most = 3000, 10.0
	ask := func(body []byte) func() {
		return func() {
			_, err := build.Controller().Call(metacontroller.SyncHook, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), body)
			require.NoError(t, err)
		}
	}
	operettatest.RequireGrowth(t, most, ask(withFailedJobs(n)), ask(withFailedJobs(4*n)))
}
