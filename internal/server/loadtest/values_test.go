package loadtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// attacker sends requests of one kind, each a little different from all others, so
// that no verdict about one helps with the next.
type attacker struct {
	path string
	body func(i int64) []byte // the i-th of all requests
	many int                  // of them
}

// parentOf returns a request about a parent without children.
func parentOf(apiVersion, kind, spec, children string) []byte {
	return fmt.Appendf(nil, `{"controller":{},"parent":{"apiVersion":%q,"kind":%q,"metadata":{"name":"web","namespace":"default","uid":"1"},`+
		`"spec":%s},"children":{%s},"related":{"Pod.v1":{}},"finalizing":false}`, apiVersion, kind, spec, children)
}

// repeat returns so many items, separated by commas.
func repeat(n int, item func(i int) string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = item(i)
	}
	return strings.Join(items, ",")
}

// attackers send what costs the most to validate: of what the schemas admit, of
// what they do not, in bodies of all sizes.
func attackers() []attacker {
	const source = `"source":{"git":{"url":"https://example.com/a.git","revision":"main"}},"image":"x"`
	build := func(i int64, more string) []byte {
		return parentOf("ci.zt.vapi.cc/v1", "Build", fmt.Sprintf(`{%s,"runId":"%d",%s}`, source, i, more), `"Job.batch/v1":{},"Pod.v1":{}`)
	}
	template := func(i int64, containers string) []byte {
		return parentOf("apps.jicki.cn/v1alpha1", "PodSet", fmt.Sprintf(`{"size":1,"template":{"metadata":{"labels":{"n":"%d"}},"spec":{"containers":[%s]}}}`, i, containers),
			`"Pod.v1":{}`)
	}
	labels := repeat(70_000, func(i int) string { return fmt.Sprintf(`"k%d":""`, i) })
	arguments := repeat(70_000, func(int) string { return `"a"` })
	inside := repeat(18, func(i int) string {
		return fmt.Sprintf(`{"name":"c%d","image":"x","args":[%s]}`, i, repeat(1000, func(int) string { return `"a"` }))
	})
	quantities := repeat(12, func(i int) string { return fmt.Sprintf(`"example.com/device-%d":"%d"`, i, i) })
	tiny := repeat(6, func(i int) string { // the dearest rules for each value
		return fmt.Sprintf(`{"name":"c%d","image":"x","resources":{"requests":{%[2]s},"limits":{%[2]s}}}`, i, quantities)
	})
	empty := repeat(19_000, func(int) string { return `{}` })
	large, largest := string(podSet(2000, 2000, "")), string(podSet(5000, 6000, ""))
	resized := func(request string, i int64) []byte {
		head, rest, _ := strings.Cut(request, `"size":`)
		_, rest, _ = strings.Cut(rest, "}")
		return slices.Concat([]byte(head), fmt.Appendf(nil, `"size":%d}`, 2000+i%1000), []byte(rest))
	}
	return []attacker{
		{"/build/sync", func(i int64) []byte { return build(i, `"nodeSelector":{`+labels+`}`) }, 8},
		{"/build/sync", func(i int64) []byte { return build(i, `"args":[`+arguments+`]`) }, 6},
		{"/build/sync", func(i int64) []byte { return build(i, `"tolerations":[`+empty+`]`) }, 6},
		{"/podset/sync", func(i int64) []byte { return template(i, inside) }, 8},
		{"/podset/sync", func(i int64) []byte { return template(i, tiny) }, 8},
		{"/podset/sync", func(i int64) []byte { return resized(large, i) }, 5},   // 18 MB
		{"/podset/sync", func(i int64) []byte { return resized(largest, i) }, 3}, // 54 MB
	}
}

// start sends in a loop until stop, which returns what has been answered. After a
// 429 they come back when they were told to, or after so long.
func (a attacker) start(t *testing.T, p *process, patience time.Duration) (stop func() map[string]int) {
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	var sent atomic.Int64
	var mutex sync.Mutex
	answers := map[string]int{}
	for range a.many {
		client := client(t)
		group.Go(func() {
			for ctx.Err() == nil {
				got, err := post(ctx, client, "http://"+p.hooks+a.path, a.body(sent.Add(1)))
				if ctx.Err() != nil {
					return
				}
				mutex.Lock()
				answers[fmt.Sprintf("%d %.60s %v", got.code, got.text, err)]++
				mutex.Unlock()
				time.Sleep(min(got.retryAfter, patience))
			}
		})
	}
	return func() map[string]int {
		cancel()
		group.Wait()
		return answers
	}
}

// TestValidationHoldsNobodyUp has 44 senders of what costs much to validate, in a
// loop, beside small honest requests of another namespace. A busy machine has a
// second try: where nobody is held back, none is of use.
func TestValidationHoldsNobodyUp(t *testing.T) {
	for try := range 2 {
		p := start(t)
		answers, honest := underAttack(t, p)
		for what, times := range answers {
			t.Logf("%4d times %s", times, what)
			require.Contains(t, what, " <nil>", "each of them has an answer")
		}
		t.Logf("honest: %s", honest)
		p.requireAlive(t)
		if float64(len(honest.bad)) <= 0.01*float64(honest.all) {
			return
		}
		require.Zero(t, try, "%v", honest.bad)
	}
}

// underAttack sends honest requests for ten seconds, and returns what has been
// answered to the attackers, and them.
func underAttack(t *testing.T, p *process) (answers map[string]int, honest *tally) {
	const seconds, each = 10, 20
	var stops []func() map[string]int
	for _, a := range attackers() {
		stops = append(stops, a.start(t, p, 100*time.Millisecond))
	}
	time.Sleep(time.Second) // all have begun
	honest = &tally{most: 2 * time.Second}
	var asked sync.WaitGroup
	patient, small := client(t), elsewhere(podSet(3, 3, ""))
	for range each * seconds {
		asked.Go(func() {
			got, err := post(t.Context(), patient, "http://"+p.hooks+"/podset/sync", small)
			honest.add(got, err)
		})
		time.Sleep(time.Second / each)
	}
	asked.Wait()
	answers = map[string]int{}
	for n, stop := range stops {
		for what, times := range stop() {
			answers[fmt.Sprintf("%d: %s", n, what)] = times
		}
	}
	return answers, honest
}
