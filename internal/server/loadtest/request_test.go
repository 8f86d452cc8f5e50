package loadtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// podSet returns a sync request of a PodSet with so many Pods of about 9 kB,
// each as a real cluster has it.
func podSet(size, there int, template string) []byte {
	var pods bytes.Buffer
	filler := strings.Repeat(`{"manager":"kubelet","operation":"Update","fieldsV1":{"f:status":{"f:conditions":{},"f:phase":{}}}},`, 80)
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
	return fmt.Appendf(nil, `{"controller":{},"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet",`+
		`"metadata":{"name":"web","namespace":"default","uid":"1"},"spec":{"size":%d%s}},"children":{"Pod.v1":{%s}},"related":{},"finalizing":false}`,
		size, template, pods.Bytes())
}

// template returns a member of a PodSet's spec of about so many bytes.
func template(size int) string {
	return fmt.Sprintf(`,"template":{"spec":{"containers":[{"name":"web","image":"nginx:1.27","args":[%q]}]}}`,
		strings.Repeat("x", size))
}

// padded returns a request with white space at its end, as long as wanted.
func padded(request []byte, size int) []byte {
	return append(request, bytes.Repeat([]byte(" "), size-len(request))...)
}

type answer struct {
	code       int
	text       string // of an error
	retryAfter time.Duration
	took       time.Duration
}

// hang is how long a test waits for what takes a second at most: it tells a hang from an answer.
const hang = 2 * time.Minute

// client returns one that keeps connections as Metacontroller's does.
func client(t *testing.T) *http.Client {
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: hang}
}

func post(ctx context.Context, client *http.Client, url string, body []byte) (answer, error) {
	started := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	a := answer{code: response.StatusCode}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		a.retryAfter = time.Duration(seconds) * time.Second
	}
	if a.code == http.StatusOK {
		_, err = io.Copy(io.Discard, response.Body)
	} else {
		var text []byte
		text, err = io.ReadAll(response.Body)
		a.text = strings.TrimSpace(string(text))
	}
	a.took = time.Since(started)
	return a, err
}

// atOnce posts the same body so many times at once, and returns how often each
// code was answered.
func atOnce(t *testing.T, p *process, times int, body []byte) map[int]int {
	t.Helper()
	client, codes, mutex := client(t), map[int]int{}, sync.Mutex{}
	var group sync.WaitGroup
	texts := map[string]int{}
	for range times {
		group.Go(func() {
			got, err := post(t.Context(), client, "http://"+p.hooks+"/podset/sync", body)
			mutex.Lock()
			defer mutex.Unlock()
			if err != nil {
				texts[err.Error()]++
			} else if got.text != "" {
				texts[got.text]++
			}
			codes[got.code]++
		})
	}
	group.Wait()
	t.Logf("answers: %v %v", codes, texts)
	return codes
}

// requireHonest fails unless a small request is answered.
func requireHonest(t *testing.T, p *process) {
	t.Helper()
	require.Eventually(t, func() bool {
		got, err := post(t.Context(), client(t), "http://"+p.hooks+"/podset/sync", podSet(3, 3, ""))
		return err == nil && got.code == http.StatusOK
	}, hang, 100*time.Millisecond, "an honest request afterwards")
}

func requireCodes(t *testing.T, codes map[int]int, times int, allowed ...int) {
	t.Helper()
	sum := 0
	for _, code := range allowed {
		sum += codes[code]
	}
	require.Equal(t, times, sum, "%v", codes)
}
