package server_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/certtest"
	"github.com/operetta-dev/operetta/internal/server"
)

const (
	oldToken = "old-token-0123456789"
	newToken = "new-token-0123456789"
)

// secured is a server with TLS whose credential files can be replaced.
type secured struct {
	*edge

	authority *certtest.Authority // of the server
	clients   *certtest.Authority
	files     *certtest.Mounted
}

// contents returns the initial contents of a secured server's files.
func contents(t *testing.T, authority, clients *certtest.Authority) map[string][]byte {
	t.Helper()
	pair := authority.Server(t)
	return map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": clients.PEM, "token": []byte(oldToken + "\n")}
}

// startSecured starts a server with all credentials that choose does not remove.
func startSecured(t *testing.T, choose func(*server.CredentialFiles), change func(*server.Options)) *secured {
	t.Helper()
	s := &secured{authority: certtest.NewAuthority(t, "servers"), clients: certtest.NewAuthority(t, "clients")}
	s.files = certtest.Mount(t, contents(t, s.authority, s.clients))
	files := server.CredentialFiles{
		Certificate: s.files.Path("tls.crt"), PrivateKey: s.files.Path("tls.key"),
		ClientCA: s.files.Path("ca.crt"), ClientNames: []string{"metacontroller"}, Tokens: s.files.Path("token"),
	}
	choose(&files)
	s.edge = start(t, func(o *server.Options) {
		var err error
		o.Credentials, err = server.LoadCredentials(files, o.Log)
		require.NoError(t, err)
		if change != nil {
			change(o)
		}
	})
	return s
}

func withTokens(files *server.CredentialFiles)       { files.ClientCA, files.ClientNames = "", nil }
func withCertificates(files *server.CredentialFiles) { files.Tokens = "" }
func withTLS(files *server.CredentialFiles)          { withTokens(files); withCertificates(files) }

// caller is a client that calls hooks over TLS.
type caller struct {
	http.Client

	url, token string
}

