package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/e2e/cluster"
	"github.com/operetta-dev/operetta/e2e/kubelet"
)

// certgen is the path of the tool that the Job of deploy/components/self-signed runs, or
// empty if it is not on the PATH. Then a stand-in makes the Secrets.
var certgen, _ = exec.LookPath("kube-webhook-certgen")

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

// TestRotation runs the commands of docs/tls.md for an installation with mutual TLS and
// tokens, and for one with a certificate of its own, while many custom resources are edited.
// No sync is refused, no handshake fails, and each edit arrives.
func TestRotation(t *testing.T) {
	if metacontroller == "" {
		skipped.Add(1)
		t.Skip("metacontroller is not on the PATH")
	}
	t.Run("mtls and token", func(t *testing.T) {
		r := newRotation(t, "mtls", "token")
		r.during("the server's certificate is replaced", func() {
			former := r.secret("operetta-tls")
			r.sh("kubectl -n operetta-system delete secret operetta-tls\nkubectl -n operetta-system wait --for=create secret/operetta-tls --timeout=60s\n")
			require.Equal(t, former["ca.crt"], r.secret("operetta-tls")["ca.crt"], "the CA stays")
			require.NotEqual(t, former["tls.crt"], r.secret("operetta-tls")["tls.crt"])
		})
		r.during("Metacontroller's certificate is replaced", func() {
			former := r.secret("operetta-metacontroller-tls")
			r.sh("kubectl -n operetta-system delete secret operetta-metacontroller-tls\n" +
				"kubectl -n operetta-system wait --for=create secret/operetta-metacontroller-tls --timeout=60s\n" +
				"restart metacontroller statefulset/metacontroller\n")
			require.NotEqual(t, former["tls.crt"], r.secret("operetta-metacontroller-tls")["tls.crt"])
		})
		r.during("the token is replaced", func() {
			former := r.secret("operetta-token")
			r.sh(r.documented("A token"))
			require.NotEqual(t, former["token"], r.secret("operetta-token")["token"])
			require.Equal(t, r.secret("operetta-token")["token"], r.secret("operetta-token")["accepted"])
		})
		r.during("the CA of both sides is replaced", func() {
			former := r.secret("operetta-ca")
			r.sh(r.documented("cert-manager's CA"))
			require.NotEqual(t, former["tls.crt"], r.secret("operetta-ca")["tls.crt"])
			for _, name := range []string{"operetta-tls", "operetta-metacontroller-tls"} {
				require.Equal(t, r.secret("operetta-ca")["tls.crt"], r.secret(name)["ca.crt"], name)
			}
			require.Nil(t, r.secret("operetta-ca-bundle"))
		})
	})
	t.Run("self-signed and token", func(t *testing.T) {
		r := newRotation(t, "self-signed", "token")
		r.during("the certificate and its CA are replaced", func() {
			former := r.secret("operetta-tls")
			r.sh(r.documented("The certificate of self-signed"))
			for _, key := range []string{"ca.crt", "tls.crt", "tls.key"} {
				require.NotEqual(t, former[key], r.secret("operetta-tls")[key], key)
			}
			require.Equal(t, 1, bytes.Count(r.secret("operetta-tls")["ca.crt"], []byte("BEGIN")), "the new CA alone")
			require.Nil(t, r.secret("operetta-tls-next"))
		})
	})
}

// rotation is an installation whose programs follow what is done to its objects.
type rotation struct {
	*testing.T

	folder string
	issuer kubelet.Issuer
	names  *kubelet.Names
	world  *world
	load   *load
	jobs   kubelet.Jobs

	program    string             // the name of Metacontroller, whose log nobody else writes
	set        appsv1.StatefulSet // what it runs by
	deployment appsv1.Deployment  // what the servers run by
	servers    atomic.Pointer[[]*kubelet.Server]
	calls      atomic.Int64
	server     string // the prefix of the names of the servers
	started    int
}

