package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// hookHost is what the CompositeControllers call with TLS.
const hookHost = "operetta.operetta-system:443"

// standInKinds are the kinds of cert-manager and of Prometheus' operator that the
// components use.
var standInKinds = map[string]string{
	"issuers.cert-manager.io": "v1 Issuer", "certificates.cert-manager.io": "v1 Certificate",
	"podmonitors.monitoring.coreos.com": "v1 PodMonitor", "prometheusrules.monitoring.coreos.com": "v1 PrometheusRule",
}

// TestInstallation installs Operetta with two shards, mutual TLS and metrics by the
// kustomization and the commands of docs/scale.md. The programs run with the arguments and
// the mounted Secrets of the Pods, outside of them: the node has no containers, and no
// name server. A proxy takes its place, and the test that of cert-manager.
func TestInstallation(t *testing.T) {
	if metacontroller == "" {
		skipped.Add(1)
		t.Skip("metacontroller is not on the PATH")
	}
	i := &installation{T: t, authority: newAuthority(t), folder: t.TempDir()}
	i.addStandInKinds()
	i.apply()
	i.issueCertificates()
	server, metrics := i.startServer()
	i.startMetacontrollers("HTTPS_PROXY=" + nameServer(t, map[string]string{hookHost: server}))

	w := newWorld(t, &run{mode: modes[0]})
	w.apply(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: first}, spec: {size: 2}}`)
	w.apply(`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: second, labels: {operetta.dev/shard: "1"}}, spec: {size: 2}}`)
	w.apply(strings.Replace(smallProduct, "name: small", `name: small, labels: {operetta.dev/shard: "1"}`, 1))
	w.apply(modelBox(`image: "nginx:1", replicas: 1, ports: [{port: 80}]`))
	w.ready("podset/first", "podset/second", "dataservice/small", "modelbox/box")
	w.requireFinalizer("operetta-dataservice-shard-1")

	// Nobody else is answered, and what was is counted.
	require.Equal(t, http.StatusForbidden, i.post(server))
	w.eventually("the requests are counted", func() error { // which is after they are answered
		scraped := page(t, "http://"+metrics+"/metrics")
		for _, line := range []string{
			`operetta_requests_total{code="200",hook="sync",kind="podset"}`, `operetta_requests_total{code="200",hook="sync",kind="dataservice"}`,
			`operetta_requests_refused_total{reason="forbidden"} 1`,
		} {
			if !strings.Contains(scraped, line) {
				return errors.New("there is no " + line)
			}
		}
		return nil
	})
}

// installation is an installation by the docs, with what its programs share.
type installation struct {
	*testing.T

	authority *authority
	folder    string
	rendered  []string // the objects, without Metacontroller's
}

func (i *installation) addStandInKinds() {
	i.Helper()
	var crds []string
	for name, of := range standInKinds {
		plural, group, _ := strings.Cut(name, ".")
		version, kind, _ := strings.Cut(of, " ")
		crds = append(crds, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s}
spec:
  group: %s
  scope: Namespaced
  names: {kind: %s, listKind: %sList, plural: %s, singular: %s}
  versions:
  - {name: %s, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, name, group, kind, kind, plural, strings.ToLower(kind), version))
	}
	stream := strings.Join(crds, "---")
	kubectl(i.T, stream, "apply", "--filename=-")
	i.Cleanup(func() { kubectl(i.T, stream, "delete", "--filename=-") })
	for name := range standInKinds {
		kubectl(i.T, "", "wait", "--for=condition=Established", "crd/"+name, "--timeout="+patience.String())
	}
}

// apply writes the kustomization that docs/scale.md shows, and runs its commands.
func (i *installation) apply() {
	i.Helper()
	require.NoError(i, os.Mkdir(filepath.Join(i.folder, "operetta"), 0o700))
	require.NoError(i, cluster.CopyWithoutNetwork(root+"/deploy", filepath.Join(i.folder, "operetta/deploy")))
	_, section, found := strings.Cut(read(i.T, root+"/docs/scale.md"), "\n### With mutual TLS and metrics\n")
	require.True(i, found)
	_, text, found := strings.Cut(section, "```yaml\n")
	require.True(i, found)
	text, after, _ := strings.Cut(text, "```")
	require.NoError(i, os.WriteFile(filepath.Join(i.folder, "kustomization.yaml"), []byte(text), 0o600))
	applied := 0
	for _, code := range strings.Split(after, "`") {
		if rest, isCommand := strings.CutPrefix(code, "kubectl apply -k "); isCommand && applied < 2 {
			applied++
			kubectl(i.T, "", "apply", "-k", filepath.Join(i.folder, rest))
		}
	}
	require.Equal(i, 2, applied, "commands")
	i.Cleanup(func() {
		kubectl(i.T, "", "delete", "namespace", "operetta-system", "--wait=false")
		kubectl(i.T, "", "delete", "statefulset", "--all", "--namespace=metacontroller")
		kubectl(i.T, "", "delete", "compositecontrollers.metacontroller.k8s.io", "--all")
		kubectl(i.T, "", "delete", "clusterrolebinding,clusterrole", "operetta-metacontroller-secrets")
	})
	whole, _, err := operetta.Kubectl("kustomize", i.folder)
	require.NoError(i, err)
	i.rendered = strings.Split(whole, "\n---\n")
}

