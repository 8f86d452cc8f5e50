package loadtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/certtest"
)

// manyNames is a certificate that anybody can make: so many URIs without text, each of
// which becomes a url.URL.
func manyNames(t *testing.T, count int) tls.Certificate {
	t.Helper()
	return selfSigned(t, bytes.Repeat([]byte{0x86, 0}, count))
}

// selfSigned is a certificate with alternative names in DER.
func selfSigned(t *testing.T, names []byte) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	value, err := asn1.Marshal(asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: names})
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Value: value}},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// startTLS starts the server with TLS and, if there are any, those who sign clients'
// certificates. It returns who has signed the server's, too.
func startTLS(t *testing.T, clients *certtest.Authority) (*process, *certtest.Authority) {
	t.Helper()
	files, authority := t.TempDir(), certtest.NewAuthority(t, "servers")
	pair := authority.Server(t)
	write := func(name string, text []byte) string {
		path := filepath.Join(files, name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	flags := []string{"--tls-cert-file=" + write("tls.crt", pair.Certificate), "--tls-private-key-file=" + write("tls.key", pair.Key)}
	if clients != nil {
		flags = append(flags, "--client-ca-file="+write("ca.crt", clients.PEM))
	}
	return start(t, flags...), authority
}

// unreadableName returns a certificate with a URI of control characters, in DER: crypto/x509 quotes
// it twice in its error, with four bytes for each.
func unreadableName(t *testing.T) []byte {
	t.Helper()
	plain := bytes.Repeat([]byte{'a'}, 13_000)
	name, err := asn1.Marshal(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 6, Bytes: plain})
	require.NoError(t, err)
	return bytes.ReplaceAll(selfSigned(t, name).Certificate[0], plain, bytes.Repeat([]byte{1}, len(plain)))
}

// TestCertificatesHoldLittle: a connection keeps what its client has sent, also where no CA
// has signed it. 1,000 connections come with certificates of 29 KB, which take 2 MB each
// when they are parsed, with the largest that are read, or with the largest that are taken.
func TestCertificatesHoldLittle(t *testing.T) {
	const connections = 1000
	for name, uris := range map[string]int{"of 2 MB": 14_000, "as large as is read": 6_000, "as large as may be": 350} {
		t.Run(name, func(t *testing.T) {
			clients := certtest.NewAuthority(t, "clients")
			p, authority := startTLS(t, clients)
			certificate := manyNames(t, uris)
			config := &tls.Config{RootCAs: authority.Pool(), ServerName: "localhost", GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }}
			var group sync.WaitGroup
			var refused, answered atomic.Int32
			for i := range connections {
				group.Go(func() {
					time.Sleep(time.Duration(i) * time.Second / connections)
					dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: config}
					conn, err := dialer.DialContext(t.Context(), "tcp", p.hooks)
					if err != nil {
						return
					}
					defer func() { _ = conn.Close() }()
					time.Sleep(1300 * time.Millisecond) // the headers have two seconds, and then a body does not come
					_, _ = fmt.Fprint(conn, "POST /podset/sync HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
					_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
					answer, err := io.ReadAll(conn)
					switch {
					case err != nil && strings.Contains(err.Error(), "bad certificate"):
						refused.Add(1)
					case strings.Contains(string(answer), " 403 "):
						answered.Add(1)
					}
				})
			}
			group.Wait()
			t.Logf("%d handshakes failed, and %d requests were answered with 403", refused.Load(), answered.Load())
			switch {
			case uris > 10_000: // reset before they are sent
				require.Zero(t, answered.Load())
			case uris > 1000:
				require.Zero(t, answered.Load())
				require.Positive(t, refused.Load())
			default:
				require.Zero(t, refused.Load())
				require.Positive(t, answered.Load())
			}

			honest := clients.Client(t, time.Hour, "metacontroller").TLS(t)
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool(), ServerName: "localhost", Certificates: []tls.Certificate{honest}}}
			t.Cleanup(transport.CloseIdleConnections)
			got, err := post(t.Context(), &http.Client{Transport: transport, Timeout: 10 * time.Second}, "https://"+p.hooks+"/podset/sync", podSet(3, 0, template(100)))
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, got.code, got.text)
			p.requireAlive(t)
		})
	}
}

// certificateRecord is a record of TLS 1.2 with a client's certificate.
func certificateRecord(der []byte) []byte {
	withLength := func(head []byte, bytes int, text []byte) []byte { // of 2 or 3 bytes
		length := []byte{byte(len(text) >> 16), byte(len(text) >> 8), byte(len(text))}
		return slices.Concat(head, length[3-bytes:], text)
	}
	const certificate, handshake = 11, 22
	message := withLength([]byte{certificate}, 3, withLength(nil, 3, withLength(nil, 3, der)))
	return withLength([]byte{handshake, 3, 3}, 2, message)
}

// TestCertificatesOfClosedConnectionsHoldLittle: what a connection has sent is not kept after
// the client has closed it, or another has taken its place, or its time is over. Clients
// come as fast as they can with a certificate that takes 1 ms to parse, and leave at once
// or stay.
func TestCertificatesOfClosedConnectionsHoldLittle(t *testing.T) {
	const clients, long = 500, 6 * time.Second
	large := manyNames(t, 7000).Certificate[0]
	for name, test := range map[string]struct {
		certificate []byte
		stays       bool
	}{
		"leaves": {large, false}, "stays": {large, true}, "leaves with less": {manyNames(t, 3500).Certificate[0], false},
		"has a name that is quoted at length": {unreadableName(t), true},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := startTLS(t, certtest.NewAuthority(t, "clients"))
			hello, certificate := &firstFlight{}, certificateRecord(test.certificate)
			require.Error(t, tls.Client(hello, &tls.Config{
				InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}, //nolint:gosec // it sends one message and ends
			}).HandshakeContext(t.Context()))
			helloDone := []byte{14, 0, 0, 0}
			var sent atomic.Int32
			var group sync.WaitGroup
			began := time.Now()
			come := func() {
				conn, err := net.DialTimeout("tcp", p.hooks, time.Second)
				if err != nil {
					return
				}
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
				_, _ = conn.Write(hello.written)
				var got []byte
				for part := make([]byte, 8<<10); err == nil && !bytes.HasSuffix(got, helloDone); {
					var n int
					n, err = conn.Read(part)
					got = append(got, part[:n]...)
				}
				if err != nil {
					return
				}
				if _, err = conn.Write(certificate); err == nil {
					sent.Add(1)
				}
				if test.stays {
					_, _ = io.Copy(io.Discard, conn)
				}
			}
			for range clients {
				group.Go(func() {
					for time.Since(began) < long && len(p.ended) == 0 {
						come()
					}
				})
			}
			group.Wait()
			t.Logf("%d certificates were sent", sent.Load())
			require.Greater(t, sent.Load(), int32(clients/2))
			p.requireAlive(t)
			log, err := os.Stat(p.log)
			require.NoError(t, err)
			require.Less(t, log.Size(), int64(1<<20), "of the log")
		})
	}
}
