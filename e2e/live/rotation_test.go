package live

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
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
	files := map[string][]byte{"ca.crt": old.PEM, "tokens": []byte("the-first-token-0123456789\n")}
	serve := func(by *certtest.Authority) {
		pair := by.Server(t)
		files["tls.crt"], files["tls.key"] = pair.Certificate, pair.Key
	}
	serve(old)
	s := startSecured(t, certtest.Mount(t, files), old)
	kubectl(t, "", "apply", "--filename="+root+"/deploy/components/https/metacontroller-secrets.yaml")
	t.Cleanup(func() {
		kubectl(t, "", "delete", "--filename="+root+"/deploy/components/https/metacontroller-secrets.yaml")
	})
	s.world = newWorld(t, start(t, modes[0], "https://"+s.address))
	t.Cleanup(func() {
		kubectl(t, "", "patch", "compositecontroller/operetta-modelbox", "--type=merge", `--patch={"spec": {"endpointConfigs": null}}`)
		require.NoError(t, operetta.Connect(operetta.HookURL, "v2")) // or what is left would be called here
	})
	s.call("first", string(old.PEM), old, "the-first-token-0123456789")
	for i := range boxes {
		s.apply(strings.Replace(modelBox(`image: "nginx:0", replicas: 0`), "name: box", fmt.Sprintf("name: box-%d", i), 1))
	}
	s.during("the server's certificate is replaced", func() {
		serve(old)
		s.replace(files)
	})
	s.during("both sides accept the old and the new", func() {
		files["ca.crt"] = slices.Concat(old.PEM, next.PEM)
		files["tokens"] = []byte("the-first-token-0123456789\nthe-second-token-0123456789\n")
		serve(old)
		s.replace(files)
		s.call("second", string(files["ca.crt"]), next, "the-second-token-0123456789")
	})
	s.during("the server has the new CA and token only", func() {
		s.authority = next
		serve(next)
		files["ca.crt"], files["tokens"] = next.PEM, []byte("the-second-token-0123456789\n")
		s.replace(files)
		s.call("third", string(next.PEM), next, "the-second-token-0123456789")
	})
	_, err := s.served(old)
	require.Error(t, err, "a certificate of the old CA is accepted")
}

// secured is a second server, with TLS, client certificates and tokens, and what is edited meanwhile.
type secured struct {
	*world

	mounted          *certtest.Mounted
	authority        *certtest.Authority // of its clients
	address, metrics string
	edits            int
}

func startSecured(t *testing.T, mounted *certtest.Mounted, authority *certtest.Authority) *secured {
	t.Helper()
	s := &secured{world: &world{T: t}, mounted: mounted, authority: authority}
	for _, address := range []*string{&s.address, &s.metrics} {
		free, err := cluster.FreeAddress()
		require.NoError(t, err)
		*address = free
	}
	binary, err := filepath.Abs(filepath.Join(root, cluster.ServerProgram))
	require.NoError(t, err)
	require.NoError(t, operetta.Run(t.Context(), cluster.Program{
		Name: "secured", Path: binary,
		Args: []string{
			"serve", "--listen=" + s.address, "--metrics-listen=" + s.metrics, "--drain-delay=0s",
			"--tls-cert-file=" + mounted.Path("tls.crt"), "--tls-private-key-file=" + mounted.Path("tls.key"),
			"--client-ca-file=" + mounted.Path("ca.crt"), "--client-names=metacontroller", "--token-file=" + mounted.Path("tokens"),
		},
		Ready: cluster.Healthy("http://" + s.metrics + "/readyz"),
	}))
	t.Cleanup(func() { require.NoError(t, operetta.End("secured")) })
	return s
}

// served returns the serial number of the certificate that a client of an authority is shown.
func (s *secured) served(authority *certtest.Authority) (*big.Int, error) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		InsecureSkipVerify: true, Certificates: []tls.Certificate{authority.Client(s.T, time.Hour, "metacontroller").TLS(s.T)},
	}}}
	response, err := client.Get("https://" + s.address)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	return response.TLS.PeerCertificates[0].SerialNumber, nil
}

// replace replaces the files, and waits until the server has read them.
func (s *secured) replace(files map[string][]byte) {
	s.Helper()
	pair, err := tls.X509KeyPair(files["tls.crt"], files["tls.key"])
	require.NoError(s, err)
	s.mounted.Replace(s.T, files)
	s.eventually("the new certificate is served", func() error {
		serial, err := s.served(s.authority)
		if err == nil && serial.Cmp(pair.Leaf.SerialNumber) != 0 {
			err = fmt.Errorf("it is the one with the number %s", serial)
		}
		return err
	})
}

// call has Metacontroller call with other credentials, which it reads when the CompositeController changes.
func (s *secured) call(name, ca string, client *certtest.Authority, token string) {
	s.Helper()
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
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	for arrived := 0; arrived < boxes; time.Sleep(100 * time.Millisecond) {
		list, err := objects.List(ctx, "deployments.apps", s.ns, "")
		if err != nil {
			return fmt.Errorf("%d Deployments have the image %s: %w", arrived, image, err)
		}
		arrived = 0
		for _, deployment := range list {
			if at(deployment, "spec", "template", "spec", "containers", 0, "image") == image {
				arrived++
			}
		}
	}
	return nil
}

// refusals are what a caller whose credentials are not accepted, or who does not accept the server's, says.
var refusals = regexp.MustCompile(`x509|tls: |\b40[13]\b.*body`)

// during does something while custom resources are edited, and once more afterwards.
func (s *secured) during(what string, do func()) {
	s.Helper()
	done, before := make(chan struct{}), s.edits
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
	defer func() { _ = response.Body.Close() }()
	metrics, err := io.ReadAll(response.Body)
	require.NoError(s, err)
	require.NotRegexp(s, `operetta_requests_refused_total\{reason="(unauthorized|forbidden)"\} [1-9]`, string(metrics), what)
	s.Logf("%s: %d times %d edits have arrived meanwhile", what, s.edits-before, boxes)
}