// caller returns a client with a certificate and a token, each of which may be empty.
func (s *secured) caller(t *testing.T, pair *certtest.Pair, token string) *caller {
	t.Helper()
	config := &tls.Config{RootCAs: s.authority.Pool()}
	if pair != nil {
		config.Certificates = []tls.Certificate{pair.TLS(t)}
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &caller{http.Client{Transport: transport}, "https://" + s.hooks, token}
}

// spoken is the protocol of a response.
type spoken struct {
	closes  bool // the connection afterwards
	http    int  // the major version
	version uint16
}

func (c *caller) ask(method, path, body string) (answered, spoken, error) {
	post, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		return answered{}, spoken{}, err
	}
	if c.token != "" {
		post.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.Do(post)
	if err != nil {
		return answered{}, spoken{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	how := spoken{closes: response.Close, http: response.ProtoMajor}
	if response.TLS != nil {
		how.version = response.TLS.Version
	}
	return answered{response.StatusCode, response.Header, string(text)}, how, err
}

func (c *caller) sync(t *testing.T, text string) answered {
	t.Helper()
	got, _, err := c.ask(http.MethodPost, "/greeting/sync", request(text))
	require.NoError(t, err)
	return got
}

// TestWhoMayCall: without a valid certificate there is no connection, without a valid name or
// token the request gets the reason, and no hook runs.
func TestWhoMayCall(t *testing.T) {
	t.Parallel()
	s := startSecured(t, func(*server.CredentialFiles) {}, nil)
	named := s.clients.Client(t, time.Hour, "metacontroller")
	alsoNamed := s.clients.Client(t, time.Hour, "somebody", "metacontroller")
	other := s.clients.Client(t, time.Hour, "somebody")
	expired := s.clients.Client(t, -time.Minute, "metacontroller")
	foreign := certtest.NewAuthority(t, "clients").Client(t, time.Hour, "metacontroller")
	asServer := s.clients.Server(t, "metacontroller")

	require.Equal(t, http.StatusOK, s.caller(t, &named, oldToken).sync(t, "hi").code)
	require.Equal(t, http.StatusOK, s.caller(t, &alsoNamed, oldToken).sync(t, "hi").code)
	for name, pair := range map[string]*certtest.Pair{
		"no certificate": nil, "an expired certificate": &expired, "of another CA": &foreign, "a certificate for servers": &asServer,
	} {
		_, _, err := s.caller(t, pair, oldToken).ask(http.MethodPost, "/greeting/sync", request("block"))
		require.ErrorContains(t, err, "remote error: tls: ", name)
	}
	for name, refused := range map[string]struct {
		caller    *caller
		code      int
		challenge string
		says      string
	}{
		"another name":             {s.caller(t, &other, oldToken), http.StatusForbidden, "", "in --client-names"},
		"no token":                 {s.caller(t, &named, ""), http.StatusUnauthorized, `Bearer realm="operetta"`, "no bearer token: set authorization"},
		"a wrong token":            {s.caller(t, &named, newToken), http.StatusUnauthorized, `Bearer realm="operetta", error="invalid_token"`, "none of those"},
		"the beginning of a token": {s.caller(t, &named, oldToken[:10]), http.StatusUnauthorized, `Bearer realm="operetta", error="invalid_token"`, "none of those"},
		"a token and more":         {s.caller(t, &named, oldToken+"1"), http.StatusUnauthorized, `Bearer realm="operetta", error="invalid_token"`, "none of those"},
	} {
		for path, body := range map[string]string{"/greeting/sync": request("block"), "/salute/sync": "", "/greeting/customize": "{"} {
			got, how, err := refused.caller.ask(http.MethodPost, path, body)
			require.NoError(t, err, name)
			require.Equal(t, refused.code, got.code, "%s: %s", name, path)
			require.Equal(t, refused.challenge, got.header.Get("WWW-Authenticate"), name)
			require.Contains(t, got.body, refused.says, name)
			require.True(t, how.closes, "%s: the connection of an unauthenticated client is closed", name)
			requireOneLine(t, got)
		}
	}
	require.Empty(t, s.reached, "no hook has run")
	require.Equal(t, http.StatusOK, s.probe(t, "/readyz").code, "the health port needs no credentials")
	s.requireAllSeries(t, map[string]string{
		`operetta_requests_refused_total{reason="unauthorized"}`:               "12",
		`operetta_requests_refused_total{reason="forbidden"}`:                  "3",
		`operetta_requests_total{code="401",hook="",kind=""}`:                  "12",
		`operetta_requests_total{code="403",hook="",kind=""}`:                  "3",
		`operetta_requests_total{code="200",hook="sync",kind="greeting"}`:      "2",
		`operetta_request_duration_seconds_count{hook="sync",kind="greeting"}`: "2",
	})
	for _, token := range []string{oldToken, newToken} {
		require.NotContains(t, s.log.String(), token)
	}
}

// TestRequestsWithoutAPath: those that name no path, which net/http can answer by itself,
// are refused and logged like others.
func TestRequestsWithoutAPath(t *testing.T) {
	s := startSecured(t, func(files *server.CredentialFiles) { *files = server.CredentialFiles{Tokens: files.Tokens} }, nil)
	e := start(t, nil)
	for i, target := range []string{"OPTIONS *", "GET *", "POST *", "CONNECT example.com:80", "CONNECT *"} {
		for address, code := range map[string]int{s.hooks: http.StatusUnauthorized, e.hooks: http.StatusNotFound, e.health: http.StatusNotFound} {
			conn, err := net.Dial("tcp", address)
			require.NoError(t, err)
			_, err = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: operetta\r\n\r\n", target)
			require.NoError(t, err)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			require.NoError(t, response.Body.Close())
			require.NoError(t, conn.Close())
			require.Equal(t, code, response.StatusCode, target)
			require.Equal(t, address == s.hooks, response.Close, "%s: the connection is kept by who may use it", target)
		}
		require.Len(t, s.log.requests(t, i+1), i+1, target)
		require.Len(t, e.log.requests(t, i+1), i+1, target)
	}
}

// TestATokenInPlainHTTP: a token can be required without TLS, for example behind a proxy
// that terminates TLS.
func TestATokenInPlainHTTP(t *testing.T) {
	s := startSecured(t, func(files *server.CredentialFiles) { *files = server.CredentialFiles{Tokens: files.Tokens} }, nil)
	require.Equal(t, http.StatusUnauthorized, s.post(t, "/greeting/sync", request("block")).code)
	c := &caller{url: "http://" + s.hooks, token: oldToken}
	require.Equal(t, http.StatusOK, c.sync(t, "hi").code)
	require.Empty(t, s.reached)
}

// TestUnauthenticatedLargeBodyIsAnswered: the client sees the reason while it sends.
func TestUnauthenticatedLargeBodyIsAnswered(t *testing.T) {
	s := startSecured(t, withTokens, nil)
	got, _, err := s.caller(t, nil, "").ask(http.MethodPost, "/greeting/sync", strings.Repeat(" ", 20<<20))
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, got.code)
}

// TestTLSVersions: TLS 1.1 and HTTP/2 are refused.
func TestTLSVersions(t *testing.T) {
	s := startSecured(t, withTLS, nil)
	got, how, err := s.caller(t, nil, "").ask(http.MethodPost, "/greeting/sync", request("hi"))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, got.code)
	require.Equal(t, 1, how.http)
	require.Equal(t, uint16(tls.VersionTLS13), how.version)
	for version, taken := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		conn, err := tls.Dial("tcp", s.hooks, &tls.Config{RootCAs: s.authority.Pool(), MinVersion: version, MaxVersion: version})
		require.Equal(t, taken, err == nil, "%x: %v", version, err)
		if err == nil {
			_ = conn.Close()
		}
	}
	got, err = s.do(http.MethodPost, "/greeting/sync", strings.NewReader(request("block")))
	require.True(t, err != nil || got.code == http.StatusBadRequest, "plain HTTP gets no hook: %v", got)
	require.Empty(t, s.reached)
}