// newRotation installs deploy/ with components, as docs/tls.md says, and edits custom
// resources until the test ends.
func newRotation(t *testing.T, components ...string) *rotation {
	t.Helper()
	r := &rotation{
		T: t, folder: t.TempDir(), issuer: kubelet.Issuer{Cluster: operetta.Cluster, Objects: objects},
		program: "metacontroller-" + components[0], server: "operetta-" + components[0],
	}
	r.startCertManager()
	require.NoError(t, cluster.CopyWithoutNetwork(root+"/deploy", filepath.Join(r.folder, "deploy")))
	require.NoError(t, os.Mkdir(filepath.Join(r.folder, "my-operetta"), 0o700))
	text := "resources:\n- ../deploy\ncomponents:\n" // as in docs/tls.md
	for _, component := range components {
		text += "- ../deploy/components/" + component + "\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(r.folder, "my-operetta/kustomization.yaml"), []byte(text), 0o600))
	t.Cleanup(r.remove)
	kubectl(t, "", "apply", "-k", filepath.Join(r.folder, "deploy/metacontroller"))
	kubectl(t, "", "apply", "-k", filepath.Join(r.folder, "my-operetta"))
	require.NoError(t, kubelet.CreateSecret(operetta.Cluster, "Opaque", "operetta-token", map[string]string{"token": "the-first-token-0123456789", "accepted": "the-first-token-0123456789"}))
	var err error
	r.names, err = kubelet.NewNames()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.names.Close() })
	r.names.Set("operetta.operetta-system", func() (string, error) { // each server in turn
		servers := *r.servers.Load()
		return servers[r.calls.Add(1)%int64(len(servers))].Hooks, nil
	})
	r.makeSecrets()
	for _, name := range []string{"operetta-tls", "operetta-metacontroller-tls"} {
		if name == "operetta-tls" || slices.Contains(components, "mtls") {
			kubectl(t, "", "wait", "--for=create", "secret/"+name, "--namespace=operetta-system", "--timeout="+patience.String())
		}
	}
	t.Cleanup(func() {
		for _, pod := range *r.servers.Load() {
			require.NoError(t, operetta.End(pod.Name))
		}
	})
	r.servers.Store(&[]*kubelet.Server{})
	r.settle()
	t.Cleanup(func() { require.NoError(t, operetta.End(r.program)) })
	r.world = newWorld(t, &run{mode: modes[0]})
	r.load = startLoad(r.world)
	return r
}

// remove deletes what other tests would meet.
func (r *rotation) remove() {
	kubectl(r.T, "", "delete", "namespace", "operetta-system", "--timeout="+patience.String())
	kubectl(r.T, "", "delete", "statefulset", "--all", "--namespace=metacontroller")
	kubectl(r.T, "", "delete", "compositecontrollers.metacontroller.k8s.io", "--all")
	kubectl(r.T, "", "delete", "clusterrolebinding,clusterrole", "operetta-metacontroller-secrets")
}

// secret returns the data of a Secret, or nil if it does not exist.
func (r *rotation) secret(name string) map[string][]byte {
	r.Helper()
	data, err := kubelet.Secret(r.Context(), objects, name)
	require.NoError(r, err)
	return data
}

// get reads an object.
func (r *rotation) get(into any, args ...string) {
	r.Helper()
	text, _, err := operetta.Kubectl(append([]string{"get", "--output=json"}, args...)...)
	require.NoError(r, err)
	require.NoError(r, json.Unmarshal([]byte(text), into))
}

// binary is the path of the server's program.
func (r *rotation) binary() string {
	r.Helper()
	path, err := filepath.Abs(filepath.Join(root, cluster.ServerProgram))
	require.NoError(r, err)
	return path
}

// startCertManager starts cert-manager, or gives its stand-in the kinds that it needs.
func (r *rotation) startCertManager() {
	r.Helper()
	if certManager == "" {
		r.Log("cert-manager-controller is not on the PATH, or no " + certManagerCRDs + " is set: a stand-in issues the certificates")
		require.NoError(r, kubelet.InstallStandInKinds(operetta.Cluster))
		r.Cleanup(func() { require.NoError(r, kubelet.RemoveStandInKinds(operetta.Cluster)) })
		return
	}
	kubectl(r.T, "", "apply", "--server-side", "--filename="+os.Getenv(certManagerCRDs))
	r.Cleanup(func() { kubectl(r.T, "", "delete", "--filename="+os.Getenv(certManagerCRDs)) })
	kubectl(r.T, "", "wait", "--for=condition=Established", "crd/certificates.cert-manager.io", "crd/issuers.cert-manager.io", "--timeout="+patience.String())
	require.NoError(r, operetta.Run(r.Context(), cluster.Program{
		Name: "cert-manager", Path: certManager,
		Args:  []string{"--kubeconfig=" + operetta.Kubeconfig, "--leader-elect=false", "--metrics-listen-address=" + freeAddress(r.T), "--internal-healthz-listen-address=" + freeAddress(r.T)},
		Ready: func(context.Context) error { return nil },
	}))
	r.Cleanup(func() { require.NoError(r, operetta.End("cert-manager")) })
}

