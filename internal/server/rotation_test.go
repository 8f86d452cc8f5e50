package server_test

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/certtest"
	"github.com/operetta-dev/operetta/internal/server"
)

// rotated is how long it may take until a changed file is in use.
const rotated = time.Minute

// serial returns the serial number of the server's certificate.
func (s *secured) serial(t *testing.T) string {
	t.Helper()
	conn, err := tls.Dial("tcp", s.hooks, &tls.Config{RootCAs: s.authority.Pool()})
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// TestCredentialsRotateUnderLoad: clients that get the new credentials in time see no
// error, and the old credentials are refused soon.
func TestCredentialsRotateUnderLoad(t *testing.T) {
	t.Parallel()
	s := startSecured(t, func(*server.CredentialFiles) {}, nil)
	nextClients := certtest.NewAuthority(t, "next clients")
	oldPair, newPair := s.clients.Client(t, time.Hour, "metacontroller"), nextClients.Client(t, time.Hour, "metacontroller")
	current := s.caller(t, &oldPair, oldToken)
	var use sync.RWMutex // of current: no request is in flight while it changes
	stop, failed := make(chan struct{}), make(chan string, 100)
	var load sync.WaitGroup
	var count atomic.Int64
	for range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond): // leaves the processor to other tests
				}
				use.RLock()
				got, _, err := current.ask(http.MethodPost, "/greeting/sync", request("hi"))
				if count.Add(1); count.Load()%20 == 0 {
					current.CloseIdleConnections() // so that some requests use new connections
				}
				use.RUnlock()
				if err != nil || got.code != http.StatusOK {
					select {
					case failed <- got.body + errorText(err):
					default:
					}
					return
				}
			}
		})
	}
	before := s.serial(t)
	both := contents(t, s.authority, s.clients)
	both["ca.crt"] = append(append([]byte{}, s.clients.PEM...), nextClients.PEM...)
	both["token"] = []byte(oldToken + "\n" + newToken + "\n")
	s.files.Replace(t, both)
	next := s.caller(t, &newPair, newToken)
	require.Eventually(t, func() bool { return s.serial(t) != before && next.sync(t, "hi").code == http.StatusOK }, rotated, 50*time.Millisecond)
	use.Lock()
	stale := current
	current = next
	use.Unlock()

	onlyNew := contents(t, s.authority, nextClients)
	onlyNew["token"] = []byte(newToken)
	s.files.Replace(t, onlyNew)
	require.Eventually(t, func() bool {
		stale.CloseIdleConnections()
		_, _, err := stale.ask(http.MethodPost, "/greeting/sync", request("hi"))
		return err != nil // the CA of its certificate is gone
	}, rotated, 50*time.Millisecond)
	stale = s.caller(t, &newPair, oldToken)
	require.Eventually(t, func() bool { return stale.sync(t, "hi").code == http.StatusUnauthorized }, rotated, 50*time.Millisecond)
	for range 20 {
		require.Equal(t, http.StatusUnauthorized, stale.sync(t, "hi").code, "the old token stays refused")
	}
	close(stop)
	load.Wait()
	require.Empty(t, failed)
	require.Greater(t, count.Load(), int64(50))
}

