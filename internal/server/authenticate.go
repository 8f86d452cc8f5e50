package server

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
)

// errUnauthenticated: the request has no valid client certificate or bearer token, or one
// whose name may not call.
var errUnauthenticated = errors.New("not authenticated")

// authenticate refuses requests without valid credentials. It runs before routing and
// throttling: an unauthenticated caller learns no routes, and takes no memory or turn
// from others. If both a certificate and a token are required, both must be valid.
func (s *Server) authenticate(next http.Handler) http.Handler {
	credentials := s.options.Credentials
	if credentials == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		authorization := r.Header.Get("Authorization")
		r.Header.Del("Authorization") // not needed by the handlers that follow
		if credentials.clientCA != nil {
			if err := credentials.verifyCertificate(r.TLS); err != nil {
				refuseUnauthenticated(w, r, http.StatusForbidden, err.Error())
				return
			}
		}
		if credentials.tokens == nil || credentials.tokens.isValid(authorization) {
			next.ServeHTTP(w, r)
			return
		}
		challenge, reason := `Bearer realm="operetta"`, "no bearer token: set authorization in the CompositeController"
		if authorization != "" {
			challenge, reason = challenge+`, error="invalid_token"`, "the bearer token is none of those in --token-file"
		}
		w.Header().Set("WWW-Authenticate", challenge)
		refuseUnauthenticated(w, r, http.StatusUnauthorized, reason)
	})
}

// refuseUnauthenticated answers with 401 or 403 and closes the connection, because the
// number of connections is limited.
func refuseUnauthenticated(w http.ResponseWriter, r *http.Request, code int, reason string) {
	lineOf(r).err = fmt.Errorf("%w: %s", errUnauthenticated, reason)
	w.Header().Set("Connection", "close")
	writeLine(w, r, code, reason)
}

// verifyCertificate returns an error if the client certificate of a connection is not
// valid now: it may have expired since the handshake, or its CA may have been removed.
func (c *Credentials) verifyCertificate(connection *tls.ConnectionState) error {
	if connection == nil || len(connection.PeerCertificates) == 0 {
		return errors.New("no client certificate: set clientTLS in the CompositeController")
	}
	signers := connection.PeerCertificates[1:]
	if err := checkSigners(signers); err != nil {
		return err
	}
	options, _ := c.clientCA.VerifyOptions()
	options.Intermediates = x509.NewCertPool()
	for _, signer := range signers {
		options.Intermediates.AddCert(signer)
	}
	certificate := connection.PeerCertificates[0]
	if _, err := certificate.Verify(options); err != nil {
		return fmt.Errorf("the client certificate is not accepted: %w", err)
	}
	if len(c.clientNames) == 0 {
		return nil
	}
	names := namesIn(certificate)
	if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(c.clientNames, name) }) {
		return nil
	}
	return fmt.Errorf("none of the names in the client certificate is in --client-names: %.200q", names)
}

const (
	// mostSigners is how many intermediate certificates a client may send with its own.
	mostSigners = 3
	// mostBits and mostExponent are the largest RSA key of one of them or of the client. A signature of a key
	// of 8192 bits with an exponent of 31 bits takes 2.5 ms of a processor to check.
	mostBits     = 4096
	mostExponent = 65537
	// mostCurveBits is the largest curve of an ECDSA key of one or of the client, P-384. A
	// signature of P-521 takes 2.7 ms.
	mostCurveBits = 384
)

// checkSigners returns an error if intermediate certificates could take long to
// verify: crypto/x509 tries each certificate with the name of an issuer, in all
// orders, up to a hundred signatures of any client that opens a connection.
func checkSigners(signers []*x509.Certificate) error {
	if len(signers) > mostSigners {
		return fmt.Errorf("the client sends %d intermediate certificates: send those between its own and the CA, at most %d", len(signers), mostSigners)
	}
	for i, signer := range signers {
		if err := checkKey(signer); err != nil {
			return fmt.Errorf("an intermediate certificate of the client has %w", err)
		}
		if slices.ContainsFunc(signers[:i], func(other *x509.Certificate) bool { return bytes.Equal(other.RawSubject, signer.RawSubject) }) {
			return fmt.Errorf("the client sends two intermediate certificates of the name %.200q: send one", signer.Subject)
		}
	}
	return nil
}

// checkPeerKey returns an error if the signature of the client's own key would take long to
// check, which anybody can have the server do.
func checkPeerKey(connection tls.ConnectionState) error {
	if len(connection.PeerCertificates) == 0 {
		return nil
	}
	if err := checkKey(connection.PeerCertificates[0]); err != nil {
		return fmt.Errorf("the client's certificate has %w", err)
	}
	return nil
}

// checkKey returns an error if a signature of the certificate's key takes long to check.
func checkKey(certificate *x509.Certificate) error {
	switch key := certificate.PublicKey.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() > mostBits || key.E > mostExponent {
			return fmt.Errorf("an RSA key of %d bits and the exponent %d: use at most %d bits and %d, or ECDSA",
				key.N.BitLen(), key.E, mostBits, mostExponent)
		}
	case *ecdsa.PublicKey:
		if curve := key.Params(); curve.BitSize > mostCurveBits {
			return fmt.Errorf("an ECDSA key of %s: use P-256 or P-384", curve.Name)
		}
	}
	return nil
}

// namesIn returns the common name and all subject alternative names of a certificate.
func namesIn(certificate *x509.Certificate) []string {
	var names []string
	if certificate.Subject.CommonName != "" {
		names = append(names, certificate.Subject.CommonName)
	}
	names = append(names, certificate.DNSNames...)
	names = append(names, certificate.EmailAddresses...)
	for _, address := range certificate.IPAddresses {
		names = append(names, address.String())
	}
	for _, uri := range certificate.URIs {
		names = append(names, uri.String())
	}
	return names
}
