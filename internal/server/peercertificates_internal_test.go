package server

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
	"math/big"
	"net"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// names returns an extension with so many subject alternative names of a type.
func names(tag int, content string, count int) pkix.Extension {
	one, _ := asn1.Marshal(asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, Bytes: []byte(content)})
	value, _ := asn1.Marshal(asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: bytes.Repeat(one, count)})
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Value: value}
}

// signed returns a certificate for a client, which anybody can make.
func signed(t testing.TB, key any, public any, change func(*x509.Certificate)) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "metacontroller", Organization: []string{"Example"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	change(template)
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return certificate
}

// retained returns the bytes that parsed copies of certificates take each.
func retained(t testing.TB, certificate *x509.Certificate) int {
	t.Helper()
	const copies = 50
	kept := make([]*x509.Certificate, copies)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range kept {
		var err error
		kept[i], err = x509.ParseCertificate(bytes.Clone(certificate.Raw))
		require.NoError(t, err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(kept)
	return int(after.HeapAlloc-before.HeapAlloc) / copies
}

// TestPeerMemory: certificates whose parsed form is large, by whatever it has many of, are
// refused, and what is counted is at least what they take.
func TestPeerMemory(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	oids := func(count int) (list []asn1.ObjectIdentifier) {
		for i := range count {
			list = append(list, asn1.ObjectIdentifier{1, 2, i % 100})
		}
		return list
	}
	longOID := asn1.ObjectIdentifier{1, 2}
	for range 9000 {
		longOID = append(longOID, 1)
	}
	texts := func(count int) (list []string) {
		for i := range count {
			list = append(list, "a"+strconv.Itoa(i))
		}
		return list
	}
	many := map[string]func(*x509.Certificate){
		"URIs":              func(c *x509.Certificate) { c.ExtraExtensions = []pkix.Extension{names(6, "", 14_000)} },
		"DNS names":         func(c *x509.Certificate) { c.ExtraExtensions = []pkix.Extension{names(2, "", 14_000)} },
		"mail addresses":    func(c *x509.Certificate) { c.ExtraExtensions = []pkix.Extension{names(1, "", 14_000)} },
		"IP addresses":      func(c *x509.Certificate) { c.ExtraExtensions = []pkix.Extension{names(7, "\x7f\x00\x00\x01", 4_500)} },
		"organizations":     func(c *x509.Certificate) { c.Subject.Organization = texts(1_000) },
		"usages":            func(c *x509.Certificate) { c.UnknownExtKeyUsage = oids(5_000) },
		"a long OID":        func(c *x509.Certificate) { c.UnknownExtKeyUsage = []asn1.ObjectIdentifier{longOID} },
		"OCSP servers":      func(c *x509.Certificate) { c.OCSPServer = texts(1_000) },
		"revocation lists":  func(c *x509.Certificate) { c.CRLDistributionPoints = texts(1_500) },
		"permitted domains": func(c *x509.Certificate) { c.PermittedDNSDomains = texts(2_500) },
		"extensions": func(c *x509.Certificate) {
			for i := range 1000 {
				c.ExtraExtensions = append(c.ExtraExtensions, pkix.Extension{Id: asn1.ObjectIdentifier{1, 2, 3, i}, Critical: true})
			}
		},
	}
	for what, change := range many {
		if testing.Short() && !slices.Contains([]string{"URIs", "organizations", "usages", "extensions"}, what) {
			continue // one of each shape of Go value: make cover takes all
		}
		certificate := signed(t, key, &key.PublicKey, change)
		require.Less(t, len(certificate.Raw), maxHandshakeBytes, "%s: it could not be sent", what)
		state := tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}}
		require.ErrorContains(t, checkPeerMemory(state), "the 1 certificates of the client take more than 64 KiB of memory", what)
		all := 1<<30 - memoryOf(reflect.ValueOf(certificate), 1<<30)
		require.GreaterOrEqual(t, all*5/4, retained(t, certificate), "%s: less is counted than it takes", what)
	}
	const small = 300 // bytes, of a certificate with nothing in it
	certificate := signed(t, key, &key.PublicKey, func(c *x509.Certificate) { c.Subject = pkix.Name{} })
	require.Error(t, checkPeerMemory(tls.ConnectionState{PeerCertificates: repeated(certificate, maxHandshakeBytes/small)}), "many small ones")

	ordinary := signed(t, key, &key.PublicKey, func(c *x509.Certificate) {
		// As long as an RSA key of 4096 bits and a signature of one.
		c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{1, 2, 3}, Value: make([]byte, 1024)}}
		c.Subject = pkix.Name{Country: []string{"CH"}, Province: []string{"Bern"}, Locality: []string{"Bern"}, Organization: []string{"Example"}, CommonName: "metacontroller"}
		for i := range 20 {
			c.DNSNames = append(c.DNSNames, fmt.Sprintf("metacontroller-%d.metacontroller.svc.cluster.local", i))
		}
		c.IPAddresses = []net.IP{net.IPv4(10, 0, 0, 1)}
		c.OCSPServer, c.IssuingCertificateURL = []string{"http://ocsp.example.com"}, []string{"http://ca.example.com/ca.crt"}
		c.CRLDistributionPoints = []string{"http://ca.example.com/ca.crl"}
		c.PolicyIdentifiers = oids(3)
	})
	require.NoError(t, checkPeerMemory(tls.ConnectionState{PeerCertificates: repeated(ordinary, 4)}), "four of people who are thorough")
}

func repeated(certificate *x509.Certificate, times int) []*x509.Certificate {
	list := make([]*x509.Certificate, times)
	for i := range list {
		list[i] = certificate
	}
	return list
}
