package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// installCRDs installs the CRDs of deploy/ with kubectl, as users do. Every CRD must
// fit into the last-applied annotation of a client-side apply, and each of its rules
// must compile and stay within the API server's cost budget.
func installCRDs() error {
	paths, err := filepath.Glob("../deploy/crds/*.yaml")
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("no CRDs below ../deploy/crds: %w", errors.Join(err, os.ErrNotExist))
	}
	for _, path := range paths {
		if filepath.Base(path) == "kustomization.yaml" {
			continue
		}
		if _, _, err := controlPlane.Kubectl("apply", "--filename="+path); err != nil {
			return err
		}
	}
	return established()
}

// established waits until every CRD is served. One that was created a moment
// ago has no conditions yet, which kubectl wait takes for an error.
func established() error {
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if _, _, err = controlPlane.Kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", "--all"); err == nil {
			return nil
		}
	}
	return err
}

func TestCRDsApplyTwice(t *testing.T) {
	output := kubectl(t, "apply", "--kustomize=../deploy/crds")
	for line := range strings.Lines(output) {
		require.Contains(t, line, "unchanged")
	}
}

// TestSlowQuantitiesAreRefusedAtOnce: the API server evaluates the rules even if the
// pattern does not match, and parsing such a quantity would take minutes.
func TestSlowQuantitiesAreRefusedAtOnce(t *testing.T) {
	resources := `resources: {requests: {cpu: 1234567890123456789012e150000000}, limits: {cpu: 1234567890123456789012e150000000}}`
	for kind, spec := range map[string]string{
		"model.github.com/v1, kind: ModelBox":         `{image: nginx, resourceClass: custom, ` + resources + `, sidecars: [{name: a, image: a, ` + resources + `}]}`,
		"myjob.github.com/v1beta1, kind: MyJob":       `{template: {spec: {containers: [{name: a, image: a, ` + resources + `}]}}}`,
		"apps.jicki.cn/v1alpha1, kind: PodSet":        `{template: {spec: {containers: [{name: a, image: a, ` + resources + `}]}}}`,
		"ci.zt.vapi.cc/v1, kind: Build":               `{` + resources + `}`,
		"d3os-product.com.d3os/v1, kind: DataService": `{mysql: {` + resources + `}}`,
	} {
		begun := time.Now()
		_, stderr, err := controlPlane.KubectlWithInput(fmt.Sprintf("{apiVersion: %s, metadata: {name: slow}, spec: %s}", kind, spec),
			"apply", "--dry-run=server", "--validate=false", "--filename=-")
		require.Error(t, err)
		require.Contains(t, stderr, "should match", "%s", kind)
		require.Less(t, time.Since(begun), 10*time.Second, "%s", kind)
	}
}

func TestExplainTellsOurFields(t *testing.T) {
	output := kubectl(t, "explain", "modelbox.spec.rollingUpdate")
	require.Contains(t, strings.Join(strings.Fields(output), " "), "that an update may take away, and may add, at a time")
	require.Contains(t, kubectl(t, "explain", "modelbox.spec.sidecars.image"), "FIELD: image")
}

func TestModelBoxAtTheTerminal(t *testing.T) {
	ns := "--namespace=" + namespace(t, "terminal")
	apply(t, `{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: nginx, replicas: 2, ports: [{port: 80}]}}`, ns)
	require.Regexp(t, regexp.MustCompile(`(?s)NAME +READY +IMAGE +SERVICE TYPE +AGE\nweb +nginx +\d+s`), kubectl(t, "get", "mb", ns))
	require.Contains(t, kubectl(t, "get", "operetta", ns), "web")

	conditions := kubectl(t, "get", "modelbox/web", ns, `--output=jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
	require.Equal(t, "Unknown", conditions, "what no hook has seen must not be taken for current")

	kubectl(t, "scale", "modelbox/web", "--replicas=5", ns)
	require.Equal(t, "5", kubectl(t, "get", "modelbox/web", ns, "--output=jsonpath={.spec.replicas}"))
	require.Equal(t, "25%", kubectl(t, "get", "modelbox/web", ns, "--output=jsonpath={.spec.rollingUpdate}"), "a default")
}
