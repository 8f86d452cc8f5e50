package podbuggertool_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// TestSchemaAdmitsTheLabelsOfKubernetes tries keys and values of labels at the
// edge of what Kubernetes has: the schema refuses what a selector cannot be made
// of, with words that say what to write, and nothing else.
func TestSchemaAdmitsTheLabelsOfKubernetes(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	texts := []string{
		"", "a", "A", "0", "a.b_c-d", "héllo", "-a", "a-", ".a", "a.", "_a", "a b", "a\n", "a\x00", long(63), long(64),
		"/a", "a/", "a/b", "a/b/c", "A/b", "a.b/C", "a..b/c", "a_b/c", "-a/b", "a-/b", "a/-b", "a/é", "a.b-c.d/e_f",
		strings.Repeat("a.", 126) + "a/b", strings.Repeat("a.", 126) + "aa/b", strings.Repeat("a.", 126) + "a/" + long(63), strings.Repeat("a.", 126) + "a/" + long(64),
	}
	controller := podbuggertool.Controller()
	ask := func(selector string) error {
		request, err := operettatest.Complete(controller, metacontroller.SyncHook, fmt.Appendf(nil,
			`{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodBuggerTool","metadata":{"name":"toolbox"},"spec":{"image":"busybox","selector":%s}}`, selector))
		require.NoError(t, err)
		_, err = controller.Call(metacontroller.SyncHook, time.Unix(0, 0), request)
		return err
	}
	for _, text := range texts {
		quoted := strings.ReplaceAll(fmt.Sprintf("%q", text), `\x00`, `\u0000`)
		for selector, problems := range map[string][]string{
			`{"matchLabels":{"a":` + quoted + `}}`:                                         validation.IsValidLabelValue(text),
			`{"matchExpressions":[{"key":"a","operator":"In","values":[` + quoted + `]}]}`: validation.IsValidLabelValue(text),
			`{"matchLabels":{` + quoted + `:"a"}}`:                                         validation.IsQualifiedName(text),
			`{"matchExpressions":[{"key":` + quoted + `,"operator":"Exists"}]}`:            validation.IsQualifiedName(text),
		} {
			err := ask(selector)
			if len(problems) == 0 {
				require.NoError(t, err, selector)
				continue
			}
			require.ErrorContains(t, err, "the API server would refuse this PodBuggerTool: spec.selector", selector)
			require.True(t, metacontroller.IsRequestError(err))
		}
	}
}
