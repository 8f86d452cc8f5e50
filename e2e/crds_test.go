package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// installCRDs installs the CRDs of deploy/ with kubectl, as users do. Every CRD must
// fit into the last-applied annotation of a client-side apply, and each of its rules
// must compile and stay within the API server's cost budget.
func installCRDs() error {
	paths, err := crdFiles()
	if err != nil {
		return err
	}
	for _, path := range paths {
		if _, _, err := controlPlane.Kubectl("apply", "--filename="+path); err != nil {
			return err
		}
	}
	return established()
}

// crdFiles lists the CRDs of deploy/, one of each kind.
func crdFiles() ([]string, error) {
	paths, err := filepath.Glob("../deploy/crds/*.yaml")
	paths = slices.DeleteFunc(paths, func(path string) bool { return filepath.Base(path) == "kustomization.yaml" })
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no CRDs below ../deploy/crds: %w", errors.Join(err, os.ErrNotExist))
	}
	return paths, nil
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

// TestExamplesAreAccepted: those of examples/, which nothing else here installs.
func TestExamplesAreAccepted(t *testing.T) {
	t.Cleanup(func() { kubectl(t, "delete", "--kustomize=../examples/deploy/crds") })
	kubectl(t, "apply", "--kustomize=../examples/deploy/crds")
	require.NoError(t, established())
	output := kubectl(t, "apply", "--filename=../examples/deploy/samples")
	require.Equal(t, 3, strings.Count(output, " created"), output)
	for _, change := range []string{
		"bluegreendeployments.ctl.enisoc.com/nginx --patch={\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"other\"}}}}",
		"catsets.ctl.enisoc.com/nginx-backend --patch={\"spec\":{\"serviceName\":\"other\"}}",
		"indexedjobs.ctl.enisoc.com/print-index --patch={\"spec\":{\"template\":{\"spec\":{\"restartPolicy\":\"Always\"}}}}",
	} {
		_, _, err := controlPlane.Kubectl(append([]string{"patch", "--type=merge"}, strings.Fields(change)...)...)
		require.ErrorContains(t, err, "is invalid: spec.", change)
	}
}
