package podbuggertool

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// fakeCluster is a cluster in which all is refused.
type fakeCluster struct {
	pod       string
	container corev1.EphemeralContainer
}

func (c *fakeCluster) AddEphemeralContainer(namespace, pod string, container corev1.EphemeralContainer) error {
	c.pod, c.container = namespace+"/"+pod, container
	return errors.New("refused")
}

func TestKubectlDebugAddsAContainer(t *testing.T) {
	for _, c := range []struct {
		name          string
		command, args []string
		pod           string // nothing is done where it is empty
		want          corev1.EphemeralContainer
	}{
		{
			"a command of its own", []string{"kubectl"},
			[]string{"debug", "web", "--namespace=other", "--image=tools:1", "--container=a", "--profile=general", "--target=main", "--env=A=b", "--", "sh", "-c", "echo $$HOME"},
			"other/web",
			corev1.EphemeralContainer{
				EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "a", Image: "tools:1", Command: []string{"sh", "-c", "echo $HOME"}},
				TargetContainerName:      "main",
			},
		},
		{
			"the image's entrypoint, and arguments only", nil,
			[]string{"debug", "pod/web", "--image=tools:2", "--container=b", "--arguments-only", "--", "--help"},
			"default/web",
			corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "b", Image: "tools:2", Args: []string{"--help"}}},
		},
		{"another command of kubectl", []string{"kubectl"}, []string{"get", "pods", "debug"}, "", corev1.EphemeralContainer{}},
		{"another program", []string{"sh"}, []string{"-c", "kubectl debug web"}, "", corev1.EphemeralContainer{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var cluster fakeCluster
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Command: c.command, Args: c.args}}}}
			pod.Namespace = "default"
			err := kubectlDebug(&cluster, pod)
			require.Equal(t, c.pod, cluster.pod)
			require.Equal(t, c.want, cluster.container)
			if c.pod == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, "refused")
			}
		})
	}
}