// makeSecrets does what cert-manager and the Jobs do.
func (r *rotation) makeSecrets() {
	r.Helper()
	if certManager == "" {
		_, err := r.issuer.Issue(r.Context())
		require.NoError(r, err)
	}
	r.runJobs()
}

// documented returns the commands below a heading of docs/tls.md.
func (r *rotation) documented(heading string) string {
	r.Helper()
	_, section, found := strings.Cut(read(r.T, root+"/docs/tls.md"), "\n### "+heading+"\n")
	require.True(r, found, heading)
	return commands(r.T, section)
}

func commands(t *testing.T, section string) string {
	t.Helper()
	_, text, found := strings.Cut(section, "\n```sh\n")
	require.True(t, found)
	text, _, found = strings.Cut(text, "\n```\n")
	require.True(t, found)
	return text + "\n"
}

// sh runs commands behind the functions that docs/tls.md has for all of them. Meanwhile the
// cluster does its part.
func (r *rotation) sh(script string) {
	r.Helper()
	_, section, found := strings.Cut(read(r.T, root+"/docs/tls.md"), "\n## Rotation\n")
	require.True(r, found)
	bin := r.TempDir()
	asked := filepath.Join(bin, "asked")
	// A rollout has ended when the programs outside of the cluster are the new ones, too.
	wrapper := "#!/bin/sh\n" + operetta.KubectlPath() + " \"$@\" || exit\n" +
		"case \"$*\" in *'rollout status'*) : > " + asked + "; while [ -e " + asked + " ]; do sleep 0.1; done;; esac\n"
	require.NoError(r, os.WriteFile(filepath.Join(bin, "kubectl"), []byte(wrapper), 0o700))
	var output bytes.Buffer
	shell := exec.CommandContext(r.Context(), "sh", "-eu", "-c", commands(r.T, section)+script)
	shell.Dir, shell.Stdout, shell.Stderr = r.folder, &output, &output
	shell.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + bin, "KUBECONFIG=" + operetta.Kubeconfig}
	require.NoError(r, shell.Start())
	ended := make(chan error, 1)
	go func() { ended <- shell.Wait() }()
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case err := <-ended:
			require.NoError(r, err, output.String())
			return
		case <-tick.C:
		}
		r.makeSecrets()
		// One of the Pods has what the Secrets say at once, and the other not for as long as it lives: a
		// kubelet may take two minutes.
		require.NoError(r, (*r.servers.Load())[0].Mount(r.Context(), objects))
		if _, err := os.Stat(asked); err == nil {
			r.settle()
			require.NoError(r, os.Remove(asked))
		}
	}
}

// settle replaces the programs whose Pods have been replaced.
func (r *rotation) settle() {
	r.Helper()
	var deployment appsv1.Deployment
	r.get(&deployment, "deployment/operetta", "--namespace=operetta-system")
	if !reflect.DeepEqual(deployment.Spec.Template, r.deployment.Spec.Template) {
		r.deployment = deployment
		var servers []*kubelet.Server
		for range 2 {
			r.started++
			server, err := kubelet.StartServer(r.Context(), operetta.Cluster, objects, r.binary(), fmt.Sprintf("%s-%d", r.server, r.started), deployment.Spec.Template.Spec)
			require.NoError(r, err)
			servers = append(servers, server)
		}
		former := *r.servers.Swap(&servers)
		r.requireNothingRefused(former)
		var ending errgroup.Group // each waits for what may be on the way to it
		for _, pod := range former {
			ending.Go(func() error { return operetta.End(pod.Name) })
		}
		require.NoError(r, ending.Wait())
	}
	var set appsv1.StatefulSet
	r.get(&set, "statefulset/metacontroller", "--namespace=metacontroller")
	if !reflect.DeepEqual(set.Spec.Template, r.set.Spec.Template) {
		if r.set.Name != "" {
			require.NoError(r, operetta.End(r.program))
		}
		r.set = set
		args := slices.DeleteFunc(slices.Clone(set.Spec.Template.Spec.Containers[0].Args), func(arg string) bool {
			return arg == "--leader-election" // the next one would wait for the end of the lease
		})
		require.NoError(r, operetta.StartMetacontrollerAs(r.Context(), r.program, metacontroller, r.names.Env(), args...))
	}
}

