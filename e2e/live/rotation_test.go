package live

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/operetta-dev/operetta/e2e/certtest"
	"github.com/operetta-dev/operetta/e2e/cluster"
)

// boxes is the number of custom resources that are edited while credentials change.
const boxes = 8

// TestRotation replaces the server's certificate, the CA of both sides and the token in the order
// of docs/tls.md, while Metacontroller calls with mutual TLS and a token and custom resources are
// edited. Each edit arrives, and no call is refused.
func TestRotation(t *testing.T) {
	old, next := certtest.NewAuthority(t, "old"), certtest.NewAuthority(t, "new")
	both, first, second := string(old.PEM)+string(next.PEM), "the-first-token-0123456789\n", "the-second-token-0123456789\n"
	s := startSecured(t, old, first)
	kubectl(t, "", "apply", "--filename="+root+"/deploy/components/https/metacontroller-secrets.yaml")
	t.Cleanup(func() {
		kubectl(t, "", "delete", "--filename="+root+"/deploy/components/https/metacontroller-secrets.yaml")
	})
	s.world = newWorld(t, start(t, modes[0], "https://"+s.address))
	t.Cleanup(func() {
		kubectl(t, "", "patch", "compositecontroller/operetta-modelbox", "--type=merge", `--patch={"spec": {"endpointConfigs": null}}`)
		require.NoError(t, operetta.Connect(operetta.HookURL, "v2")) // or what is left would be called here
	})
	s.call("first", string(old.PEM), old, first)
	for i := range boxes {
		s.apply(strings.Replace(modelBox(`image: nginx, replicas: 0`), "name: box", fmt.Sprintf("name: box-%d", i), 1))
	}
	s.during("the server's certificate is replaced", func() { s.serve(old, string(old.PEM), first) })
	s.during("both sides accept the old and the new", func() {
		s.serve(old, both, first+second)
		s.call("second", both, next, second)
	})
	s.during("the server has the new CA and token only", func() {
		s.serve(next, string(next.PEM), second)
		s.call("third", string(next.PEM), next, second)
	})
	s.eventually("a certificate of the old CA is refused", func() error {
		if _, err := s.served(old); err == nil {
			return errors.New("it is accepted")
		}
		return nil
	})
}

// secured is a second server, with TLS, client certificates and tokens, and what is edited meanwhile.
type secured struct {
	*world

	files            *certtest.Mounted
	address, metrics string
	edits            int
	refused          int // of our own requests
}

func startSecured(t *testing.T, authority *certtest.Authority, token string) *secured {
	t.Helper()
	s := &secured{world: &world{T: t}}
	s.serve(authority, string(authority.PEM), token)
	var err error
	s.address, err = cluster.FreeAddress()
	require.NoError(t, err)
	s.metrics, err = cluster.FreeAddress()
	require.NoError(t, err)
	binary, err := filepath.Abs(filepath.Join(root, cluster.ServerProgram))
	require.NoError(t, err)
	require.NoError(t, operetta.Run(t.Context(), cluster.Program{
		Name: "secured", Path: binary,
		Args: []string{
			"serve", "--listen=" + s.address, "--metrics-listen=" + s.metrics, "--drain-delay=0s",
			"--tls-cert-file=" + s.files.Path("tls.crt"), "--tls-private-key-file=" + s.files.Path("tls.key"),
			"--client-ca-file=" + s.files.Path("ca.crt"), "--client-names=metacontroller", "--token-file=" + s.files.Path("tokens"),
		},
		Ready: cluster.Healthy("http://" + s.metrics + "/readyz"),
	}))
	t.Cleanup(func() { require.NoError(t, operetta.End("secured")) })
	return s
}

// served returns the serial number of the certificate that a client of an authority is shown. With TLS 1.2
// the handshake fails where the server does not accept the client's.
func (s *secured) served(authority *certtest.Authority) (*big.Int, error) {
	conn, err := tls.Dial("tcp", s.address, &tls.Config{
		InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12,
		Certificates: []tls.Certificate{authority.Client(s.T, time.Hour, "metacontroller").TLS(s.T)},
	})
	if err != nil {
		return nil, err
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber, conn.Close()
}

// accepts returns an error while the server refuses a client's certificate or its token.
func (s *secured) accepts(client *certtest.Authority, token string) error {
	request, err := http.NewRequestWithContext(s.Context(), http.MethodPost, "https://"+s.address+"/modelbox/sync", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, Certificates: []tls.Certificate{client.Client(s.T, time.Hour, "metacontroller").TLS(s.T)},
	}}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return err
	}
	if response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden {
		s.refused++
		err = fmt.Errorf("it answers %s", response.Status)
	}
	return errors.Join(err, response.Body.Close())
}

