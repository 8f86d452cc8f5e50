package operettatest_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
	"github.com/operetta-dev/operetta/simulation"
)

// projectVariable names the folder that TestProject is about.
const projectVariable = "OPERETTATEST_PROJECT"

// mutantVariable names what is wrong with the operator of TestProject.
const mutantVariable = "OPERETTATEST_MUTANT"

// TestProject runs what authors run: on a project that is complete or, in a process of
// its own, on one in which something is wrong.
func TestProject(t *testing.T) {
	dir := os.Getenv(projectVariable)
	if dir == "" {
		dir = "testdata/project"
	}
	mutant := os.Getenv(mutantVariable)
	operettatest.RunWith(t, dir, told[mutant], mutants[mutant](webController()))
}

// told is what is told of mutants.
var told = map[string]simulation.Kinds{
	"told of no operator": {"wep": {}},
	"breaks a promise": {"web": {Invariants: simulation.Invariants{Watch: func() func(simulation.Write) string {
		return func(simulation.Write) string { return "it was never to be written" }
	}}}},
}

// FuzzProject does what TestProject does for the fuzzer.
func FuzzProject(f *testing.F) { operettatest.Fuzz(f, "testdata/project", webController()) }

// mutants are ways in which an operator is wrong, by their names. The empty one is right.
var mutants = map[string]func(metacontroller.Controller) metacontroller.Controller{
	"cluster-scoped": clusterScoped,
	"":               asItIs, "told of no operator": asItIs, "breaks a promise": asItIs,
	"drops the child that it has made": answering(func(result *metacontroller.Result[toyStatus], web *toy, seen metacontroller.Observed) {
		if seen.Children.Len() > 0 && len(web.Status.Conditions) > 0 {
			result.Children = nil
		}
	}),
	"another answer each time": answering(func(result *metacontroller.Result[toyStatus], _ *toy, _ metacontroller.Observed) {
		calls++
		result.Status.Conditions[0].Message = strings.Repeat("x", 1+calls%7)
	}),
	"Ready from the beginning": answering(func(result *metacontroller.Result[toyStatus], _ *toy, _ metacontroller.Observed) {
		for i := range result.Status.Conditions {
			if result.Status.Conditions[i].Type == "Ready" {
				result.Status.Conditions[i].Status = "True"
			}
		}
	}),
	"copies annotations": answering(func(result *metacontroller.Result[toyStatus], web *toy, seen metacontroller.Observed) {
		for _, observed := range metacontroller.ListReadable[metav1.PartialObjectMetadata](seen.Children, "apps/v1", "Deployment") {
			copied := deployment(web)
			copied.Annotations = observed.Annotations
			result.Children[0] = copied
		}
	}),
	"drops the child without a status": answering(func(result *metacontroller.Result[toyStatus], web *toy, seen metacontroller.Observed) {
		if seen.Children.Len() > 0 && len(web.Status.Conditions) == 0 {
			result.Children = nil
		}
	}),
	"a child depends on what informs": func(c metacontroller.Controller) metacontroller.Controller {
		c = answering(func(result *metacontroller.Result[toyStatus], _ *toy, seen metacontroller.Observed) {
			if !seen.Related.Includes(metacontroller.Pod) {
				result.Children = nil
			}
		})(c)
		c.Related = []metacontroller.Related{{Resource: metacontroller.Pod, Informs: true}}
		c.Customize = metacontroller.Customize(func(*toy) ([]metacontroller.Rule, error) { return nil, nil })
		return c
	},
	"a definition that is refused": func(c metacontroller.Controller) metacontroller.Controller {
		c.CRD = metacontroller.NewCRD(bytes.Replace(c.CRD.Text(), []byte("name: webs."), []byte("name: web."), 1))
		return c
	},
	"waits for its own generation": answering(func(result *metacontroller.Result[toyStatus], web *toy, _ metacontroller.Observed) {
		for i := range result.Status.Conditions {
			if c := &result.Status.Conditions[i]; c.Type == "Ready" && web.Status.ObservedGeneration != web.Generation {
				c.Status, c.Reason = "False", "Updating"
			}
		}
	}),
	"never Ready": answering(func(result *metacontroller.Result[toyStatus], _ *toy, _ metacontroller.Observed) {
		for i := range result.Status.Conditions {
			if result.Status.Conditions[i].Type == "Ready" {
				result.Status.Conditions[i].Status = "False"
			}
		}
	}),
}

func asItIs(c metacontroller.Controller) metacontroller.Controller { return c }

// clusterScoped makes Webs that live in no namespace, and ask for a ClusterRole.
func clusterScoped(c metacontroller.Controller) metacontroller.Controller {
	c.CRD = metacontroller.NewCRD(bytes.Replace(c.CRD.Text(), []byte("scope: Namespaced"), []byte("scope: Cluster"), 1))
	c.Children = []metacontroller.Child{{Resource: metacontroller.ClusterRole, Update: metacontroller.InPlace}}
	c.Sync = metacontroller.Sync(func(web *toy, seen metacontroller.Observed) (metacontroller.Result[toyStatus], error) {
		role := &rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: web.Name}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}, ResourceNames: []string{web.Spec.Image}}},
		}
		return answerToy(web, seen, role, isThere)
	})
	return c
}

