package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/operetta-dev/operetta/e2e/tools"
)

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
		args = append(args, "--audit-policy-file="+c.auditPolicy(), "--audit-log-path="+c.AuditLog())
	}
	return c.program(tools.KubeAPIServer, c.apiServerReady, args...)
}

// AuditLog returns the path of the API server's audit log, which has one JSON
// object a line. Without Options.AuditPolicy there is no such file.
func (c *Cluster) AuditLog() string {
	return c.path("audit.log")
}

func (c *Cluster) auditPolicy() string {
	return c.path("audit-policy.yaml")
}

// certificateAuthority is the file with the API server's self-signed certificate.
func (c *Cluster) certificateAuthority() string {
	return c.path("certificates/apiserver.crt")
}

func (c *Cluster) apiServerReady(ctx context.Context) error {
	authority, err := os.ReadFile(c.certificateAuthority())
	if err != nil {
		return fmt.Errorf("read the API server's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return fmt.Errorf("the API server's certificate is not complete")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
	client := &http.Client{Transport: transport}
	// The API server counts as ready a moment before it has created the
	// namespace that most tests begin with.
	for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
		if err := getOK(ctx, client, c.URL+path, c.token); err != nil {
			return fmt.Errorf("check the API server: %w", err)
		}
	}
	return nil
}
