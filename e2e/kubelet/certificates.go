package kubelet

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// Namespace is that of Operetta's server.
const Namespace = "operetta-system"

// standInKinds are the CRDs of cert-manager and of Prometheus' operator whose kinds the
// components use, with any content.
//
//go:embed standin-kinds.yaml
var standInKinds string

// InstallStandInKinds creates the kinds of cert-manager and of Prometheus' operator that the
// components use.
func InstallStandInKinds(c *cluster.Cluster) error {
	if _, _, err := c.KubectlWithInput(standInKinds, "apply", "--filename=-"); err != nil {
		return err
	}
	_, _, err := c.KubectlWithInput(standInKinds, "wait", "--for=condition=Established", "--timeout=60s", "--filename=-")
	return err
}

// RemoveStandInKinds deletes what [InstallStandInKinds] has created.
func RemoveStandInKinds(c *cluster.Cluster) error {
	_, _, err := c.KubectlWithInput(standInKinds, "delete", "--filename=-")
	return err
}

// Issuer stands in for cert-manager: one CA issues what the Certificates of [Namespace] ask for.
type Issuer struct {
	Cluster *cluster.Cluster
	Objects *cluster.Reader
	// Authority is the CA, once a Certificate has asked for one.
	Authority *Authority
}

// certificate is a Certificate of cert-manager's.
type certificate struct {
	Spec struct {
		SecretName, CommonName string
		DNSNames               []string `json:"dnsNames"`
		IsCA                   bool     `json:"isCA"`
		Usages                 []string
	}
}

// Issue creates the Secret of each Certificate that has none, and returns how many these were.
func (i *Issuer) Issue(ctx context.Context) (issued int, err error) {
	objects, err := i.Objects.List(ctx, "certificates.cert-manager.io", Namespace, "")
	if err != nil {
		return 0, err
	}
	wanted := make([]certificate, len(objects))
	for n, object := range objects {
		if err := convert(object, &wanted[n]); err != nil {
			return 0, fmt.Errorf("read a Certificate: %w", err)
		}
	}
	slices.SortStableFunc(wanted, func(a, b certificate) int { // the CA first
		if a.Spec.IsCA == b.Spec.IsCA {
			return 0
		}
		if a.Spec.IsCA {
			return -1
		}
		return 1
	})
	for _, c := range wanted {
		data, err := Secret(ctx, i.Objects, c.Spec.SecretName)
		if err != nil {
			return issued, err
		}
		if data != nil {
			continue
		}
		pair, err := i.pair(c)
		if err != nil {
			return issued, err
		}
		if err := CreateSecret(i.Cluster, "kubernetes.io/tls", c.Spec.SecretName, pair); err != nil {
			return issued, err
		}
		issued++
	}
	return issued, nil
}

// pair returns the data of the Secret of a Certificate.
func (i *Issuer) pair(c certificate) (map[string]string, error) {
	if c.Spec.IsCA || i.Authority == nil {
		var err error
		if i.Authority, err = NewAuthority(); err != nil {
			return nil, err
		}
	}
	if c.Spec.IsCA {
		return map[string]string{"tls.crt": i.Authority.PEM, "tls.key": i.Authority.Key, "ca.crt": i.Authority.PEM}, nil
	}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: c.Spec.CommonName}, DNSNames: c.Spec.DNSNames, NotAfter: time.Now().Add(24 * time.Hour)}
	for usage, extended := range map[string]x509.ExtKeyUsage{"server auth": x509.ExtKeyUsageServerAuth, "client auth": x509.ExtKeyUsageClientAuth} {
		if slices.Contains(c.Spec.Usages, usage) {
			template.ExtKeyUsage = append(template.ExtKeyUsage, extended)
		}
	}
	issued, key, err := i.Authority.Issue(template)
	return map[string]string{"tls.crt": issued, "tls.key": key, "ca.crt": i.Authority.PEM}, err
}

// RunJob does what a Job of the component self-signed is for, with the permissions of its
// ServiceAccount: it creates a Secret with a certificate, and that of the CA which has issued it.
func RunJob(c *cluster.Cluster, pod corev1.PodSpec) error {
	flags := map[string]string{}
	for _, arg := range pod.Containers[0].Args {
		name, value, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		flags[name] = value
	}
	for _, name := range []string{"host", "namespace", "secret-name", "ca-name", "cert-name", "key-name"} {
		if flags[name] == "" {
			return fmt.Errorf("the Job has no flag --%s", name)
		}
	}
	ca, err := NewAuthority()
	if err != nil {
		return err
	}
	certificate, key, err := ca.Issue(&x509.Certificate{DNSNames: strings.Split(flags["host"], ","), NotAfter: time.Now().Add(24 * time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	if err != nil {
		return err
	}
	as := "--as=system:serviceaccount:" + flags["namespace"] + ":" + pod.ServiceAccountName
	exists, _, err := c.Kubectl("get", "secret", flags["secret-name"], "--ignore-not-found", "--namespace="+flags["namespace"], as)
	if err != nil || exists != "" {
		return err
	}
	return CreateSecret(c, "Opaque", flags["secret-name"], map[string]string{flags["ca-name"]: ca.PEM, flags["cert-name"]: certificate, flags["key-name"]: key}, as)
}

// Secret returns the data of a Secret of [Namespace], or nil if it does not exist.
func Secret(ctx context.Context, objects *cluster.Reader, name string) (map[string][]byte, error) {
	object, err := objects.Get(ctx, "secret", Namespace, name)
	if err != nil || object == nil {
		return nil, err
	}
	var secret struct{ Data map[string][]byte }
	if err := convert(object, &secret); err != nil {
		return nil, fmt.Errorf("read the Secret %s: %w", name, err)
	}
	if secret.Data == nil {
		return map[string][]byte{}, nil
	}
	return secret.Data, nil
}

// convert reads an object into a Go type.
func convert(object map[string]any, into any) error {
	text, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// CreateSecret creates a Secret in [Namespace], with more arguments for kubectl.
func CreateSecret(c *cluster.Cluster, secretType, name string, data map[string]string, args ...string) error {
	secret, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": secretType,
		"metadata":   map[string]any{"name": name, "namespace": Namespace},
		"stringData": data,
	})
	if err != nil {
		return err
	}
	_, _, err = c.KubectlWithInput(string(secret), append([]string{"create", "--filename=-"}, args...)...)
	return err
}
