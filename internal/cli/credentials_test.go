package cli

import (
	"crypto/tls"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/certtest"
)

// TestServeChecksCredentials: the program as it is started in a cluster, with files
// that are replaced while it runs.
func TestServeChecksCredentials(t *testing.T) {
	t.Parallel()
	const first, second = "first-0123456789abcdef", "second-0123456789abcdef"
	servers, clients := certtest.NewAuthority(t, "servers"), certtest.NewAuthority(t, "clients")
	contents := func(tokens string) map[string][]byte {
		pair := servers.Server(t)
		return map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": clients.PEM, "accepted": []byte(tokens)}
	}
	files := certtest.Mount(t, contents(first))
	p := serveInProcess(t, someKinds, "--drain-delay", "0s", "--config", write(t, "config.yaml", "client-names: gateway,metacontroller\n"),
		"--tls-cert-file", files.Path("tls.crt"), "--tls-private-key-file", files.Path("tls.key"),
		"--client-ca-file", files.Path("ca.crt"), "--token-file", files.Path("accepted"))
	require.Equal(t, true, p.serving["tls"])
	client := func(pair *certtest.Pair) *http.Client {
		config := &tls.Config{RootCAs: servers.Pool()}
		if pair != nil {
			config.Certificates = []tls.Certificate{pair.TLS(t)}
		}
		transport := &http.Transport{TLSClientConfig: config}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	ask := func(c *http.Client, token string) int {
		post, err := http.NewRequest(http.MethodGet, strings.Replace(p.hooks, "http:", "https:", 1)+"/modelbox/sync", nil)
		require.NoError(t, err)
		post.Header.Set("Authorization", "Bearer "+token)
		response, err := c.Do(post)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	named, other := clients.Client(t, time.Hour, "metacontroller"), clients.Client(t, time.Hour, "other")
	known := client(&named)
	require.Equal(t, http.StatusMethodNotAllowed, ask(known, first), "it gets to the routes")
	require.Equal(t, http.StatusUnauthorized, ask(known, second))
	require.Equal(t, http.StatusForbidden, ask(client(&other), first))
	_, err := tls.Dial("tcp", strings.TrimPrefix(p.hooks, "http://"), &tls.Config{RootCAs: servers.Pool(), MaxVersion: tls.VersionTLS12})
	require.Error(t, err, "without a certificate there is no connection")
	require.Equal(t, http.StatusOK, status(t, p.health+"/readyz"), "probes need nothing")

	files.Replace(t, contents(second))
	require.Eventually(t, func() bool { return ask(known, second) == http.StatusMethodNotAllowed }, time.Minute, 50*time.Millisecond)
	require.Equal(t, http.StatusUnauthorized, ask(known, first))
	files.Replace(t, map[string][]byte{"tls.crt": []byte("x"), "tls.key": []byte("x"), "ca.crt": nil, "accepted": nil})
	require.Equal(t, http.StatusMethodNotAllowed, ask(client(&named), second), "what cannot be used changes nothing")
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	p.waitFor(t, "drained")
	require.NoError(t, p.Wait())
}

// TestServeRefusesCredentialsThatCannotBeUsed as a wrong use, and says what to write.
func TestServeRefusesCredentialsThatCannotBeUsed(t *testing.T) {
	pair := certtest.NewAuthority(t, "servers").Server(t)
	certificate, key := write(t, "tls.crt", string(pair.Certificate)), write(t, "tls.key", string(pair.Key))
	other := write(t, "other.key", string(certtest.NewAuthority(t, "servers").Server(t).Key))
	for says, flags := range map[string][]string{
		"write both or neither":                  {"--tls-cert-file", certificate},
		"needs TLS: write --tls-cert-file":       {"--client-ca-file", certificate},
		"needs --client-ca-file":                 {"--client-names", "a"},
		"and the private key that belongs to it": {"--tls-cert-file", certificate, "--tls-private-key-file", other},
		"no such file or directory":              {"--tls-cert-file", certificate + ".absent", "--tls-private-key-file", key},
		"has no token: write one on each line":   {"--token-file", write(t, "empty", "\n")},
		"callers' certificates":                  {"--tls-cert-file", certificate, "--tls-private-key-file", key, "--client-ca-file", key},
		"open /nowhere: no such file":            {"--token-file", "/nowhere"},
	} {
		code, _, stderr := operetta(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"}, flags...)...)
		require.Equal(t, ExitUsage, code, stderr)
		require.Contains(t, stderr, says)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
		key, err := os.ReadFile(other)
		require.NoError(t, err)
		require.NotContains(t, stderr, string(key[40:60]))
	}
}