// TestClusterScopedOperatorsPass all parts.
func TestClusterScopedOperatorsPass(t *testing.T) {
	dir := copyProject(t)
	folder := filepath.Join(dir, "testdata/web/sync")
	require.NoError(t, os.RemoveAll(folder))
	require.NoError(t, os.Mkdir(folder, 0o755))
	sample := filepath.Join(dir, "deploy/samples/web.yaml")
	text, err := os.ReadFile(sample)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(sample, bytes.Replace(text, []byte("  namespace: shops\n"), nil, 1), 0o600))
	const web = "apiVersion: toys.example.com/v1, kind: Web, metadata: {name: a, uid: u, generation: 1}, spec: {image: nginx}"
	for name, text := range map[string]string{
		"new.in.yaml":  "# A new Web asks for its ClusterRole.\n{" + web + "}\n",
		"made.in.yaml": "# The ClusterRole is there.\nparent: {" + web + "}\nchildren: {ClusterRole.rbac.authorization.k8s.io/v1: {a: {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}}}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	output, passed := runProject(t, ".*", dir, "cluster-scoped", "-update")
	require.True(t, passed, output)
	output, passed = runProject(t, ".*", dir, "cluster-scoped", "-test.v")
	require.True(t, passed, output)
	require.Contains(t, output, "PASS: TestProject/web/samples_survive_what_is_late")
}

var calls int

// answering returns a mutant that changes what the hook answers.
func answering(change func(*metacontroller.Result[toyStatus], *toy, metacontroller.Observed)) func(metacontroller.Controller) metacontroller.Controller {
	return func(c metacontroller.Controller) metacontroller.Controller {
		sync := func(web *toy, seen metacontroller.Observed) (metacontroller.Result[toyStatus], error) {
			result, err := syncToy(web, seen)
			if err == nil {
				change(&result, web, seen)
			}
			return result, err
		}
		c.Sync = metacontroller.Sync(sync)
		return c
	}
}

// runProject runs parts of TestProject in a process of its own, and returns what it
// prints.
func runProject(t *testing.T, parts, dir, mutant string, flags ...string) (output string, passed bool) {
	t.Helper()
	command := exec.Command(os.Args[0], append([]string{"-test.run=^TestProject$/^(testdata|web)$/^(" + parts + ")$", "-test.short"}, flags...)...)
	command.Env = append(os.Environ(), projectVariable+"="+dir, mutantVariable+"="+mutant)
	text, err := command.CombinedOutput()
	return string(text), err == nil
}

// copyProject returns a copy of the complete project, to be damaged.
func copyProject(t *testing.T) string {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/project")))
	return dir
}

// ofFiles are the parts that look at files.
const ofFiles = "owes_nothing|goldens|files_are_pairs|cases_tell_their_reason|parents_can_be_stored"

// TestWhatIsWrongIsTold damages the project, and wants to be told what to write.
func TestWhatIsWrongIsTold(t *testing.T) {
	const name = "testdata/web/sync/ready-when-all-replicas-are"
	write := func(path, text string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, path)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
	}
	remove := func(path string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(filepath.Join(dir, path))) }
	}
	const parent = "parent: {apiVersion: toys.example.com/v1, kind: Web, metadata: {name: a}, spec: {image: "
	for what, test := range map[string]struct {
		damage func(t *testing.T, dir string)
		told   []string
	}{
		"no cases":                  {remove("testdata"), []string{"TestProject/web/owes_nothing", "Web still owes:\n", "a case of its sync hook: write testdata/web/sync/<what-it-shows>.in.yaml"}},
		"no sample":                 {remove("deploy"), []string{"TestProject/web/owes_nothing", "a sample: write deploy/samples/web.yaml, a Web as a user would write it"}},
		"nothing observed":          {write(name+".in.yaml", "# Bare.\n"+parent+"a}}\n"), []string{"a case with observed children: write testdata/web/sync/"}},
		"no golden":                 {remove(name + ".out.yaml"), []string{"web/goldens/sync/ready-when-all-replicas-are", "run go test with -update, and read what it writes"}},
		"another golden":            {write(name+".out.yaml", "children: []\n"), []string{"web/goldens/", "run go test with -update if this is meant"}},
		"an answer without a case":  {write("testdata/web/sync/gone.out.yaml", "a: b\n"), []string{"web/files_are_pairs", "gone.out.yaml belongs to no case: there is no gone.in.yaml"}},
		"a case of no operator":     {write("testdata/wep/sync/a.in.yaml", "a: b\n"), []string{"a.in.yaml belongs to no operator", "of the kinds web"}},
		"no reason":                 {write("testdata/web/sync/b.in.yaml", parent+"a}}\n"), []string{"b.in.yaml does not begin with a comment: write why"}},
		"a parent that is refused":  {write("testdata/web/sync/c.in.yaml", "# x\n"+parent+`""}}`+"\n"), []string{"web/parents_can_be_stored/sync/c", "spec.image"}},
		"a sample of no operator":   {write("deploy/samples/other.yaml", "apiVersion: v1\nkind: Pod\n"), []string{"other.yaml: there is no operator for the kind Pod of v1"}},
		"a sample that is no YAML":  {write("deploy/samples/web.yaml", "a: [\n"), []string{"web.yaml: document 1 is neither YAML nor JSON"}},
		"a case of an unknown hook": {write("testdata/web/synk/a.in.yaml", "# x\n"+parent+"a}}\n"), []string{"web has no hook synk"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := copyProject(t)
			test.damage(t, dir)
			output, passed := runProject(t, ofFiles, dir, "")
			require.False(t, passed, output)
			for _, text := range test.told {
				require.Contains(t, output, text)
			}
		})
	}
}

