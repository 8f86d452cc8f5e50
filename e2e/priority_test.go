package e2e

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowRequests are more than all that an API server works on at a time for ServiceAccounts, with
// those that it borrows from other priority levels.
const slowRequests = 450

// TestMetacontrollerHasPlacesOfItsOwn: ServiceAccounts without any rights send requests whose
// bodies do not come. Other ServiceAccounts wait then, and Metacontroller does not. The requests for
// its lease wait behind none of its others.
func TestMetacontrollerHasPlacesOfItsOwn(t *testing.T) {
	kubectl(t, "create", "namespace", "metacontroller")
	kubectl(t, "create", "serviceaccount", "metacontroller", "--namespace=metacontroller")
	const priority = "../deploy/metacontroller/priority.yaml"
	kubectl(t, "apply", "--filename="+priority)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+priority) })
	theirs := client{t, token(t, "metacontroller", "metacontroller")}
	for path, schema := range map[string]string{
		"/api/v1":                         "operetta-metacontroller",
		"/api/v1/namespaces/default/pods": "operetta-metacontroller",
		// Of its own namespace, and no other: that is where it has its lease.
		"/apis/coordination.k8s.io/v1/namespaces/metacontroller/leases/metacontroller": "operetta-metacontroller-lease",
		"/apis/coordination.k8s.io/v1/namespaces/default/leases/metacontroller":        "operetta-metacontroller",
	} {
		schema = kubectl(t, "get", "flowschema/"+schema, "--output=jsonpath={.metadata.uid}")
		require.Eventually(t, func() bool {
			matched, _, err := theirs.ask(path)
			return err == nil && matched == schema
		}, time.Minute, 200*time.Millisecond, "the FlowSchema of GET %s", path)
	}

	ns := namespace(t, "slow")
	var tokens []string
	for i := range 15 { // one alone has some of the queues
		name := fmt.Sprint("slow-", i)
		kubectl(t, "create", "serviceaccount", name, "--namespace="+ns)
		tokens = append(tokens, token(t, ns, name))
	}
	other := client{t, token(t, ns, "default")}
	require.NoError(t, other.get())
	for i := range slowRequests {
		hold(t, tokens[i%len(tokens)])
	}
	require.Eventually(t, func() bool {
		return other.get() != nil
	}, 30*time.Second, 100*time.Millisecond, "other ServiceAccounts wait")
	for range 20 {
		assert.NoError(t, theirs.get())
	}
}

func token(t *testing.T, ns, account string) string {
	t.Helper()
	return strings.TrimSpace(kubectl(t, "create", "token", account, "--namespace="+ns))
}

// insecure is the configuration of connections to the API server of the tests.
var insecure = &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}

// client sends requests as the user of a token.
type client struct {
	*testing.T

	token string
}

// get asks for the kinds of the core API, which everybody may, for two seconds.
func (c client) get() error {
	_, status, err := c.ask("/api/v1")
	if err == nil && status != http.StatusOK {
		return fmt.Errorf("it answers %d", status)
	}
	return err
}

// ask sends a request for a path, for two seconds. It returns the UID of the FlowSchema that the
// request matches, which the API server says whether or not the user may send it.
func (c client) ask(path string) (schema string, status int, err error) {
	request, err := http.NewRequestWithContext(c.Context(), http.MethodGet, controlPlane.URL+path, nil)
	require.NoError(c, err)
	request.Header.Set("Authorization", "Bearer "+c.token)
	transport := &http.Transport{TLSClientConfig: insecure.Clone()}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport, Timeout: 2 * time.Second}).Do(request)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return "", 0, err
	}
	return response.Header.Get("X-Kubernetes-Pf-Flowschema-Uid"), response.StatusCode, nil
}

// hold sends a request without its body, which everybody may send, until the test ends.
func hold(t *testing.T, token string) {
	t.Helper()
	connection, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", strings.TrimPrefix(controlPlane.URL, "https://"), insecure)
	require.NoError(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	_, err = io.WriteString(connection, "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews HTTP/1.1\r\nHost: api\r\nAuthorization: Bearer "+token+
		"\r\nContent-Type: application/json\r\nContent-Length: 2000\r\n\r\n{")
	require.NoError(t, err)
}
