package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// podSetRequest is a sync request for a PodSet, of which so many Pods of 11 KB
// exist. It is made while it is sent, as much memory as it would take.
type podSetRequest struct{ size, pods, terminatingFrom int }

// podFormat takes what it costs to be a Pod of 11 KB: a template of 3 KB stands in
// its spec, in Metacontroller's annotation and, by its fields, in managedFields.
func podFormat() string {
	const environment = 40
	var env, applied, fields []string
	for i := range environment {
		env = append(env, fmt.Sprintf(`{"name":"VARIABLE_%03d","value":"a value of some length %03d"}`, i, i))
		applied = append(applied, fmt.Sprintf(`{\"name\":\"VARIABLE_%03d\",\"value\":\"a value of some length %03d\"}`, i, i))
		fields = append(fields, fmt.Sprintf(`"k:{\"name\":\"VARIABLE_%03d\"}":{".":{},"f:name":{},"f:value":{}}`, i))
	}
	return `"default/web-%[1]d":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-%[1]d","namespace":"default","uid":"p%[1]d",` +
		`"creationTimestamp":"2026-01-02T03:00:00Z",%[2]s"labels":{"podset":"web","podset.apps.jicki.cn/template-hash":"44136fa355b3678a"},` +
		`"annotations":{"metacontroller.k8s.io/last-applied-configuration":"{\"spec\":{\"containers\":[{\"env\":[` + strings.Join(applied, ",") + `]}]}}"},` +
		`"managedFields":[{"manager":"metacontroller","fieldsV1":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{"f:env":{` + strings.Join(fields, ",") + `}}}}}}]},` +
		`"spec":{"nodeName":"node-1","containers":[{"name":"main","image":"busybox:1.37","env":[` + strings.Join(env, ",") + `]}],` +
		`"tolerations":[{"key":"` + strings.Repeat("t", 2000) + `"}]},` +
		`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-02T03:00:03Z"}],` +
		`"containerStatuses":[{"name":"main","restartCount":0,"state":{"running":{}}}]}}`
}

func (r podSetRequest) write(w io.Writer) error {
	format := podFormat()
	_, err := fmt.Fprintf(w, `{"controller":{},"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet",`+
		`"metadata":{"name":"web","namespace":"default","uid":"1"},"spec":{"size":%d}},"children":{"Pod.v1":{`, r.size)
	for i := 0; i < r.pods && err == nil; i++ {
		deleted, comma := "", ","
		if i >= r.terminatingFrom {
			deleted = `"deletionTimestamp":"2026-01-02T03:01:00Z",`
		}
		if i == r.pods-1 {
			comma = ""
		}
		_, err = fmt.Fprintf(w, format+comma, i, deleted)
	}
	if err == nil {
		_, err = io.WriteString(w, `}},"related":{},"finalizing":false}`)
	}
	return err
}

type counter int64

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// post sends the request as Metacontroller does, with its length, and returns
// the names of the Pods that are wanted, the Ready condition and the length.
func (r podSetRequest) post(t *testing.T, url string) (pods []string, ready string, length int64) {
	t.Helper()
	var count counter
	require.NoError(t, r.write(&count))
	code, body := r.try(t, url, int64(count))
	for range 20 { // on a busy machine it is sent more slowly than the server waits for
		if code == http.StatusTooManyRequests {
			code, body = r.try(t, url, int64(count))
		}
	}
	require.Equal(t, http.StatusOK, code, string(body[:min(len(body), 500)]))
	var answer struct {
		Children []struct {
			Metadata struct{ Name string }
		}
		Status struct {
			Conditions []struct{ Type, Status string }
		}
	}
	require.NoError(t, json.Unmarshal(body, &answer))
	for _, child := range answer.Children {
		pods = append(pods, child.Metadata.Name)
	}
	for _, condition := range answer.Status.Conditions {
		if condition.Type == "Ready" {
			ready = condition.Status
		}
	}
	return pods, ready, int64(count)
}

// try sends the request once.
func (r podSetRequest) try(t *testing.T, url string, length int64) (code int, body []byte) {
	t.Helper()
	reader, writer := io.Pipe()
	go func() { _ = writer.CloseWithError(r.write(writer)) }()
	defer func() { _ = reader.Close() }()
	request, err := http.NewRequest(http.MethodPost, url+"/podset/sync", reader)
	require.NoError(t, err)
	request.ContentLength = length
	response, err := (&http.Client{Timeout: time.Minute}).Do(request)
	require.NoError(t, err)
	body, err = io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, body
}

// TestLargePodSetShrinks takes a PodSet of 5,000 Pods of 11 KB down to 10, through
// the program as deploy/ runs it.
func TestLargePodSetShrinks(t *testing.T) {
	needsLoad(t)
	t.Setenv("GOMEMLIMIT", "400MiB")
	p := serveInProcess(t)
	pods, ready, length := podSetRequest{size: 5000, pods: 5000, terminatingFrom: 5000}.post(t, p.hooks)
	require.Greater(t, length, int64(5000*10_000))
	require.Equal(t, 5000, len(pods))
	require.Equal(t, "True", ready)

	pods, ready, _ = podSetRequest{size: 10, pods: 5000, terminatingFrom: 5000}.post(t, p.hooks)
	require.Len(t, pods, 10)
	require.Equal(t, "False", ready)

	// The others are seen until they have ended.
	pods, _, _ = podSetRequest{size: 10, pods: 5000, terminatingFrom: 10}.post(t, p.hooks)
	require.Len(t, pods, 10)
	pods, ready, _ = podSetRequest{size: 10, pods: 10, terminatingFrom: 10}.post(t, p.hooks)
	require.Len(t, pods, 10)
	require.Equal(t, "True", ready)

	peak := peak(t, p.Process.Pid)
	t.Logf("requests of %d MiB, peak of %d MiB", length>>20, peak)
	require.Less(t, peak, 400)
}
