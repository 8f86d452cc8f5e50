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

// writeFiles creates what the components read when they start. The administrator has a random token
// that lives as long as the cluster, which needs no certificate authority.
func (c *Cluster) writeFiles() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("generate the service account key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode the service account key: %w", err)
	}
	c.token = rand.Text()
	files := map[string]string{
		c.tokenFile():         c.token + ",e2e-admin,e2e-admin,\"system:masters\"\n",
		c.serviceAccountKey(): string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})),
		c.Kubeconfig:          c.kubeconfig("e2e-admin", c.token),
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

func (c *Cluster) tokenFile() string { return c.path("tokens.csv") }

// serviceAccountKey is the file of the key that signs and verifies the tokens of service accounts.
func (c *Cluster) serviceAccountKey() string { return c.path("service-account.key") }

// kubeconfig returns a kubeconfig with a token. It has the certificate's path, because the certificate
// does not exist yet.
func (c *Cluster) kubeconfig(user, token string) string {
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
`, c.URL, c.certificateAuthority(), user, token)
}
