package podset

import (
	"strings"
	"testing"

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
