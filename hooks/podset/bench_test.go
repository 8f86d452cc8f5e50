package podset_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// requestOf returns a sync request of a PodSet with as many Pods as are there.
// Each has what a Pod of a real cluster has: about 4 kB.
func requestOf(size, there int) []byte {
	var pods strings.Builder
	filler := strings.Repeat(`{"manager":"kubelet","operation":"Update","fieldsV1":{"f:status":{"f:conditions":{},"f:phase":{}}}},`, 30)
	for i := range there {
		if i > 0 {
			pods.WriteByte(',')
		}
		fmt.Fprintf(&pods, `"default/web-%d":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%d","namespace":"default",`+
			`"creationTimestamp":"2026-01-02T03:00:00Z","labels":{"podset":"web","podset.apps.jicki.cn/template-hash":"44136fa355b3678a"},`+
			`"managedFields":[%s{"manager":"last"}]},"spec":{"nodeName":"node-1","containers":[{"name":"busybox","image":"busybox:1.37"}]},`+
			`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T03:00:03Z"}],`+
			`"containerStatuses":[{"name":"busybox","restartCount":0,"state":{"running":{}}}]}}`, i, i, filler)
	}
	pending, _ := json.Marshal(numbers(0, min(there, operator.MaxBurst/2))) // they have appeared, and twice as many are made
	return fmt.Appendf(nil, `{"controller":{},"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet",`+
		`"metadata":{"name":"web","namespace":"default","uid":"1"},"spec":{"size":%d},"status":{"pending":%s}},"children":{"Pod.v1":{%s}},"related":{},"finalizing":false}`,
		size, pending, pods.String())
}

// benchmark calls the hook for a PodSet of which some Pods are there and, if it may create as many
// as that, others are created.
func benchmark(b *testing.B, size, there, creates int) {
	controller, now := podset.Controller(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	request := requestOf(size, there)
	answer, err := controller.Call(metacontroller.SyncHook, now, request)
	require.NoError(b, err)
	require.Len(b, answer.Children, there+creates)
	b.SetBytes(int64(len(request)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = controller.Call(metacontroller.SyncHook, now, request)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(answer.Children)), "ns/Pod")
}

// BenchmarkConverged and BenchmarkGrowing show by their ns/Pod that the cost
// grows in step with the size. Half of the Pods have just appeared, and an answer
// creates a burst at most.
func BenchmarkConverged(b *testing.B) {
	for _, size := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { benchmark(b, size, size, 0) })
	}
}

func BenchmarkGrowing(b *testing.B) {
	for _, size := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { benchmark(b, size, size/2, min(size/2, operator.MaxBurst)) })
	}
}
