package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
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

// Errors of invalid combinations of [CredentialFiles].
var (
	errHalfPair   = errors.New("--tls-cert-file and --tls-private-key-file go together: write both or neither")
	errNeedsTLS   = errors.New("--client-ca-file needs TLS: write --tls-cert-file and --tls-private-key-file too")
	errNeedsCA    = errors.New("--client-names needs --client-ca-file, which says who signs the certificates of callers")
	errEmptyNames = errors.New("--client-names has an empty name: leave it out, or leave the flag out where any certificate of --client-ca-file will do")
)

// Credentials are the contents of [CredentialFiles]. They are reloaded within seconds
// of a change. An invalid file is logged, and the former contents stay in use. The
// certificates are watched by the same code as kube-apiserver's, the file of tokens is
// read again by requests.
type Credentials struct {
	certificate *dynamiccertificates.DynamicCertKeyPairContent
	serving     *dynamiccertificates.DynamicServingCertificateController
	clientCA    *dynamiccertificates.DynamicFileCAContent
	clientNames []string
	tokens      *tokens
}

// LoadCredentials reads the files. The result is nil if no path is set. An error
// names the flag and says what to write.
func LoadCredentials(files CredentialFiles, log *slog.Logger) (*Credentials, error) {
	switch {
	case (files.Certificate == "") != (files.PrivateKey == ""):
		return nil, errHalfPair
	case files.ClientCA != "" && files.Certificate == "":
		return nil, errNeedsTLS
	case len(files.ClientNames) > 0 && files.ClientCA == "":
		return nil, errNeedsCA
	case slices.Contains(files.ClientNames, ""):
		return nil, errEmptyNames
	}
	if files.Certificate == "" && files.Tokens == "" {
		return nil, nil
	}
	c := &Credentials{clientNames: files.ClientNames}
	if files.Certificate != "" {
		if err := c.loadCertificate(files, log); err != nil {
			return nil, err
		}
	}
	if files.ClientCA != "" {
		if err := c.loadClientCA(files.ClientCA, log); err != nil {
			return nil, err
		}
	}
	if files.Tokens != "" {
		var err error
		if c.tokens, err = loadTokens(files.Tokens, log); err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
	}
	return c, nil
}

func (c *Credentials) loadCertificate(files CredentialFiles, log *slog.Logger) error {
	const want = "write a certificate in PEM, with those that have signed it behind it, and the private key that belongs to it"
	var err error
	c.certificate, err = dynamiccertificates.NewDynamicServingContentFromFiles("hooks", files.Certificate, files.PrivateKey)
	if err != nil {
		return fmt.Errorf("--tls-cert-file %s, --tls-private-key-file %s: %w: %s", files.Certificate, files.PrivateKey, err, want)
	}
	base := &tls.Config{
		MinVersion: tls.VersionTLS12,
		// The limits of this server are made for HTTP/1.1, where the deadlines, buffers
		// and the place of a connection belong to one request at a time. In HTTP/2 all
		// requests of a client would share them.
		NextProtos: []string{"http/1.1"},
		// Clients keep their connections, so resuming sessions would save little.
		SessionTicketsDisabled: true,
	}
	if files.ClientCA != "" {
		// The certificate is verified with each request, see verifyCertificate: the
		// client gets the reason in an HTTP response, and a certificate that expires
		// on an open connection is refused.
		base.ClientAuth = tls.RequestClientCert
	}
	c.serving = dynamiccertificates.NewDynamicServingCertificateController(base, nil, c.certificate, nil, nil)
	if err := c.serving.RunOnce(); err != nil {
		return fmt.Errorf("--tls-cert-file %s: %w: %s", files.Certificate, err, want)
	}
	c.certificate.AddListener(c.serving)
	reload := reloaded{log: log, what: "certificate", file: files.Certificate, serves: c.certificate}
	reload.warn(reload.attributes()...)
	c.certificate.AddListener(reload)
	return nil
}

func (c *Credentials) loadClientCA(file string, log *slog.Logger) error {
	var err error
	if c.clientCA, err = dynamiccertificates.NewDynamicCAContentFromFile("clients", file); err != nil {
		return fmt.Errorf("--client-ca-file %s: %w: write the certificates of those who sign callers' certificates, in PEM", file, err)
	}
	c.clientCA.AddListener(reloaded{log: log, what: "client CA", file: file})
	return nil
}

// reloaded logs that a file has been read again.
type reloaded struct {
	log        *slog.Logger
	what, file string
	serves     *dynamiccertificates.DynamicCertKeyPairContent // the server's certificate, or nil
}

// Enqueue implements [dynamiccertificates.Listener].
func (r reloaded) Enqueue() {
	attributes := r.attributes()
	r.log.Info("reloaded", attributes...)
	r.warn(attributes...)
}

func (r reloaded) attributes() []any {
	attributes := []any{slog.String("what", r.what), slog.String("file", r.file)}
	if leaf := r.leaf(); leaf != nil {
		attributes = append(attributes, slog.Any("names", leaf.DNSNames), slog.Time("notBefore", leaf.NotBefore), slog.Time("notAfter", leaf.NotAfter))
	}
	return attributes
}

// warn logs that the server's certificate is not valid now, if so. It is used all the same,
// as the one before may be worth no more to callers.
func (r reloaded) warn(attributes ...any) {
	leaf := r.leaf()
	if leaf == nil {
		return
	}
	if now := time.Now(); now.After(leaf.NotAfter) || now.Before(leaf.NotBefore) {
		r.log.Warn("the server's certificate has expired or is not valid yet: callers refuse it until it is replaced", attributes...)
	}
}

// leaf returns the certificate that the server shows, or nil.
func (r reloaded) leaf() *x509.Certificate {
	if r.serves == nil {
		return nil
	}
	pair, err := tls.X509KeyPair(r.serves.CurrentCertKeyContent())
	if err != nil {
		return nil // what cannot be used is not reloaded
	}
	return pair.Leaf
}

// isEncrypted reports whether hooks are served over TLS.
func (c *Credentials) isEncrypted() bool { return c != nil && c.certificate != nil }

// follow reloads the certificates when their files change, until ctx ends.
func (c *Credentials) follow(ctx context.Context) {
	if c.isEncrypted() {
		go c.serving.Run(1, ctx.Done())
		go c.certificate.Run(ctx, 1)
	}
	if c != nil && c.clientCA != nil {
		go c.clientCA.Run(ctx, 1)
	}
}
