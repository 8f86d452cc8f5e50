package podbuggertool_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
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
		request, err := corpus.Complete(controller, metacontroller.SyncHook, fmt.Appendf(nil,
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

// TestSelectorsAreShort: Metacontroller keeps the answer of customize for each
// generation of a tool for 20 to 30 minutes, so that who edits one again and again has
// it keep many.
func TestSelectorsAreShort(t *testing.T) {
	controller := podbuggertool.Controller()
	key := func(i int) string { return fmt.Sprintf(`"%02d%s"`, i, strings.Repeat("a", 13)) }
	selector := func(labels, requirements, values int) string {
		var all, required []string
		for i := range labels {
			all = append(all, key(i)+`:"v"`)
		}
		for i := range requirements {
			value := strings.TrimSuffix(strings.Repeat(`"",`, values/requirements), ",")
			required = append(required, `{"key":`+key(i)+`,"operator":"NotIn","values":[`+value+`]}`)
		}
		return `{"matchLabels":{` + strings.Join(all, ",") + `},"matchExpressions":[` + strings.Join(required, ",") + `]}`
	}
	call := func(hook metacontroller.HookName, selector string) (metacontroller.Answer, error) {
		request, err := corpus.Complete(controller, hook, fmt.Appendf(nil,
			`{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodBuggerTool","metadata":{"name":"toolbox"},"spec":{"image":"busybox","selector":%s}}`, selector))
		require.NoError(t, err)
		return controller.Call(hook, time.Unix(0, 0), request)
	}
	largest := selector(16, 16, 32)
	largest = strings.Replace(largest, `:"v"`, `:"`+strings.Repeat("v", 17)+`"`, 1)
	_, err := call(metacontroller.SyncHook, largest)
	require.NoError(t, err)
	answer, err := call(metacontroller.CustomizeHook, largest)
	require.NoError(t, err)
	require.Contains(t, string(answer.Body), `"matchExpressions"`)
	require.Less(t, len(answer.Body), 3<<10)
	for _, larger := range []string{selector(17, 1, 1), selector(1, 17, 17), selector(1, 1, 65), selector(16, 16, 48), strings.Replace(largest, `"vvv`, `"vvvv`, 1)} {
		_, err := call(metacontroller.SyncHook, larger)
		require.ErrorContains(t, err, "the API server would refuse this PodBuggerTool: spec.selector")
	}
}
