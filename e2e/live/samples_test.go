package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// testSamples applies every sample: it becomes Ready, then nothing is written, its children
// are those of the simulation, and all of them are deleted with it.
func testSamples(w *world) {
	all := samples(w.T)
	names := slices.Sorted(maps.Keys(all))
	for _, path := range slices.Compact(slices.Sorted(maps.Values(all))) {
		w.kubectl("apply", "--filename="+path)
	}
	stop := w.runDebugJobs()
	defer stop()
	w.ready(names...)
	requireOrder(w)
	requireQuiet(w, names)
	requireNoDiff(w, len(names))
	for _, name := range names {
		requireAsSimulated(w, name, all[name])
	}
}

// runDebugJobs runs the commands of the Jobs of PodBuggerTools, because kwok runs no
// containers.
func (w *world) runDebugJobs() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(300 * time.Millisecond):
			}
			jobs, err := objects.List(w.Context(), "jobs", w.ns, "app.kubernetes.io/part-of=podbuggertool")
			if err != nil {
				continue
			}
			for _, job := range jobs {
				_, _, _ = operetta.RunDebugJob(w.ns, job) // the result is seen on the Pod
			}
		}
	}()
	return func() { close(done); <-ended }
}

// requireOrder fails if a component of the DataService was created before those of the
// stage before it were ready.
func requireOrder(w *world) {
	moment := func(value any) time.Time {
		at, err := time.Parse(time.RFC3339, fmt.Sprint(value))
		require.NoError(w, err)
		return at
	}
	var last time.Time // when the stage before was ready
	for _, stage := range [][]string{
		{"mysql-dataservice"}, {"eureka"}, {"api-manager", "auth", "ds-adapter", "es-adapter", "proxy", "trd-adapter"},
		{"gateway-master", "gateway-web"}, {"web"},
	} {
		ready := last
		for _, name := range stage {
			require.False(w, moment(at(w.get("service", name), "metadata", "creationTimestamp")).Before(last), "%s was created too early", name)
			pods := w.list("pods", "app="+name)
			require.NotEmpty(w, pods, name)
			conditions, _ := at(pods[0], "status", "conditions").([]any)
			for _, c := range conditions {
				if at(c, "type") == "Ready" {
					if since := moment(at(c, "lastTransitionTime")); since.After(ready) {
						ready = since
					}
				}
			}
		}
		last = ready
	}
}

// requireQuiet touches every custom resource, and wants the hooks to answer and
// Metacontroller to write nothing. It tries three times: on a busy machine
// Metacontroller may pause for longer than settle waits, and then go on. A hook that
// asks for something else at every sync fails each time.
func requireQuiet(w *world, names []string) {
	w.Helper()
	var written []request
	for range 3 {
		if written = w.touch(names); len(written) == 0 {
			return
		}
	}
	require.Empty(w, written, "Metacontroller writes at every sync")
}

// touch changes an annotation of every custom resource when all is settled, and
// returns what Metacontroller has written for it.
func (w *world) touch(names []string) []request {
	w.Helper()
	w.settle()
	offset := auditEnd(w)
	mark := len(read(w.T, filepath.Join(operetta.Dir, "operetta.log")))
	for _, name := range names {
		w.kubectl("annotate", "--overwrite", name, "example.com/touched="+fmt.Sprint(offset))
	}
	w.eventually("the hooks are called for all", func() error {
		log := read(w.T, filepath.Join(operetta.Dir, "operetta.log"))[mark:]
		for _, name := range names {
			kind, object, _ := strings.Cut(name, "/")
			if !strings.Contains(log, fmt.Sprintf(`"kind":"%s","hook":"sync","namespace":"%s","name":"%s"`, kind, w.ns, object)) {
				return fmt.Errorf("there is no call for %s", name)
			}
		}
		return nil
	})
	w.settle()
	list, _ := w.requests(offset)
	require.NotEmpty(w, list, "Metacontroller sent no request")
	return writes(list)
}

// settle waits until Metacontroller has written nothing for a while.
func (w *world) settle() {
	w.Helper()
	const calm = 3 * time.Second
	offset := auditEnd(w)
	since := time.Now()
	w.eventually("Metacontroller goes quiet", func() error {
		list, next := w.requests(offset)
		offset = next
		if some := writes(list); len(some) > 0 {
			since = time.Now()
			return fmt.Errorf("%v", some[len(some)-1])
		}
		if time.Since(since) < calm {
			return fmt.Errorf("it has been quiet for %s only", time.Since(since))
		}
		return nil
	})
}