// syncOnNewConnection calls a hook with the old token. It tries some times: on a busy
// machine a handshake may take longer than the server waits for it.
func (s *secured) syncOnNewConnection(t *testing.T, pair *certtest.Pair) answered {
	t.Helper()
	var got answered
	var err error
	for range 10 {
		if got, _, err = s.caller(t, pair, oldToken).ask(http.MethodPost, "/greeting/sync", request("hi")); err == nil {
			break
		}
	}
	require.NoError(t, err)
	return got
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestBrokenFilesChangeNothing: invalid files are logged, and the former credentials
// stay in use.
func TestBrokenFilesChangeNothing(t *testing.T) {
	t.Parallel()
	for name, breakFiles := range map[string]func(s *secured, files map[string][]byte){
		"empty": func(_ *secured, files map[string][]byte) {
			for file := range files {
				files[file] = nil
			}
		},
		"nonsense": func(_ *secured, files map[string][]byte) {
			for file := range files {
				files[file] = []byte("x")
			}
		},
		"absent":   func(_ *secured, files map[string][]byte) { clear(files) },
		"mismatch": func(s *secured, files map[string][]byte) { files["tls.key"] = s.authority.Server(t).Key },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startSecured(t, func(*server.CredentialFiles) {}, nil)
			pair := s.clients.Client(t, time.Hour, "metacontroller")
			c := s.caller(t, &pair, oldToken)
			require.Equal(t, http.StatusOK, c.sync(t, "hi").code)
			before := s.serial(t)
			broken := contents(t, s.authority, s.clients)
			breakFiles(s, broken)
			s.files.Replace(t, broken)
			for range 15 { // for longer than the files are not looked at
				require.Equal(t, http.StatusOK, s.syncOnNewConnection(t, &pair).code)
				time.Sleep(100 * time.Millisecond)
			}
			require.Equal(t, before, s.serial(t))
			require.Equal(t, name != "mismatch", strings.Contains(s.log.String(), "the former tokens stay"))
			// Valid files are used again.
			before = s.serial(t)
			s.files.Replace(t, contents(t, s.authority, s.clients))
			require.Eventually(t, func() bool { return s.serial(t) != before }, rotated, 50*time.Millisecond)
			for _, line := range []string{
				`"msg":"reloaded","what":"certificates","files":["` + s.files.Path("tls.crt") + `","` + s.files.Path("tls.key") + `","` + s.files.Path("ca.crt") + `"],"notAfter":"`,
				`"msg":"reloaded","what":"tokens","files":["` + s.files.Path("token") + `"],"count":1}`,
			} {
				require.Eventually(t, func() bool { return c.sync(t, "hi").code == http.StatusOK && strings.Contains(s.log.String(), line) }, rotated, 50*time.Millisecond, line)
			}
		})
	}
}

// TestCredentialsThatCannotBeUsed: the error names the flag and says what to write.
func TestCredentialsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	authority := certtest.NewAuthority(t, "servers")
	files := contents(t, authority, authority)
	files["other.key"] = authority.Server(t).Key
	files["empty"], files["text"], files["short"] = nil, []byte("no PEM"), []byte("\n0123456789\n")
	files["spaces"] = []byte("0123456789 0123456789")
	dir := t.TempDir()
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	type credentials = server.CredentialFiles
	for says, c := range map[string]credentials{
		"go together: write both or neither": {Certificate: "tls.crt"},
		"--tls-private-key-file go together": {PrivateKey: "tls.key"},
		"--client-ca-file needs TLS":         {ClientCA: "ca.crt"},
		"--client-names needs":               {Certificate: "tls.crt", PrivateKey: "tls.key", ClientNames: []string{"a"}},
		"--client-names has an empty name":   {Certificate: "tls.crt", PrivateKey: "tls.key", ClientCA: "ca.crt", ClientNames: []string{"a", ""}},
		"private key does not match":         {Certificate: "tls.crt", PrivateKey: "other.key"},
		"find any PEM data":                  {Certificate: "text", PrivateKey: "tls.key"},
		"no such file":                       {Certificate: "absent", PrivateKey: "tls.key"},
		"--client-ca-file: ":                 {Certificate: "tls.crt", PrivateKey: "tls.key", ClientCA: "text"},
		"absent: no such file":               {Tokens: "absent"},
		"has no token: write one":            {Tokens: "empty"},
		"less than 16 characters on line 2":  {Tokens: "short"},
		"on line 1 that cannot stand":        {Tokens: "spaces"},
	} {
		for _, file := range []*string{&c.Certificate, &c.PrivateKey, &c.ClientCA, &c.Tokens} {
			if *file != "" {
				*file = filepath.Join(dir, *file)
			}
		}
		_, err := server.LoadCredentials(c, discard())
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "0123456789", "no token is shown")
	}
	none, err := server.LoadCredentials(credentials{}, discard())
	require.NoError(t, err)
	require.Nil(t, none)
}
