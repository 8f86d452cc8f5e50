package live

import (
	"bytes"
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
	"os/exec"
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

// certManagerCRDs is the environment variable with a file or folder of cert-manager's CRDs.
// With it, and with cert-manager-controller on the PATH, TestRotation runs cert-manager.
const certManagerCRDs = "CERT_MANAGER_CRDS"

// certManager is the path of cert-manager, or empty if a stand-in takes its place.
var certManager = func() string {
	path, err := exec.LookPath("cert-manager-controller")
	if err != nil || os.Getenv(certManagerCRDs) == "" {
		return ""
	}
	return path
}()

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
	i := &installation{T: t, folder: t.TempDir()}
	i.addStandInKinds()
	i.apply()
	require.Equal(t, 3, i.issueCertificates())
	pod := i.startServer("installed", "--drain-delay=0s")
	t.Cleanup(func() { require.NoError(t, operetta.End(pod.name)) })
	server, metrics := pod.hooks, pod.metrics
	i.startMetacontrollers("HTTPS_PROXY=" + nameServer(t, func() string { return server }))

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

	authority *authority // the CA, once it is issued
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
	i.Cleanup(i.remove)
	i.render(i.folder)
}

// render remembers the objects of a kustomization.
func (i *installation) render(folder string) {
	i.Helper()
	whole, _, err := operetta.Kubectl("kustomize", folder)
	require.NoError(i, err)
	i.rendered = strings.Split(whole, "\n---\n")
}

// remove deletes what other tests would meet.
func (i *installation) remove() {
	kubectl(i.T, "", "delete", "namespace", "operetta-system", "--timeout="+patience.String())
	kubectl(i.T, "", "delete", "statefulset", "--all", "--namespace=metacontroller")
	kubectl(i.T, "", "delete", "compositecontrollers.metacontroller.k8s.io", "--all")
	kubectl(i.T, "", "delete", "clusterrolebinding,clusterrole", "operetta-metacontroller-secrets")
}

// issueCertificates does what cert-manager does for each Certificate whose Secret does not
// exist, and returns how many these were.
func (i *installation) issueCertificates() (issued int) {
	i.Helper()
	usages := map[string]x509.ExtKeyUsage{"server auth": x509.ExtKeyUsageServerAuth, "client auth": x509.ExtKeyUsageClientAuth}
	var cas, others []certificateSpec
	for _, text := range i.rendered {
		var wanted struct {
			Kind string
			Spec certificateSpec
		}
		require.NoError(i, yaml.Unmarshal([]byte(text), &wanted))
		switch {
		case wanted.Kind != "Certificate":
		case wanted.Spec.IsCA:
			cas = append(cas, wanted.Spec)
		default:
			others = append(others, wanted.Spec)
		}
	}
	for _, wanted := range append(cas, others...) {
		if i.secret(wanted.SecretName) != nil {
			continue
		}
		data := map[string]string{}
		if wanted.IsCA {
			i.authority = newAuthority(i.T)
			data["tls.crt"], data["tls.key"] = i.authority.pem, keyPEM(i.T, i.authority.key)
		} else {
			template := &x509.Certificate{Subject: pkix.Name{CommonName: wanted.CommonName}, DNSNames: wanted.DNSNames, NotAfter: time.Now().Add(time.Hour)}
			for _, usage := range wanted.Usages {
				if extended, found := usages[usage]; found {
					template.ExtKeyUsage = append(template.ExtKeyUsage, extended)
				}
			}
			data["tls.crt"], data["tls.key"] = i.authority.issue(i.T, template)
		}
		data["ca.crt"] = i.authority.pem
		i.create("kubernetes.io/tls", wanted.SecretName, data)
		issued++
	}
	return issued
}

// certificateSpec is what a Certificate of cert-manager's asks for.
type certificateSpec struct {
	SecretName, CommonName string
	DNSNames               []string `json:"dnsNames"`
	IsCA                   bool     `json:"isCA"`
	Usages                 []string
}

// secret returns the data of a Secret, or nil if it does not exist.
func (i *installation) secret(name string) map[string][]byte {
	i.Helper()
	object, err := objects.Get(context.Background(), "secret", "operetta-system", name)
	require.NoError(i, err)
	if object == nil {
		return nil
	}
	text, err := json.Marshal(object)
	require.NoError(i, err)
	var secret corev1.Secret
	require.NoError(i, json.Unmarshal(text, &secret))
	return secret.Data
}

// create creates a Secret, with more arguments for kubectl.
func (i *installation) create(secretType, name string, data map[string]string, args ...string) {
	i.Helper()
	secret, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": secretType,
		"metadata":   map[string]any{"name": name, "namespace": "operetta-system"},
		"stringData": data,
	})
	require.NoError(i, err)
	kubectl(i.T, string(secret), append([]string{"create", "--filename=-"}, args...)...)
}

// serverPod is a server that runs as a Pod of the Deployment would.
type serverPod struct {
	name           string
	hooks, metrics string                               // addresses
	mounts         map[string]corev1.SecretVolumeSource // by the folder
}

// startServer runs a server as the Deployment does, with more arguments.
func (i *installation) startServer(name string, more ...string) *serverPod {
	i.Helper()
	var deployment appsv1.Deployment
	i.get(&deployment, "deployment/operetta", "--namespace=operetta-system")
	pod := deployment.Spec.Template.Spec
	args := slices.Clone(pod.Containers[0].Args)
	s := &serverPod{name, freeAddress(i.T), freeAddress(i.T), map[string]corev1.SecretVolumeSource{}}
	for _, mount := range pod.Containers[0].VolumeMounts {
		volume := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		folder := i.TempDir()
		s.mounts[folder] = *pod.Volumes[volume].Secret
		for j := range args {
			args[j] = strings.Replace(args[j], "="+mount.MountPath+"/", "="+folder+"/", 1)
		}
	}
	i.mount(s)
	binary, err := filepath.Abs(root + "/bin/operetta")
	require.NoError(i, err)
	require.NoError(i, operetta.Run(i.Context(), cluster.Program{
		Name: name, Path: binary, Args: append(append(args, "--listen="+s.hooks, "--metrics-listen="+s.metrics), more...),
		Ready: func(ctx context.Context) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.metrics+"/readyz", nil)
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
	return s
}

// mount writes the items of the Secrets to the folders, as the kubelet does: a file is
// replaced at once, and stays as it is while the Secret does not exist.
func (i *installation) mount(s *serverPod) {
	i.Helper()
	for folder, source := range s.mounts {
		data := i.secret(source.SecretName)
		if data == nil {
			continue
		}
		for _, item := range source.Items {
			require.Contains(i, data, item.Key)
			file := filepath.Join(folder, item.Path)
			if former, err := os.ReadFile(file); err == nil && bytes.Equal(former, data[item.Key]) {
				continue
			}
			require.NoError(i, os.WriteFile(file+".new", data[item.Key], 0o600))
			require.NoError(i, os.Rename(file+".new", file))
		}
	}
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

// nameServer starts a proxy that connects with an address for [hookHost], and returns its URL.
func nameServer(t *testing.T, address func() string) string {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != hookHost {
			http.Error(w, "no such name", http.StatusBadGateway)
			return
		}
		server, err := net.Dial("tcp", address())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		// The answer is written to the connection that is taken over: behind one that is written
		// here, the first byte of the client would be read as the begin of its next request.
		client, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			_ = server.Close()
			return
		}
		_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
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
