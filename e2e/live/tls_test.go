package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
	"github.com/operetta-dev/operetta/e2e/kubelet"
)

// pair returns a certificate for this machine and a name, and its key.
func pair(t *testing.T, a *kubelet.Authority, name string, valid time.Duration) (certificate, key string) {
	t.Helper()
	certificate, key, err := a.Issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(valid),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	require.NoError(t, err)
	return certificate, key
}

// securedServer is a second server, with TLS, client certificates and tokens.
type securedServer struct {
	*testing.T

	dir, address string
	authority    *kubelet.Authority
}

// write writes a file of credentials.
func (s *securedServer) write(name, content string) {
	s.Helper()
	require.NoError(s, os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o600))
}

func startSecuredServer(t *testing.T) *securedServer {
	t.Helper()
	authority, err := kubelet.NewAuthority()
	require.NoError(t, err)
	s := &securedServer{t, t.TempDir(), freeAddress(t), authority}
	certificate, key := pair(s.T, s.authority, "server", time.Hour)
	s.write("tls.key", key)
	s.write("tls.crt", certificate)
	s.write("ca.crt", s.authority.PEM)
	s.write("accepted", "the-first-token-0123456789\n")
	file := func(name string) string { return filepath.Join(s.dir, name) }
	binary, err := filepath.Abs(filepath.Join(root, cluster.ServerProgram))
	require.NoError(t, err)
	require.NoError(t, operetta.Run(t.Context(), cluster.Program{
		Name: "secured", Path: binary,
		Args: []string{
			"serve", "--listen=" + s.address, "--metrics-listen=127.0.0.1:0", "--drain-delay=0s",
			"--tls-cert-file=" + file("tls.crt"), "--tls-private-key-file=" + file("tls.key"),
			"--client-ca-file=" + file("ca.crt"), "--client-names=metacontroller", "--token-file=" + file("accepted"),
		},
		Ready: func(context.Context) error {
			conn, err := tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true})
			if err != nil {
				return err
			}
			return conn.Close()
		},
	}))
	t.Cleanup(func() { require.NoError(t, operetta.End("secured")) })
	return s
}

// secret creates a Secret.
func (w *world) secret(name string, data map[string]string) {
	w.Helper()
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "stringData": data})
	require.NoError(w, err)
	w.apply(string(text))
}

// endpoint sets the endpointConfigs of the CompositeController for ModelBoxes.
func (w *world) endpoint(host string, fields map[string]any) {
	w.Helper()
	fields["host"] = host
	text, err := json.Marshal(map[string]any{"spec": map[string]any{"endpointConfigs": []any{fields}}})
	require.NoError(w, err)
	w.kubectl("patch", "compositecontroller/operetta-modelbox", "--type=merge", "--patch="+string(text))
}

func (w *world) ref(name, key string) map[string]any {
	ref := map[string]any{"name": name, "namespace": w.ns}
	if key != "" {
		ref["key"] = key
	}
	return map[string]any{"secretRef": ref}
}

func (w *world) events() string {
	return w.kubectl("get", "events", "--field-selector=involvedObject.kind=ModelBox,involvedObject.name=box,type=Warning", `--output=jsonpath={range .items[*]}{.count} {.message}{"\n"}{end}`)
}

func (w *world) says(text string) {
	w.Helper()
	w.eventually("an event says "+text, func() error {
		if events := w.events(); !strings.Contains(events, text) {
			return fmt.Errorf("the events say %s", events)
		}
		return nil
	})
}

func (w *world) replicas(wanted int) {
	w.Helper()
	w.eventually(fmt.Sprintf("there are %d replicas", wanted), func() error {
		if got := at(w.get("deployment", "box"), "spec", "replicas"); got != int64(wanted) {
			return fmt.Errorf("it asks for %v", got)
		}
		return nil
	})
}

// TestCredentials: with wrong, missing and expired credentials no child is written, and with
// valid ones syncs succeed.
func TestCredentials(t *testing.T) {
	s := startSecuredServer(t)
	_, _, err := operetta.Kubectl("apply", "--filename="+root+"/deploy/components/https/metacontroller-secrets.yaml")
	require.NoError(t, err)
	t.Cleanup(func() {
		_, _, err := operetta.Kubectl("delete", "--filename="+root+"/deploy/components/https/metacontroller-secrets.yaml")
		require.NoError(t, err)
	})
	w := newWorld(t, start(t, modes[0], "https://"+s.address))
	t.Cleanup(func() {
		_, _, err := operetta.Kubectl("patch", "compositecontroller/operetta-modelbox", "--type=merge", `--patch={"spec": {"endpointConfigs": null}}`)
		require.NoError(t, err)
		require.NoError(t, operetta.Connect(operetta.HookURL, "v2")) // or what is left would be called here
	})
	certificate, key := pair(t, s.authority, "metacontroller", time.Hour)
	other, otherKey := pair(t, s.authority, "somebody", time.Hour)
	w.secret("ca", map[string]string{"ca.crt": s.authority.PEM})
	w.secret("client", map[string]string{"tls.crt": certificate, "tls.key": key})
	w.secret("somebody", map[string]string{"tls.crt": other, "tls.key": otherKey})
	w.secret("token", map[string]string{"first": "the-first-token-0123456789", "second": "the-second-token-0123456789\n"})

	w.apply(modelBox(`image: "nginx:1", replicas: 1, ports: [{port: 80}]`))
	w.says("certificate signed by unknown authority")
	ca, client := w.ref("ca", "ca.crt"), w.ref("client", "")
	for _, refused := range []struct {
		says   string
		fields map[string]any
	}{
		{"remote error: tls: certificate required", map[string]any{"caBundle": ca}},
		{"403 body: none of the names in the client certificate", map[string]any{"caBundle": ca, "clientTLS": w.ref("somebody", "")}},
		{"401 body: no bearer token: set authorization", map[string]any{"caBundle": ca, "clientTLS": client}},
		{"401 body: the bearer token is none of those", map[string]any{"caBundle": ca, "clientTLS": client, "authorization": w.ref("token", "second")}},
	} {
		w.endpoint(s.address, refused.fields)
		w.says(refused.says)
	}
	require.Empty(t, w.kubectl("get", "deployments,services", "--output=name"), "nothing has changed")

	w.endpoint(s.address, map[string]any{"caBundle": ca, "clientTLS": client, "authorization": w.ref("token", "first")})
	w.replicas(1)
	w.ready("modelbox/box")

	// A client certificate that has expired.
	short, shortKey := pair(t, s.authority, "metacontroller", -time.Minute)
	w.secret("short", map[string]string{"tls.crt": short, "tls.key": shortKey})
	w.endpoint(s.address, map[string]any{"caBundle": ca, "clientTLS": w.ref("short", ""), "authorization": w.ref("token", "first")})
	w.kubectl("patch", "modelboxes.model.github.com/box", "--type=merge", `--patch={"spec": {"replicas": 2}}`)
	w.says("remote error: tls: expired certificate")
	require.EqualValues(t, 1, at(w.get("deployment", "box"), "spec", "replicas"), "nothing has changed")
	w.endpoint(s.address, map[string]any{"caBundle": ca, "clientTLS": client, "authorization": w.ref("token", "first")})
	w.replicas(2)
}
