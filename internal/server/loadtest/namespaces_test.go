package loadtest

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOneNamespaceHoldsUpNoOther: all requests come from one address, as those of
// Metacontroller do. One namespace sends in a loop what is not tiny and costs much.
// A PodSet of 300 Pods in another one, which is not tiny either, is answered in
// time, also where it has to come back after a 429. A busy machine has a second
// try.
func TestOneNamespaceHoldsUpNoOther(t *testing.T) {
	for name, attack := range map[string]attacker{
		"large adopted ConfigMaps": {"/dataservice/sync", adopted(16, 1<<20), 5},
		"specs that are always new": {"/build/sync", func(i int64) []byte {
			env := repeat(320, func(j int) string { return fmt.Sprintf(`{"name":"V%d","value":"x"}`, j) })
			steps := repeat(20, func(j int) string { return fmt.Sprintf(`{"name":"s%d","image":"x","env":[%s]}`, j, env) })
			return parentOf("ci.zt.vapi.cc/v1", "Build", fmt.Sprintf(`{"source":{"git":{"url":"https://example.com/a.git","revision":"main"}},"runId":"%d","steps":[%s]}`, i, steps),
				`"Job.batch/v1":{},"Pod.v1":{}`)
		}, 10},
	} {
		t.Run(name, func(t *testing.T) {
			for try := range 2 {
				p := start(t)
				stop := attack.start(t, p, time.Minute)
				time.Sleep(time.Second) // all have begun
				times := settled(t, p, elsewhere(podSet(300, 300, "")))
				t.Logf("attackers: %v", stop())
				t.Logf("honest: p50 %s, max %s of %d", times[len(times)/2], times[len(times)-1], len(times))
				p.requireAlive(t)
				if times[len(times)-1] < 5*time.Second {
					return
				}
				require.Zero(t, try, "%v", times)
			}
		})
	}
}

// adopted returns requests about a DataService that has adopted so many ConfigMaps
// of a size.
func adopted(count, size int) func(int64) []byte {
	data := strings.Repeat("y", size)
	configMaps := repeat(count, func(i int) string {
		return fmt.Sprintf(`"default/x%d":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x%[1]d","namespace":"default","uid":"u%[1]d","labels":{"controller-uid":"1"}},"data":{"a":%q}}`, i, data)
	})
	body := parentOf("d3os-product.com.d3os/v1", "DataService", `{"eureka":{"image":"x"}}`,
		`"Deployment.apps/v1":{},"StatefulSet.apps/v1":{},"DaemonSet.apps/v1":{},"Service.v1":{},"ConfigMap.v1":{`+configMaps+`}`)
	return func(int64) []byte { return body }
}

// elsewhere returns a request about another namespace than that of the attackers.
func elsewhere(request []byte) []byte {
	return bytes.ReplaceAll(request, []byte("default"), []byte("other"))
}

// settled sends a request each second, each of them again as Metacontroller does
// until it is answered, and returns how long that took, the shortest first.
func settled(t *testing.T, p *process, body []byte) (times []time.Duration) {
	const seconds = 6
	var group sync.WaitGroup
	var mutex sync.Mutex
	client := client(t)
	for range seconds {
		group.Go(func() {
			began := time.Now()
			for {
				got, err := post(t.Context(), client, "http://"+p.hooks+"/podset/sync", body)
				if err == nil && got.code == http.StatusOK || time.Since(began) > time.Minute {
					break
				}
				time.Sleep(max(got.retryAfter, 100*time.Millisecond))
			}
			mutex.Lock()
			defer mutex.Unlock()
			times = append(times, time.Since(began))
		})
		time.Sleep(time.Second)
	}
	group.Wait()
	slices.Sort(times)
	return times
}
