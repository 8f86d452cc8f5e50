package podset

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// TestEscapedTemplatesCountAsTheyAreWritten: Metacontroller writes "<" as six bytes,
// and a PodSet whose requests are too large could not be made smaller any more.
func TestEscapedTemplatesCountAsTheyAreWritten(t *testing.T) {
	perPod := func(text string) int {
		set := &PodSet{Spec: Spec{Template: &corev1.PodTemplateSpec{}}}
		set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "nginx", Args: []string{strings.Repeat(text, 40_000)}}}
		bounds, err := boundsOf(DefaultPolicy().podTemplate(set, "hash"))
		require.NoError(t, err)
		return bounds.perPod
	}
	for _, escaped := range []string{"<", ">", "&"} {
		require.Greater(t, perPod(escaped), 5*perPod("x"), escaped)
	}
}

// TestABatchOfOneThatDoesNotAppear has the lowest number for ten minutes, and one from the end for
// ten others: the first name may be taken. The numbers that were asked for stand before the
// others, and a batch that moved with them would have another message each time.
func TestABatchOfOneThatDoesNotAppear(t *testing.T) {
	var pending, asked []int
	for minute := range 60 {
		now := time.Unix(int64(minute)*60+1, 0)
		numbers := slices.Clone(pending)
		for _, number := range []int{3, 4, 9} {
			if !slices.Contains(pending, number) {
				numbers = append(numbers, number)
			}
		}
		require.Equal(t, numbers[:1], batchFrom(numbers, 1, false, now))
		pending = batchFrom(numbers, 1, true, now)
		asked = append(asked, pending...)
	}
	var want []int
	for _, number := range []int{3, 9, 3, 4, 3, 3} {
		want = append(want, slices.Repeat([]int{number}, 10)...)
	}
	require.Equal(t, want, asked)
}