// runJobs does what each Job that has not run is for: the Secret with a CA and a
// certificate, with the permissions of the Job's ServiceAccount.
func (r *rotation) runJobs() {
	r.Helper()
	require.NoError(r, r.jobs.Run(context.Background(), objects, func(job batchv1.Job) error {
		r.runJob(job.Spec.Template.Spec)
		return nil
	}))
}

func (r *rotation) runJob(pod corev1.PodSpec) {
	r.Helper()
	if certgen == "" {
		r.Log("kube-webhook-certgen is not on the PATH: a stand-in makes the Secret")
		require.NoError(r, kubelet.RunJob(operetta.Cluster, pod))
		return
	}
	kubeconfig := filepath.Join(r.TempDir(), "kubeconfig")
	require.NoError(r, operetta.WriteKubeconfig(kubeconfig, "operetta-system", pod.ServiceAccountName))
	output, err := exec.CommandContext(r.Context(), certgen, append(slices.Clone(pod.Containers[0].Args), "--kubeconfig="+kubeconfig)...).CombinedOutput()
	r.Logf("%s: %s", certgen, output)
	require.NoError(r, err)
}

// during does something while custom resources are edited.
func (r *rotation) during(what string, do func()) {
	r.Helper()
	r.load.round(r.world)
	began, before := time.Now(), r.load.arrived()
	do()
	for _, pod := range *r.servers.Load() {
		require.NoError(r, pod.Mount(r.Context(), objects))
	}
	r.load.round(r.world)
	r.requireNothingRefused(*r.servers.Load())
	interrupted, told := r.requireNoFailedSync()
	r.Logf("%s: in %s %d edits of %d custom resources arrived, no sync failed; so far Metacontroller has interrupted %d when it read its settings again, of which %d events tell; the slowest edit took %s",
		what, time.Since(began).Round(time.Second), r.load.arrived()-before, boxes, interrupted, told, time.Duration(r.load.slowest.Load()).Round(time.Millisecond))
}

// refusal matches the metric of requests that were refused for their credentials. Other
// refusals that Metacontroller hears of are in its log: one that ends in the middle of a
// request leaves half of it.
var refusal = regexp.MustCompile(`(?m)^operetta_requests_refused_total\{reason="(unauthorized|forbidden)"\} (\d+)$`)

func (r *rotation) requireNothingRefused(pods []*kubelet.Server) {
	r.Helper()
	for _, pod := range pods {
		for _, found := range refusal.FindAllStringSubmatch(page(r.T, "http://"+pod.Metrics+"/metrics"), -1) {
			require.Equal(r, "0", found[2], "requests that %s has refused: %s", pod.Name, found[1])
		}
	}
}

// requireNoHandshakeFailed looks for handshakes that failed for what one side said: an end of
// the connection in the middle of one is that of a Metacontroller. It returns how many the
// server gave up for lack of time, which a machine that is busy with something else may not
// have.
func (r *rotation) requireNoHandshakeFailed(server string) (late int) {
	r.Helper()
	for line := range strings.Lines(read(r.T, filepath.Join(operetta.Dir, server+".log"))) {
		if !strings.Contains(line, "TLS handshake error") {
			continue
		}
		require.NotContains(r, line, "tls: ")
		if strings.Contains(line, "i/o timeout") {
			late++
		}
	}
	return late
}

// credentials matches what failed syncs say of credentials.
var credentials = regexp.MustCompile(`x509|certificate|unsupported status code`)

// ended matches what is said of a connection that the server has ended: which of these depends on
// what Metacontroller was about to do with it.
var ended = regexp.MustCompile(`: (EOF|write: broken pipe|(read|write): connection reset by peer)"`)

// requireNoFailedSync compares events and Metacontroller's log with what may be there: a
// Metacontroller that ends, or whose CompositeController has changed, cancels the syncs that
// run, and the next one begins with all of them. It returns the number of these in the log
// and in events. Nothing else has failed, but for the handshakes that were too late.
func (r *rotation) requireNoFailedSync() (interrupted, told int) {
	r.Helper()
	late := 0
	for i := range r.started {
		late += r.requireNoHandshakeFailed(fmt.Sprintf("%s-%d", r.server, i+1))
	}
	var failed, events []string
	for line := range strings.Lines(read(r.T, filepath.Join(operetta.Dir, r.program+".log"))) {
		switch {
		case !strings.Contains(line, "failed to sync") && !credentials.MatchString(line):
		case strings.Contains(line, "context canceled"):
			interrupted++
		case ended.MatchString(line):
			// The server ends a connection without a word where a handshake or the head of a request
			// takes over two seconds. Credentials it answers with a status or a TLS alert.
			late++
		case strings.Contains(line, `"level":"error"`):
			failed = append(failed, line)
		}
	}
	for line := range strings.Lines(r.world.kubectl("get", "events", "--field-selector=type=Warning,reason=SyncError", `--output=jsonpath={range .items[*]}{.count} {.message}{"\n"}{end}`)) {
		if strings.Contains(line, "context canceled") {
			told++
		} else {
			events = append(events, line)
		}
	}
	for _, line := range slices.Concat(failed, events) {
		require.NotRegexp(r, credentials, line)
	}
	require.LessOrEqual(r, len(failed), late, strings.Join(failed, ""))
	require.LessOrEqual(r, len(events), late, strings.Join(events, ""))
	if late > 0 {
		r.Logf("so far the server has given up %d connections after two seconds: the machine is busy", late)
	}
	return interrupted, told
}

