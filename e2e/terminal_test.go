package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// atTheTerminal are the kinds by the names that users type.
var atTheTerminal = []struct {
	kind, shortName string
	columns         string // the header of kubectl get
	manifest        string
	scale           string // path of the number of Pods, if the kind can be scaled
}{
	{"build", "bld", "NAME PHASE REVISION JOB DURATION AGE", `{apiVersion: ci.zt.vapi.cc/v1, kind: Build, metadata: {name: x}, spec: {image: a, source: {git: {url: "https://git.example.com/x", revision: main}}}}`, ""},
	{"dataservice", "dsvc", "NAME PHASE READY AGE", `{apiVersion: d3os-product.com.d3os/v1, kind: DataService, metadata: {name: x}, spec: {eureka: {image: a}}}`, ""},
	{"modelbox", "mb", "NAME READY IMAGE SERVICE TYPE AGE", `{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: x}, spec: {image: a}}`, "{.spec.replicas}"},
	{"myjob", "mj", "NAME PHASE RESULT EXIT CODE DURATION AGE", `{apiVersion: myjob.github.com/v1beta1, kind: MyJob, metadata: {name: x}, spec: {template: {spec: {containers: [{name: a, image: b}]}}}}`, ""},
	{"podbuggertool", "pbt", "", `{apiVersion: apps.jicki.cn/v1alpha1, kind: PodBuggerTool, metadata: {name: x}, spec: {image: a, selector: {matchLabels: {a: b}}}}`, ""},
	{"podset", "pset", "NAME READY UP-TO-DATE AGE", `{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: x}, spec: {size: 1}}`, "{.spec.size}"},
}

// TestAtTheTerminal runs common kubectl commands for each kind.
func TestAtTheTerminal(t *testing.T) {
	ns := "--namespace=" + namespace(t, "terminal")
	for _, test := range atTheTerminal {
		t.Run(test.kind, func(t *testing.T) {
			apply(t, test.manifest, ns)
			require.Contains(t, kubectl(t, "get", test.shortName, ns, "--output=name"), test.kind)
			header, _, _ := strings.Cut(kubectl(t, "get", test.kind, ns), "\n")
			if test.columns != "" {
				require.Equal(t, test.columns, strings.Join(strings.Fields(header), " "))
			}
			require.Contains(t, header, "AGE")

			for _, path := range []string{"", ".spec", ".status", ".status.conditions"} {
				text := kubectl(t, "explain", test.kind+path)
				require.NotContains(t, text, "<empty>", test.kind+path)
				require.Contains(t, text, "DESCRIPTION:")
			}
			// No controller has seen it yet: it must not be shown as ready.
			kubectl(t, "wait", "--for=condition=Ready=Unknown", test.kind+"/x", ns, "--timeout=10s")
			_, _, err := controlPlane.Kubectl("wait", "--for=condition=Ready", test.kind+"/x", ns, "--timeout=0s")
			require.Error(t, err)

			_, _, err = controlPlane.Kubectl("scale", test.kind+"/x", "--replicas=3", ns)
			if test.scale == "" {
				require.Error(t, err, "there is nothing to scale")
				return
			}
			require.NoError(t, err)
			require.Equal(t, "3", kubectl(t, "get", test.kind, "x", ns, "--output=jsonpath="+test.scale))
		})
	}
	// The category lists all kinds.
	all := kubectl(t, "get", "operetta", ns, "--output=name")
	require.Len(t, strings.Fields(all), len(atTheTerminal))
}

// TestEveryFieldIsExplained fails for a field of our types without a description. Those
// of embedded Kubernetes types are removed to keep the CRDs small.
func TestEveryFieldIsExplained(t *testing.T) {
	for _, test := range atTheTerminal {
		for _, part := range []string{".spec", ".status"} {
			text := kubectl(t, "explain", test.kind+part)
			_, fields, found := strings.Cut(text, "FIELDS:\n")
			require.True(t, found, text)
			for _, field := range strings.Split(strings.TrimSpace(fields), "\n\n") {
				lines := strings.Split(strings.TrimSpace(field), "\n")
				require.Greater(t, len(lines), 1, "%s%s has a field without a description: %s", test.kind, part, field)
				require.NotContains(t, field, "<no description>", test.kind+part)
			}
		}
	}
}
