package dataservice_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/dataservice"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// withFormerNames returns a request of which the status remembers so many names that
// a component has had, with four times as many ConfigMaps. Who may write the status of a
// DataService and create ConfigMaps can have it so.
func withFormerNames(n int) []byte {
	var names, maps []string
	for i := range n {
		names = append(names, fmt.Sprintf(`"u%05d"`, n-1-i))
	}
	for i := range 4 * n {
		maps = append(maps, fmt.Sprintf(`"default/u%05d":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"u%05d","namespace":"default","uid":"c%d"},"data":{}}`, i, i, i))
	}
	return []byte(`{"controller":{},"parent":{"apiVersion":"d3os-product.com.d3os/v1","kind":"DataService","metadata":{"name":"ds","namespace":"default","uid":"1","generation":1},` +
		`"spec":{"uuc":{"name":"uuc","image":"nginx:1"},"eureka":{"image":"nginx:1"}},` +
		`"status":{"components":[{"component":"uuc","name":"uuc","formerNames":[` + strings.Join(names, ",") + `]}]}},` +
		`"children":{"ConfigMap.v1":{` + strings.Join(maps, ",") + `},"Deployment.apps/v1":{},"StatefulSet.apps/v1":{},"DaemonSet.apps/v1":{},"Service.v1":{}},` +
		`"related":{"Pod.v1":{}},"finalizing":false}`)
}

// damagedTeardown returns a finalize request with so many children of each kind and Pods
// that cannot be decoded.
func damagedTeardown(n int) []byte {
	group := func(apiVersion, kind string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"default/u%05d":{"apiVersion":%q,"kind":%q,"metadata":{"name":"u%05d","namespace":"default","uid":"c%d",`+
				`"generation":"damaged","labels":{"d3os-product.com.d3os/component":"c%d"},"ownerReferences":7}}`, i, apiVersion, kind, i, i, i))
		}
		return `{` + strings.Join(all, ",") + `}`
	}
	return []byte(`{"controller":{},"parent":{"apiVersion":"d3os-product.com.d3os/v1","kind":"DataService","metadata":{"name":"ds","namespace":"default","uid":"1","generation":1,` +
		`"deletionTimestamp":"2026-01-02T03:04:05Z"},"spec":{"uuc":{"name":"uuc","image":"nginx:1"},"eureka":{"image":"nginx:1"}}},` +
		`"children":{"ConfigMap.v1":` + group("v1", "ConfigMap") + `,"Deployment.apps/v1":` + group("apps/v1", "Deployment") + `,"StatefulSet.apps/v1":` + group("apps/v1", "StatefulSet") +
		`,"DaemonSet.apps/v1":{},"Service.v1":` + group("v1", "Service") + `},"related":{"Pod.v1":` + group("v1", "Pod") + `},"finalizing":true}`)
}

// TestTeardownGrowsAsTheDamaged: so it is with children and Pods of a teardown that
// cannot be decoded.
func TestTeardownGrowsAsTheDamaged(t *testing.T) {
	const n, most = 300, 7.0
	ask := func(body []byte) func() {
		return func() {
			_, err := dataservice.Controller().Call(metacontroller.FinalizeHook, time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), body)
			require.NoError(t, err)
		}
	}
	operettatest.RequireGrowth(t, most, ask(damagedTeardown(n)), ask(damagedTeardown(4*n)))
}

// TestWorkGrowsAsTheFormerNames: four times as many names and ConfigMaps cost less than
// seven times as much. They cost ten times as much where each ConfigMap is looked
// for among all names.
func TestWorkGrowsAsTheFormerNames(t *testing.T) {
	const n, most = 1250, 7.0
	ask := func(body []byte) func() {
		return func() {
			_, err := dataservice.Controller().Call(metacontroller.SyncHook, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), body)
			require.NoError(t, err)
		}
	}
	operettatest.RequireGrowth(t, most, ask(withFormerNames(n)), ask(withFormerNames(4*n)))
}