// boxes is the number of custom resources that are edited.
const boxes = 24

// load edits custom resources, each as soon as its last edit has arrived, but at most once in
// a second.
type load struct {
	edits   [boxes]atomic.Int64 // that have arrived
	slowest atomic.Int64        // a time.Duration

	mu     sync.Mutex
	images map[string]any // of the Deployments
	failed error
}

// startLoad creates the custom resources and edits them until the test ends.
func startLoad(w *world) *load {
	w.Helper()
	l := &load{}
	var manifests []string
	for i := range boxes {
		manifests = append(manifests, strings.Replace(modelBox(`image: "nginx:0", replicas: 0, ports: [{port: 80}]`), "name: box", "name: "+box(i), 1))
	}
	w.apply(strings.Join(manifests, "\n---\n"))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { l.look(ctx, w.ns) })
	for i := range boxes {
		running.Go(func() { l.edit(ctx, w.ns, i) })
	}
	w.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return l
}

func box(i int) string { return fmt.Sprintf("box-%02d", i) }

// look reads the Deployments again and again.
func (l *load) look(ctx context.Context, namespace string) {
	for ; ctx.Err() == nil; sleep(ctx, 200*time.Millisecond) {
		list, err := objects.List(ctx, "deployments.apps", namespace, "")
		if err != nil {
			l.fail(ctx, err)
			continue
		}
		images := map[string]any{}
		for _, deployment := range list {
			images[fmt.Sprint(at(deployment, "metadata", "name"))] = at(deployment, "spec", "template", "spec", "containers", 0, "image")
		}
		l.mu.Lock()
		l.images = images
		l.mu.Unlock()
	}
}

// edit edits one custom resource again and again.
func (l *load) edit(ctx context.Context, namespace string, i int) {
	for ctx.Err() == nil {
		image := fmt.Sprintf("nginx:%d", l.edits[i].Load()+1)
		began := time.Now()
		if err := objects.Patch(ctx, "modelboxes.model.github.com", namespace, box(i), `{"spec": {"image": "`+image+`"}}`); err != nil {
			l.fail(ctx, err)
			return
		}
		for l.image(i) != image {
			if sleep(ctx, 50*time.Millisecond); ctx.Err() != nil {
				return
			}
		}
		took := time.Since(began)
		for slowest := l.slowest.Load(); int64(took) > slowest && !l.slowest.CompareAndSwap(slowest, int64(took)); slowest = l.slowest.Load() {
		}
		l.edits[i].Add(1)
		sleep(ctx, time.Second-took)
	}
}

func (l *load) image(i int) any {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.images[box(i)]
}

func (l *load) fail(ctx context.Context, err error) {
	if ctx.Err() == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.failed = errors.Join(l.failed, err)
	}
}

// arrived is the number of edits that have arrived.
func (l *load) arrived() (sum int64) {
	for i := range l.edits {
		sum += l.edits[i].Load()
	}
	return sum
}

// round waits until each custom resource has an edit that began after the call.
func (l *load) round(w *world) {
	w.Helper()
	var wanted [boxes]int64
	for i := range wanted {
		wanted[i] = l.edits[i].Load() + 2 // one may have begun before
	}
	w.eventually("each edit has arrived", func() error {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.failed != nil {
			return l.failed
		}
		for i := range wanted {
			if got := l.edits[i].Load(); got < wanted[i] {
				return fmt.Errorf("%s: %d edits have arrived, and the Deployment has the image %v", box(i), got, l.images[box(i)])
			}
		}
		return nil
	})
}

func sleep(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
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
	address, err := cluster.FreeAddress()
	require.NoError(t, err)
	return address
}