// serve replaces the files of the server, and waits until it serves the certificate. It reads each file by itself.
func (s *secured) serve(by *certtest.Authority, ca, tokens string) {
	s.Helper()
	pair := by.Server(s.T)
	files := map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": []byte(ca), "tokens": []byte(tokens)}
	if s.files == nil { // it does not run yet
		s.files = certtest.Mount(s.T, files)
		return
	}
	s.files.Replace(s.T, files)
	s.eventually("the new certificate is served", func() error {
		serial, err := s.served(by)
		if err == nil && serial.Cmp(pair.TLS(s.T).Leaf.SerialNumber) != 0 {
			err = fmt.Errorf("it is the one with the number %s", serial)
		}
		return err
	})
}

// call has Metacontroller call with other credentials, which it reads when the CompositeController changes,
// once the server accepts them.
func (s *secured) call(name, ca string, client *certtest.Authority, token string) {
	s.Helper()
	s.eventually("the server accepts the "+name+" credentials", func() error { return s.accepts(client, token) })
	pair := client.Client(s.T, time.Hour, "metacontroller")
	secret, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "stringData": map[string]string{
		"ca.crt": ca, "tls.crt": string(pair.Certificate), "tls.key": string(pair.Key), "token": token,
	}})
	require.NoError(s, err)
	s.apply(string(secret))
	ref := func(key string) string {
		return fmt.Sprintf(`{"secretRef": {"name": %q, "namespace": %q%s}}`, name, s.ns, key)
	}
	s.kubectl("patch", "compositecontroller/operetta-modelbox", "--type=merge", fmt.Sprintf(
		`--patch={"spec": {"endpointConfigs": [{"host": %q, "caBundle": %s, "clientTLS": %s, "authorization": %s}]}}`,
		s.address, ref(`, "key": "ca.crt"`), ref(""), ref(`, "key": "token"`)))
}

// edit gives each ModelBox another image, and waits until its Deployment has it.
func (s *secured) edit() error {
	s.edits++
	image := fmt.Sprintf("nginx:%d", s.edits)
	for i := range boxes {
		if err := objects.Patch(s.Context(), modelBoxes, s.ns, fmt.Sprintf("box-%d", i), `{"spec": {"image": "`+image+`"}}`); err != nil {
			return err
		}
	}
	arrived := 0
	for deadline := time.Now().Add(patience); arrived < boxes && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		list, err := objects.List(s.Context(), "deployments.apps", s.ns, "")
		if err != nil {
			return err
		}
		arrived = len(slices.DeleteFunc(list, func(deployment map[string]any) bool {
			return at(deployment, "spec", "template", "spec", "containers", 0, "image") != image
		}))
	}
	if arrived < boxes {
		return fmt.Errorf("%d of %d Deployments have the image %s", arrived, boxes, image)
	}
	return nil
}

// refusals are what a caller whose credentials are not accepted, or who does not accept the server's, says.
var refusals = regexp.MustCompile(`x509|tls: |\b40[13]\b.*body`)

var refusedCalls = regexp.MustCompile(`operetta_requests_refused_total\{reason="(?:unauthorized|forbidden)"\} (\d+)`)

// during does something while custom resources are edited, and once more afterwards.
func (s *secured) during(what string, do func()) {
	s.Helper()
	done := make(chan struct{})
	var editor errgroup.Group
	editor.Go(func() error {
		for last := false; !last; {
			select {
			case <-done:
				last = true
			default:
			}
			if err := s.edit(); err != nil {
				return err
			}
		}
		return nil
	})
	do()
	close(done)
	require.NoError(s, editor.Wait(), what)
	events := s.kubectl("get", "events", "--field-selector=type=Warning", "--output=jsonpath={.items[*].message}")
	require.NotRegexp(s, refusals, events, what)
	response, err := http.Get("http://" + s.metrics + "/metrics")
	require.NoError(s, err)
	metrics, err := io.ReadAll(response.Body)
	require.NoError(s, err)
	require.NoError(s, response.Body.Close())
	refused := 0
	for _, count := range refusedCalls.FindAllSubmatch(metrics, -1) {
		number, err := strconv.Atoi(string(count[1]))
		require.NoError(s, err)
		refused += number
	}
	require.Equal(s, s.refused, refused, "%s: nobody else is refused", what)
}
