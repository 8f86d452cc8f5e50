package server

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/metrics"
)

// check returns an error for a request without valid credentials. crypto/tls has verified
// the certificate of the client.
func (c *Credentials) check(w http.ResponseWriter, r *http.Request) error {
	if c == nil {
		return nil
	}
	if len(c.clientNames) > 0 && !slices.ContainsFunc(c.clientNames, func(name string) bool { return hasName(r.TLS.PeerCertificates[0], name) }) {
		return &refusal{http.StatusForbidden, metrics.Forbidden, "none of the names in the client certificate is in --client-names"}
	}
	if c.tokens == nil {
		return nil
	}
	authorization := r.Header.Get("Authorization")
	if c.tokens.current().accept(authorization) {
		return nil
	}
	challenge, reason := `Bearer realm="operetta"`, "no bearer token: set authorization in the CompositeController"
	if authorization != "" {
		challenge, reason = challenge+`, error="invalid_token"`, "the bearer token is none of those in --token-file"
	}
	w.Header().Set("WWW-Authenticate", challenge)
	return &refusal{http.StatusUnauthorized, metrics.Unauthorized, reason}
}

// hasName reports whether a name is the common name or a subject alternative name of a certificate.
func hasName(certificate *x509.Certificate, name string) bool {
	isURI := func(uri *url.URL) bool { return uri.String() == name }
	return certificate.Subject.CommonName == name || slices.Contains(certificate.DNSNames, name) || slices.ContainsFunc(certificate.URIs, isURI)
}

const leastToken = 16

// tokenForm matches a valid bearer token (RFC 6750).
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// tokens are hashes of the valid bearer tokens.
type tokens [][sha256.Size]byte

// parseTokens parses a file with one token a line. An error never contains a token.
func parseTokens(contents [][]byte) (tokens, slog.Attr, error) {
	const example = "as `head -c 32 /dev/urandom | base64` prints it"
	var sums tokens
	number := 0
	for line := range bytes.Lines(contents[0]) {
		number++
		token := bytes.TrimSpace(line)
		switch {
		case len(token) == 0:
			continue
		case len(token) < leastToken:
			return nil, slog.Attr{}, fmt.Errorf("--token-file has a token of less than %d characters on line %d: write a random one, %s", leastToken, number, example)
		case !tokenForm.Match(token):
			return nil, slog.Attr{}, fmt.Errorf("--token-file has a token on line %d that cannot stand in a header: write letters, digits and -._~+/ only", number)
		}
		sums = append(sums, sha256.Sum256(token))
	}
	if len(sums) == 0 {
		return nil, slog.Attr{}, errors.New("--token-file has no token: write one on each line, " + example)
	}
	return sums, slog.Int("count", len(sums)), nil
}

// accept reports whether the value of an Authorization header is a valid bearer token.
// It takes the same time whichever token matches.
func (t tokens) accept(authorization string) bool {
	scheme, token, _ := strings.Cut(authorization, " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	same := 0
	for i := range t {
		same |= subtle.ConstantTimeCompare(sum[:], t[i][:])
	}
	return same == 1 && strings.EqualFold(scheme, "Bearer")
}
