package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// whySettles is how long the causes of a fault may take to be told.
const whySettles = 90 * time.Second

// realFault is planted into a namespace before a custom resource of each kind comes into it.
type realFault struct {
	name  string
	plant func(w *world)
	// causes are the objects that may be named first, by kind, as beginnings of KIND/NAME. A kind
	// that the fault does not touch has none.
	causes map[string][]string
	// words are those of whoever reports it.
	words []string
}

var realFaults = []realFault{
	{"Quota", func(w *world) {
		w.kubectl("create", "quota", "none", "--hard=pods=0")
		w.kubectl("wait", "quota/none", "--for=jsonpath={.status.used.pods}=0", "--timeout="+patience.String())
	}, map[string][]string{
		"ModelBox": {"ReplicaSet/box-", "Deployment/box"}, "DataService": {"ReplicaSet/eureka-", "Deployment/eureka"}, "Build": {"Job/hello-"},
		"MyJob": {"Pod/hello"}, "PodSet": {"Pod/set-0"},
	}, []string{"exceeded quota: none"}},
	{"Unschedulable", func(w *world) {
		w.shop()
		w.policy("Mutating", `reinvocationPolicy: Never, mutations: [{patchType: JSONPatch, jsonPatch: {
			expression: '[JSONPatch{op: "add", path: "/spec/nodeSelector", value: {"disk": "none"}}]'}}]`, "", "pods")
		w.eventually("the policy is enforced", func() error {
			pod, _, err := operetta.Kubectl("run", "probe", "--image=a", "--dry-run=server", "--output=jsonpath={.spec.nodeSelector}", "--namespace="+w.ns)
			if err == nil && pod == "" {
				return fmt.Errorf("a Pod has no nodeSelector")
			}
			return err
		})
	}, map[string][]string{
		"ModelBox": {"Pod/box-"}, "DataService": {"Pod/eureka-"}, "Build": {"Pod/hello-"}, "MyJob": {"Pod/hello"}, "PodSet": {"Pod/set-0"}, "PodBuggerTool": {"Pod/toolbox-"},
	}, []string{"didn't match Pod's node affinity/selector"}},
	{"AdmissionPolicy", func(w *world) {
		w.shop()
		w.policy("Validating", `validations: [{expression: "false", message: the namespace is closed}]`, ", validationActions: [Deny]", "pods, jobs, deployments, statefulsets")
		w.eventually("the policy is enforced", func() error {
			_, _, err := operetta.Kubectl("create", "deployment", "probe", "--image=a", "--dry-run=server", "--namespace="+w.ns)
			if err == nil {
				return fmt.Errorf("a Deployment is admitted")
			}
			return nil
		})
	}, map[string][]string{
		"ModelBox": {"Deployment/box"}, "DataService": {"Deployment/eureka"}, "Build": {"Job/hello-"}, "MyJob": {"Pod/hello"}, "PodSet": {"Pod/set-0"}, "PodBuggerTool": {"Job/toolbox-"},
	}, []string{"the namespace is closed"}},
	{"NameTaken", func(w *world) {
		for _, kind := range []string{"box", "eureka"} {
			w.kubectl("create", "service", "clusterip", kind, "--tcp=1:1")
			w.kubectl("create", "deployment", kind, "--image=other")
		}
		w.kubectl("run", "hello", "--image=other")
	}, map[string][]string{
		"ModelBox": {"Deployment/box", "Service/box"}, "DataService": {"Deployment/eureka", "Service/eureka"}, "MyJob": {"Pod/hello"},
	}, []string{"belongs to nobody"}},
	{"HookFailure", func(w *world) {
		w.shop()
		w.withFaults().begin(hookStatus(500, "the desired state could not be computed"))
	}, map[string][]string{
		"ModelBox": {"ModelBox/box"}, "DataService": {"DataService/small"}, "Build": {"Build/hello"}, "MyJob": {"MyJob/hello"}, "PodSet": {"PodSet/set"}, "PodBuggerTool": {"PodBuggerTool/toolbox"},
	}, []string{"the desired state could not be computed"}},
}

