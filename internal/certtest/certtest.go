// Package certtest creates certificates for tests, and folders in which they are replaced.
// That happens in the way the kubelet updates the volume of a Secret.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Authority is a CA that signs certificates.
type Authority struct {
	// PEM is the CA's certificate.
	PEM         []byte
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Pair is a certificate and its private key, in PEM.
type Pair struct{ Certificate, Key []byte }

// NewAuthority returns a self-signed CA.
func NewAuthority(t testing.TB, name string) *Authority {
	t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(time.Hour),
	}
	pair, key := (&Authority{certificate: template}).sign(t, template)
	block, _ := pem.Decode(pair.Certificate)
	certificate, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return &Authority{PEM: pair.Certificate, certificate: certificate, key: key}
}

// Server returns a certificate for a server on localhost, with additional DNS names.
func (a *Authority) Server(t testing.TB, names ...string) Pair {
	t.Helper()
	pair, _ := a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "server"}, DNSNames: append(names, "localhost"), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, KeyUsage: x509.KeyUsageDigitalSignature, NotAfter: time.Now().Add(time.Hour),
	})
	return pair
}

// Client returns a client certificate that expires after a time. The first name is its
// common name, the others are DNS names.
func (a *Authority) Client(t testing.TB, valid time.Duration, name string, names ...string) Pair {
	t.Helper()
	pair, _ := a.sign(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: names,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, KeyUsage: x509.KeyUsageDigitalSignature, NotAfter: time.Now().Add(valid),
	})
	return pair
}

// sign signs a certificate for a new key. Without a key of the CA it is self-signed.
func (a *Authority) sign(t testing.TB, template *x509.Certificate) (Pair, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template.SerialNumber, err = rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	template.NotBefore = time.Now().Add(-time.Hour)
	signer := a.key
	if signer == nil {
		signer = key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, signer)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	return Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
	}, key
}

// TLS returns the pair as a crypto/tls certificate.
func (p Pair) TLS(t testing.TB) tls.Certificate {
	t.Helper()
	certificate, err := tls.X509KeyPair(p.Certificate, p.Key)
	require.NoError(t, err)
	return certificate
}

// Pool returns a pool that trusts the CA.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(a.PEM)
	return pool
}

// Mounted is a folder whose files are replaced together, as the kubelet does in the
// volume of a Secret: each is a symbolic link to ..data/<name>, and ..data is a link to
// a folder that is replaced as a whole.
type Mounted struct {
	Dir     string
	version string
}

// Mount creates such a folder.
func Mount(t testing.TB, files map[string][]byte) *Mounted {
	t.Helper()
	m := &Mounted{Dir: t.TempDir()}
	m.Replace(t, files)
	for name := range files {
		require.NoError(t, os.Symlink(filepath.Join("..data", name), m.Path(name)))
	}
	return m
}

// Path returns the path of a file.
func (m *Mounted) Path(name string) string { return filepath.Join(m.Dir, name) }

// Replace replaces all files at once.
func (m *Mounted) Replace(t testing.TB, files map[string][]byte) {
	t.Helper()
	version, err := os.MkdirTemp(m.Dir, "..version")
	require.NoError(t, err)
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(version, name), content, 0o600))
	}
	require.NoError(t, os.Symlink(filepath.Base(version), m.Path("..next")))
	require.NoError(t, os.Rename(m.Path("..next"), m.Path("..data")))
	if m.version != "" {
		require.NoError(t, os.RemoveAll(m.version))
	}
	m.version = version
}