// TestWrongOperatorsAreFound wants each mutant to be found by the part that is for it, which
// says what to do.
func TestWrongOperatorsAreFound(t *testing.T) {
	for mutant, told := range map[string]struct{ part, remedy string }{
		"drops the child that it has made": {"samples_become_Ready", "operetta simulate with the sample shows what happens"},
		"another answer each time":         {"invariants", "do not range over a map into a list: sort its keys; read no clock but request.Now"},
		"copies annotations":               {"nothing_forged_is_passed_on", "restate an observed child with metacontroller.Keep, and copy no text from one"},
		"drops the child without a status": {"invariants", "rely on what the status says only once a request shows it: see docs/authors.md"},
		"Ready from the beginning":         {"samples_survive_what_is_late", "operetta explore with the sample and the seed tells it again"},
		"breaks a promise":                 {"samples_survive_what_is_late", "operetta explore with the sample and the seed tells it again"},
		"waits for its own generation": {"invariants", "status.observedGeneration is Metacontroller's, which writes it along with this answer and does not call again:" +
			" judge by what the children say of theirs"},
		"a child depends on what informs": {"invariants",
			"compute children from the parent and the observed children alone; where they need a related object, leave out Related.Informs"},
		"a definition that is refused": {"definition_can_be_stored", "change the marker, or the type, and write make generate"},
		"never Ready":                  {"samples_become_Ready", "operetta simulate with the sample shows what happens"},
	} {
		t.Run(mutant, func(t *testing.T) {
			t.Parallel()
			part := told.part
			output, passed := runProject(t, part, "testdata/project", mutant)
			require.False(t, passed)
			require.Contains(t, output, "--- FAIL: TestProject/web/"+part)
			require.Contains(t, output, "what to do: "+told.remedy+"\n")
			require.NotContains(t, output, "Invariants.History", "no child differs by history")
			_, passed = runProject(t, part, "testdata/project", "")
			require.True(t, passed)
		})
	}
}

// TestAnIncompletePodIsTold where an invariant does not hold for its case: the hook may be right.
func TestAnIncompletePodIsTold(t *testing.T) {
	dir := copyProject(t)
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: NAME, namespace: shops, uid: u}, status: {phase: Running}}"
	text := "# x\nparent: {apiVersion: toys.example.com/v1, kind: Web, metadata: {name: a, namespace: shops, uid: w, generation: 1}, spec: {image: nginx}}\nrelated: {Pod.v1: {shops/p: " +
		strings.Replace(pod, "NAME", "p", 1) + ", shops/q: " + strings.Replace(strings.Replace(pod, "NAME", "q", 1), "uid: u}", "uid: v, creationTimestamp: '2026-01-01T00:00:00Z'}, spec: {containers: [{name: c}]}", 1) + "}}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "testdata/web/sync/pods.in.yaml"), []byte(text), 0o600))
	output, passed := runProject(t, "invariants", dir, "a child depends on what informs")
	require.False(t, passed)
	require.Contains(t, output, "Pod/p of the case has no metadata.creationTimestamp, no spec.containers, which the API server always fills in: complete it first")
	require.NotContains(t, output, "Pod/q of the case")
}

// TestUpdateWritesGoldens removes a golden, and has it written again as it was.
func TestUpdateWritesGoldens(t *testing.T) {
	dir := copyProject(t)
	golden := filepath.Join(dir, "testdata/web/sync/ready-when-all-replicas-are.out.yaml")
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.NoError(t, os.Remove(golden))
	output, passed := runProject(t, ofFiles, dir, "", "-update")
	require.True(t, passed, output)
	got, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

// TestWhatIsToldOfNoOperatorIsRefused: nothing would check it.
func TestWhatIsToldOfNoOperatorIsRefused(t *testing.T) {
	output, passed := runProject(t, ofFiles, "testdata/project", "told of no operator")
	require.False(t, passed)
	require.Contains(t, output, "invariants of wep, which is none of the 1 operators: write a kind in lower case")
}

// TestOneKindAlone wants a kind that there is not to be told, and not to pass.
func TestOneKindAlone(t *testing.T) {
	t.Setenv("OPERETTA_TEST_KIND", "wep")
	output, passed := runProject(t, ofFiles, "testdata/project", "")
	require.False(t, passed)
	require.Contains(t, output, `OPERETTA_TEST_KIND is "wep", which is none of the 1 operators`)
}