// requireNoDiff dumps the namespace, and wants operetta diff to find nothing that would change. Of an
// edit it predicts what happens then, and nothing else does.
func requireNoDiff(w *world, parents int) {
	w.Helper()
	help, err := exec.Command(filepath.Join(root, "bin/operetta"), "diff", "--help").Output()
	require.NoError(w, err)
	kinds := regexp.MustCompile(`kubectl get -A -o json (\S+)`).FindSubmatch(help)
	require.NotNil(w, kinds, "the help names the kinds")
	dump := w.kubectl("get", string(kinds[1]), "-o", "json", "--show-managed-fields")
	diff := func(args ...string) (string, int) {
		command := exec.Command(filepath.Join(root, "bin/operetta"), append([]string{"diff", "--seen=all"}, args...)...)
		command.Stdin = strings.NewReader(dump)
		output, _ := command.CombinedOutput()
		return string(output), command.ProcessState.ExitCode()
	}
	printed, code := diff()
	require.Equal(w, fmt.Sprintf("0 of %d custom resources would change\n", parents), printed)
	require.Zero(w, code)

	const image = "nginx:1.28-alpine"
	sample := strings.Replace(read(w.T, filepath.Join(root, "deploy/samples/modelbox.yaml")), "nginx:1.27-alpine", image, 1)
	edited := strings.Replace(sample, "  name: sentiment\n", "  name: sentiment\n  namespace: "+w.ns+"\n", 1)
	path := filepath.Join(w.TempDir(), "edited.yaml")
	require.NoError(w, os.WriteFile(path, []byte(edited), 0o600))
	printed, code = diff("--with="+path, "--ignore=status")
	require.Equal(w, 3, code, printed)
	require.Contains(w, printed, "\n~ Deployment/sentiment rolls\n-     spec.template.spec.containers[sentiment].image: nginx:1.27-alpine\n"+
		"+     spec.template.spec.containers[sentiment].image: "+image+"\n")
	require.Equal(w, 1, strings.Count(printed, "\n+ "), printed)

	spec := func() string { return string(jsonOf(w, at(w.get("deployment", "sentiment"), "spec"))) }
	before := spec()
	w.apply(sample)
	w.eventually("the Deployment is as predicted", func() error {
		if now := spec(); now != strings.Replace(before, "nginx:1.27-alpine", image, 1) {
			return fmt.Errorf("it is %s", now)
		}
		return nil
	})
}

func jsonOf(w *world, value any) []byte {
	w.Helper()
	text, err := json.Marshal(value)
	require.NoError(w, err)
	return text
}

// requireAsSimulated compares the children at the end of a simulation with those in the
// cluster.
func requireAsSimulated(w *world, name, path string) {
	w.Helper()
	output, err := exec.Command(filepath.Join(root, "bin/operetta"), "simulate", path, "--output=json",
		"--apply="+w.mode.strategy, "--hook-version="+w.mode.hookVersion).Output()
	require.NoError(w, err, path)
	simulated := simulatedChildren(w.T, output)
	kind, object, _ := strings.Cut(name, "/")
	uid := fmt.Sprint(at(w.get(kind, object), "metadata", "uid"))
	real := refs(w.list("pods,jobs,deployments,statefulsets,daemonsets,services,configmaps,serviceaccounts,roles,rolebindings", "controller-uid="+uid))
	slices.Sort(real)
	require.Equal(w, simulated, real, "%s: simulated and real", name)
}

// simulatedChildren returns the children at the end of a simulation.
func simulatedChildren(t *testing.T, output []byte) []string {
	var dump struct {
		Run struct {
			Objects []struct {
				ID, Role string
				Versions []struct{ Object json.RawMessage }
			}
		}
	}
	require.NoError(t, json.Unmarshal(output, &dump), string(output))
	var there []string
	for _, object := range dump.Run.Objects {
		if object.Role == "child" && object.Versions[len(object.Versions)-1].Object != nil {
			there = append(there, object.ID)
		}
	}
	slices.Sort(there)
	return there
}

// everyField are the requests, as they are in the corpus, of custom resources
// with all optional fields set.
var everyField = []string{
	"build/sync/every-field-reaches-the-job", "dataservice/sync/every-field-reaches-the-children", "modelbox/sync/every-field-reaches-the-pods",
	"myjob/sync/template-reaches-the-pod", "podset/sync/template-reaches-the-pods", "podbuggertool/sync/every-field-reaches-kubectl",
}

// testEveryFieldIsQuiet applies custom resources with all optional fields set. Some do not
// become Ready, because the objects that they refer to do not exist.
func testEveryFieldIsQuiet(w *world) {
	var names []string
	for _, path := range everyField {
		var request struct {
			Parent map[string]any `json:"parent"`
		}
		require.NoError(w, yaml.Unmarshal([]byte(read(w.T, filepath.Join(root, "testdata", path+".in.yaml"))), &request))
		object := map[string]any{
			"apiVersion": request.Parent["apiVersion"], "kind": request.Parent["kind"],
			"metadata": map[string]any{"name": at(request.Parent, "metadata", "name")}, "spec": request.Parent["spec"],
		}
		manifest, err := json.Marshal(object)
		require.NoError(w, err)
		// The node ports belong to the whole cluster, and the samples have some of them.
		w.apply(strings.ReplaceAll(string(manifest), `"nodePort":3016`, `"nodePort":3006`))
		names = append(names, strings.ToLower(fmt.Sprint(object["kind"]))+"/"+fmt.Sprint(at(object, "metadata", "name")))
	}
	requireQuiet(w, names)
}

// TestPermissionsSuffice runs after the other tests: RBAC has refused no request of
// Metacontroller in any of them.
func TestPermissionsSuffice(t *testing.T) {
	if metacontroller == "" {
		skipped.Add(1)
		t.Skip("metacontroller is not on the PATH")
	}
	list, _ := requests(t, 0)
	require.NotEmpty(t, list)
	for _, r := range list {
		if !r.isForbidden() {
			continue
		}
		t.Errorf("at %s %s was refused for want of a permission: %s %s", r.Received, r, r.ResponseStatus.Message, r.Annotations["authorization.k8s.io/reason"])
	}
}
