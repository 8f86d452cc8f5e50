package kubelet

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// Authority is a CA.
type Authority struct {
	// PEM is its certificate, and Key its key.
	PEM, Key string

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority makes a CA that is valid for a day.
func NewAuthority() (*Authority, error) {
	a := &Authority{certificate: &x509.Certificate{
		Subject: pkix.Name{CommonName: "authority"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotAfter: time.Now().Add(24 * time.Hour),
	}}
	var err error
	if a.key, a.Key, err = newKey(); err != nil {
		return nil, err
	}
	a.PEM, err = a.sign(a.certificate, &a.key.PublicKey)
	return a, err
}

// Issue returns a certificate and its key.
func (a *Authority) Issue(template *x509.Certificate) (certificate, key string, err error) {
	private, key, err := newKey()
	if err != nil {
		return "", "", err
	}
	certificate, err = a.sign(template, &private.PublicKey)
	return certificate, key, err
}

func (a *Authority) sign(template *x509.Certificate, key *ecdsa.PublicKey) (string, error) {
	template.NotBefore = time.Now().Add(-time.Hour)
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key, a.key)
	if err != nil {
		return "", fmt.Errorf("sign a certificate: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), nil
}

// newKey returns a key, and its text.
func newKey() (*ecdsa.PrivateKey, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", fmt.Errorf("make a key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, "", fmt.Errorf("encode a key: %w", err)
	}
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})), nil
}
