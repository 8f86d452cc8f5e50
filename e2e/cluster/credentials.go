package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
)

// credential is a user who authenticates to the API server with a token.
//
// Tokens are used rather than client certificates because they need no
// certificate authority. They are as safe here: they are random, live as long as
// the cluster, and are only sent over TLS to a server whose certificate is known.
type credential struct {
	user  string
	group string
	token string
}

func newCredential(user, group string) credential {
	return credential{user: user, group: group, token: rand.Text()}
}

// writeFiles creates what the components read when they start.
func (c *Cluster) writeFiles() error {
	c.admin = newCredential("e2e-admin", "system:masters")
	key, err := newServiceAccountKey()
	if err != nil {
		return err
	}
	files := map[string]string{
		c.tokenFile():         tokenLine(c.admin),
		c.serviceAccountKey(): key,
		c.Kubeconfig:          c.kubeconfig(c.admin),
	}
	if c.options.AuditPolicy != "" {
		files[c.auditPolicy()] = c.options.AuditPolicy
	}
	for path, content := range files {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return fmt.Errorf("write a file for the control plane: %w", err)
		}
	}
	return nil
}

func (c *Cluster) tokenFile() string {
	return c.path("tokens.csv")
}

// serviceAccountKey is the file of the key that signs and verifies the tokens of service
// accounts.
func (c *Cluster) serviceAccountKey() string {
	return c.path("service-account.key")
}

// tokenLine returns the line of the API server's token file for a credential.
func tokenLine(c credential) string {
	return fmt.Sprintf("%s,%s,%s,%q\n", c.token, c.user, c.user, c.group)
}

// kubeconfig returns a kubeconfig with the credential. It has the certificate's path,
// because the certificate does not exist yet.
func (c *Cluster) kubeconfig(user credential) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: e2e
clusters:
- name: e2e
  cluster: {server: %q, certificate-authority: %q}
users:
- name: %[3]s
  user: {token: %[4]q}
contexts:
- name: e2e
  context: {cluster: e2e, user: %[3]s}
`, c.URL, c.certificateAuthority(), user.user, user.token)
}

func newServiceAccountKey() (string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", fmt.Errorf("generate the service account key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("encode the service account key: %w", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})), nil
}
