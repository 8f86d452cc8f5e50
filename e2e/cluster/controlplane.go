package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"

	"github.com/operetta-dev/operetta/e2e/tools"
)

// etcd describes the database of the cluster.
//
// It listens on Unix sockets in the cluster's directory instead of on loopback
// ports: only the current user can open them, so that no certificates are
// needed to keep others on this machine out, and no ports can be taken.
func (c *Cluster) etcd() Program {
	return c.program(tools.Etcd, c.etcdReady,
		"--name=e2e",
		"--data-dir="+c.path("etcd"),
		"--listen-client-urls="+c.etcdURL(),
		// A path relative to the working directory: etcd ignores absolute ones.
		"--listen-peer-urls=unix://etcd-peer.sock",
		// Required, and must be a host and port, but the only member of a
		// cluster has nobody to tell its address to.
		"--advertise-client-urls=http://"+net.JoinHostPort(loopback, "0"),
		// The data need not survive a crash of the machine.
		"--unsafe-no-fsync",
		"--log-level=warn",
	)
}

// etcdURL is how the API server reaches etcd.
func (c *Cluster) etcdURL() string { return "unix://" + c.path("etcd.sock") }

// etcdReady waits for the socket: the API server tries until it is answered there.
func (c *Cluster) etcdReady(context.Context) error {
	_, err := os.Stat(c.path("etcd.sock"))
	return err
}

// loopback is the only address that the cluster listens on.
const loopback = "127.0.0.1"

// apiServer describes the API server of the cluster, listening on address.
func (c *Cluster) apiServer(address string) Program {
	_, port, _ := net.SplitHostPort(address)
	args := []string{
		"--etcd-servers=" + c.etcdURL(),
		"--bind-address=" + loopback,
		"--secure-port=" + port,
		// Written to the certificate, which the server makes by itself.
		"--advertise-address=" + loopback,
		"--cert-dir=" + c.path("certificates"),
		// Endpoints must not have loopback addresses, so that the service
		// `kubernetes` cannot have any here.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=Node,RBAC",
		"--anonymous-auth=false",
		// As kubeadm and the hosted clusters have it.
		"--allow-privileged=true",
		"--token-auth-file=" + c.tokenFile(),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.serviceAccountKey(),
		"--service-account-signing-key-file=" + c.serviceAccountKey(),
	}
	if c.options.AuditPolicy != "" {
		args = append(args, "--audit-policy-file="+c.auditPolicy(), "--audit-log-path="+c.AuditLog(),
			"--audit-log-maxsize=10000") // MB: at its default of 100 it begins anew while a benchmark counts
	}
	return c.program(tools.KubeAPIServer, c.apiServerReady, args...)
}

// AuditLog returns the path of the API server's audit log, which has one JSON
// object a line. Without Options.AuditPolicy there is no such file.
func (c *Cluster) AuditLog() string { return c.path("audit.log") }

func (c *Cluster) auditPolicy() string { return c.path("audit-policy.yaml") }

// certificateAuthority is the file with the API server's self-signed certificate.
func (c *Cluster) certificateAuthority() string { return c.path("certificates/apiserver.crt") }

// apiServerReady asks for what most tests begin with, too: the API server counts as ready a
// moment before it has created it.
func (c *Cluster) apiServerReady(context.Context) error {
	for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
		if _, _, err := c.Kubectl("get", "--raw="+path); err != nil {
			return err
		}
	}
	return nil
}

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
	token := rand.Text()
	files := map[string]string{
		c.tokenFile():         token + ",e2e-admin,e2e-admin,\"system:masters\"\n",
		c.serviceAccountKey(): string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})),
		c.Kubeconfig:          c.kubeconfig("e2e-admin", token),
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
