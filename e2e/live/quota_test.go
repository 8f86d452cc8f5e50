package live

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDocumentedQuota applies the quota that the page on security shows: it bounds
// how many custom resources a namespace has.
func TestDocumentedQuota(t *testing.T) {
	w := newWorld(t, modes[0], operetta.HookURL)
	_, shown, found := strings.Cut(read(t, root+"/docs/security.md"), "<!-- quota:begin -->\n```yaml\n")
	require.True(t, found)
	shown, _, _ = strings.Cut(shown, "```")
	w.kubectlWithInput(shown, "apply", "--filename=-")
	create := func(i int) error {
		_, stderr, err := operetta.KubectlWithInput(fmt.Sprintf(
			`{apiVersion: apps.jicki.cn/v1alpha1, kind: PodBuggerTool, metadata: {name: tool-%d}, spec: {image: busybox, selector: {matchLabels: {a: b}}}}`, i),
			"create", "--namespace="+w.ns, "--filename=-")
		if err != nil {
			return errors.New(stderr)
		}
		return nil
	}
	for i := range 2 {
		w.eventually("a PodBuggerTool within the quota is created", func() error { return create(i) })
	}
	require.ErrorContains(t, create(2), "exceeded quota: operetta")
}
