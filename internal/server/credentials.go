package server

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
)

// CredentialFiles are the paths of the files that authenticate the server and its
// callers. An empty path turns that part off.
type CredentialFiles struct {
	// Certificate and PrivateKey are the server's certificate and key, in PEM. With
	// them hooks are served over TLS. Both or neither must be set.
	Certificate, PrivateKey string
	// ClientCA has the CA certificates that sign client certificates, in PEM. It
	// needs TLS.
	ClientCA string
	// ClientNames are the allowed names, one of which must be in a client
	// certificate. Without any, every certificate signed by ClientCA is accepted.
	ClientNames []string
	// Tokens has one valid bearer token on each line.
	Tokens string
}

// Credentials are the contents of [CredentialFiles], which are read again after a change.
type Credentials struct {
	tls         *reloaded[*tls.Config]
	tokens      *reloaded[tokens]
	clientNames []string
}

func (f CredentialFiles) validate() error {
	switch {
	case (f.Certificate == "") != (f.PrivateKey == ""):
		return errors.New("--tls-cert-file and --tls-private-key-file go together: write both or neither")
	case f.ClientCA != "" && f.Certificate == "":
		return errors.New("--client-ca-file needs TLS: write --tls-cert-file and --tls-private-key-file too")
	case len(f.ClientNames) > 0 && f.ClientCA == "":
		return errors.New("--client-names needs --client-ca-file, which says who signs the certificates of callers")
	case slices.Contains(f.ClientNames, ""):
		return errors.New("--client-names has an empty name: leave it out, or leave the flag out where any certificate of --client-ca-file will do")
	}
	return nil
}

// LoadCredentials reads the files. The result is nil if no path is set. An error
// names the flag and says what to write.
func LoadCredentials(files CredentialFiles, log *slog.Logger) (*Credentials, error) {
	err := files.validate()
	if err != nil || files.Certificate == "" && files.Tokens == "" {
		return nil, err
	}
	c := &Credentials{clientNames: files.ClientNames}
	if files.Certificate != "" {
		paths := []string{files.Certificate, files.PrivateKey}
		if files.ClientCA != "" {
			paths = append(paths, files.ClientCA)
		}
		if c.tls, err = load(&reloaded[*tls.Config]{what: "certificates", files: paths, parse: parseTLS, log: log}); err != nil {
			return nil, err
		}
	}
	if files.Tokens != "" {
		if c.tokens, err = load(&reloaded[tokens]{what: "tokens", files: []string{files.Tokens}, parse: parseTokens, log: log}); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// parseTLS parses a certificate, its key, and the CA of clients if there is one.
func parseTLS(contents [][]byte) (*tls.Config, slog.Attr, error) {
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, slog.Attr{}, fmt.Errorf("--tls-cert-file, --tls-private-key-file: %w: write a certificate in PEM, with those that have signed it behind it, and the private key that belongs to it", err)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{pair},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"http/1.1"},
		// A resumed session would outlive a change of the CA.
		SessionTicketsDisabled: true,
	}
	if len(contents) > 2 {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(contents[2]) {
			return nil, slog.Attr{}, errors.New("--client-ca-file: no certificate in PEM: write the certificates of those who sign callers' certificates")
		}
	}
	return config, slog.Time("notAfter", pair.Leaf.NotAfter), nil
}

func (c *Credentials) hasTLS() bool { return c != nil && c.tls != nil }

// listener returns a listener for TLS, or the listener itself without a certificate.
func (c *Credentials) listener(plain net.Listener) net.Listener {
	if !c.hasTLS() {
		return plain
	}
	return tls.NewListener(plain, &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.tls.current(), nil },
	})
}