// policy has an admission policy that is for objects of some kinds in the test's namespace.
func (w *world) policy(kind, spec, binding, resources string) {
	w.kubectl("label", "namespace", w.ns, "example.com/policy="+w.ns)
	w.apply(fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: %sAdmissionPolicy, metadata: {name: %s}, spec: {
		matchConstraints: {namespaceSelector: {matchLabels: {example.com/policy: %[2]s}}, resourceRules: [
			{apiGroups: ["", apps, batch], apiVersions: ["*"], operations: [CREATE], resources: [%s]}]}, %s}}`, kind, w.ns, resources, spec))
	w.apply(fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: %sAdmissionPolicyBinding, metadata: {name: %s}, spec: {policyName: %[2]s%s}}`, kind, w.ns, binding))
	w.Cleanup(func() {
		policy := strings.ToLower(kind) + "admissionpolicy"
		_, _, _ = operetta.Kubectl("delete", policy+"binding,"+policy, w.ns)
	})
}

// shop runs the application that a PodBuggerTool is for.
func (w *world) shop() {
	w.kubectl("create", "deployment", "shop", "--image=shop")
	w.kubectl("wait", "deployment/shop", "--for=condition=Available", "--timeout="+patience.String())
}

// testWhy plants faults, each in a namespace of its own, reads it with the plugin, and counts how
// often the first cause is the planted one: at least 95 of 100 times.
func testWhy(w *world) {
	asked, found := 0, 0
	for _, fault := range realFaults {
		w.Run(fault.name, func(t *testing.T) {
			w := newWorld(t, w.run)
			fault.plant(w)
			w.apply(modelBox(`image: "nginx:1", replicas: 1, ports: [{port: 80}]`))
			w.apply(podSet(`size: 1`))
			w.apply(product("image: eureka", ""))
			for _, kind := range []string{"build", "myjob"} {
				w.kubectl("apply", "--filename="+filepath.Join(root, "deploy/samples", kind+".yaml"))
			}
			tool, _, _ := strings.Cut(read(t, filepath.Join(root, "deploy/samples/podbuggertool.yaml")), "\n---\n")
			w.apply(tool)
			var wrong []string
			for deadline := time.Now().Add(whySettles); time.Now().Before(deadline); time.Sleep(2 * time.Second) {
				if wrong = fault.wrong(w); len(wrong) == 0 {
					break
				}
			}
			t.Log("\n" + w.plugin("why", "--all"))
			for _, text := range wrong {
				t.Logf("%s: not the planted cause: %s", fault.name, text)
			}
			asked += len(fault.causes)
			found += len(fault.causes) - len(wrong)
		})
	}
	w.Logf("%d of %d first causes are the planted ones", found, asked)
	require.GreaterOrEqual(w, found*100, asked*95)
}

// whyAnswer is what is read of an answer.
type whyAnswer struct {
	Kind, Name, Ready string
	Because           []struct {
		Object                  struct{ Kind, Name string }
		Source, Reason, Message string
	}
}

// wrong returns the answers of which the first cause is not the planted one.
func (f realFault) wrong(w *world) []string {
	w.Helper()
	var answers []whyAnswer
	require.NoError(w, json.Unmarshal([]byte(w.plugin("why", "--all", "--output=json")), &answers))
	require.Len(w, answers, 1+strings.Count(kinds, ","), "one of each kind")
	var wrong []string
	for _, a := range answers {
		wanted := f.causes[a.Kind]
		if len(wanted) == 0 {
			continue
		}
		if len(a.Because) == 0 {
			wrong = append(wrong, a.Kind+" is "+a.Ready+" without a cause")
			continue
		}
		first := a.Because[0]
		ref := first.Object.Kind + "/" + first.Object.Name
		says := first.Source + " " + first.Reason + ": " + first.Message
		isPlanted := slices.ContainsFunc(wanted, func(begin string) bool { return strings.HasPrefix(ref, begin) })
		if !isPlanted || !slices.ContainsFunc(f.words, func(word string) bool { return strings.Contains(says, word) }) {
			wrong = append(wrong, a.Kind+": "+ref+": "+says)
		}
	}
	return wrong
}

// plugin calls kubectl operetta in the test's namespace.
func (w *world) plugin(args ...string) string {
	w.Helper()
	dir, err := filepath.Abs(root)
	require.NoError(w, err)
	command := exec.CommandContext(w.Context(), filepath.Join(dir, "deploy/kubectl-operetta"), append(args, "--namespace="+w.ns)...)
	command.Env = []string{
		"PATH=" + filepath.Dir(operetta.KubectlPath()) + ":" + os.Getenv("PATH"), "HOME=" + operetta.Dir, "TMPDIR=" + operetta.Dir,
		"KUBECONFIG=" + operetta.Kubeconfig, "OPERETTA=" + filepath.Join(dir, "bin/operetta"),
	}
	var out, errOut bytes.Buffer
	command.Stdout, command.Stderr = &out, &errOut
	require.NoError(w, command.Run(), errOut.String())
	return out.String()
}