// issueCertificates does for each Certificate what cert-manager does.
func (i *installation) issueCertificates() {
	i.Helper()
	usages := map[string]x509.ExtKeyUsage{"server auth": x509.ExtKeyUsageServerAuth, "client auth": x509.ExtKeyUsageClientAuth}
	issued := 0
	for _, text := range i.rendered {
		var wanted struct {
			Kind string
			Spec struct {
				SecretName, CommonName string
				DNSNames               []string `json:"dnsNames"`
				IsCA                   bool     `json:"isCA"`
				Usages                 []string
			}
		}
		require.NoError(i, yaml.Unmarshal([]byte(text), &wanted))
		if wanted.Kind != "Certificate" || wanted.Spec.IsCA {
			continue
		}
		template := &x509.Certificate{Subject: pkix.Name{CommonName: wanted.Spec.CommonName}, DNSNames: wanted.Spec.DNSNames, NotAfter: time.Now().Add(time.Hour)}
		for _, usage := range wanted.Spec.Usages {
			if extended, found := usages[usage]; found {
				template.ExtKeyUsage = append(template.ExtKeyUsage, extended)
			}
		}
		certificate, key := i.authority.issue(i.T, template)
		secret, err := json.Marshal(map[string]any{
			"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
			"metadata":   map[string]any{"name": wanted.Spec.SecretName, "namespace": "operetta-system"},
			"stringData": map[string]string{"tls.crt": certificate, "tls.key": key, "ca.crt": i.authority.pem},
		})
		require.NoError(i, err)
		kubectl(i.T, string(secret), "apply", "--filename=-")
		issued++
	}
	require.Equal(i, 2, issued)
}

// startServer runs the server as the Deployment does, and returns the addresses of the
// hooks and of the metrics.
func (i *installation) startServer() (hooks, metrics string) {
	i.Helper()
	var deployment appsv1.Deployment
	i.get(&deployment, "deployment/operetta", "--namespace=operetta-system")
	pod := deployment.Spec.Template.Spec
	args := slices.Clone(pod.Containers[0].Args)
	for _, mount := range pod.Containers[0].VolumeMounts {
		volume := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		folder := i.mount(*pod.Volumes[volume].Secret)
		for j := range args {
			args[j] = strings.Replace(args[j], "="+mount.MountPath+"/", "="+folder+"/", 1)
		}
	}
	hooks, metrics = freeAddress(i.T), freeAddress(i.T)
	binary, err := filepath.Abs(root + "/bin/operetta")
	require.NoError(i, err)
	require.NoError(i, operetta.Run(i.Context(), cluster.Program{
		Name: "installed", Path: binary, Args: append(args, "--listen="+hooks, "--metrics-listen="+metrics, "--drain-delay=0s"),
		Ready: func(ctx context.Context) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+metrics+"/readyz", nil)
			if err != nil {
				return err
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				return err
			}
			if response.StatusCode != http.StatusOK {
				err = fmt.Errorf("it answers %s", response.Status)
			}
			_ = response.Body.Close()
			return err
		},
	}))
	i.Cleanup(func() { require.NoError(i, operetta.End("installed")) })
	return hooks, metrics
}

// mount writes the items of a Secret's volume to a folder.
func (i *installation) mount(source corev1.SecretVolumeSource) string {
	i.Helper()
	var secret corev1.Secret
	i.get(&secret, "secret/"+source.SecretName, "--namespace=operetta-system")
	folder := i.TempDir()
	for _, item := range source.Items {
		require.Contains(i, secret.Data, item.Key)
		require.NoError(i, os.WriteFile(filepath.Join(folder, item.Path), secret.Data[item.Key], 0o600))
	}
	return folder
}

// startMetacontrollers runs those that have been applied, with more environment.
func (i *installation) startMetacontrollers(env ...string) {
	i.Helper()
	var sets appsv1.StatefulSetList
	i.get(&sets, "statefulsets", "--namespace=metacontroller")
	require.Len(i, sets.Items, 2)
	for _, set := range sets.Items {
		args := append(slices.Clone(set.Spec.Template.Spec.Containers[0].Args), "--leader-election-namespace=metacontroller")
		require.NoError(i, operetta.StartMetacontrollerAs(i.Context(), set.Name, metacontroller, env, args...))
		i.Cleanup(func() { require.NoError(i, operetta.End(set.Name)) })
	}
}

// get reads an object.
func (i *installation) get(into any, args ...string) {
	i.Helper()
	text, _, err := operetta.Kubectl(append([]string{"get", "--output=json"}, args...)...)
	require.NoError(i, err)
	require.NoError(i, json.Unmarshal([]byte(text), into))
}

// post calls a hook without a certificate.
func (i *installation) post(server string) (code int) {
	i.Helper()
	roots := x509.NewCertPool()
	require.True(i, roots.AppendCertsFromPEM([]byte(i.authority.pem)))
	name, _, _ := net.SplitHostPort(hookHost)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: name}}}
	response, err := client.Post("https://"+server+"/podset/sync", "application/json", strings.NewReader("{}"))
	require.NoError(i, err)
	require.NoError(i, response.Body.Close())
	return response.StatusCode
}

func page(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return string(text)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	return listener.Addr().String()
}

// nameServer starts a proxy that connects with the address of a name, and returns its URL.
func nameServer(t *testing.T, addresses map[string]string) string {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		address, known := addresses[r.Host]
		if r.Method != http.MethodConnect || !known {
			http.Error(w, "no such name", http.StatusBadGateway)
			return
		}
		server, err := net.Dial("tcp", address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusOK)
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			_ = server.Close()
			return
		}
		go func() {
			_, _ = io.Copy(server, client)
			_ = server.Close()
		}()
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}
