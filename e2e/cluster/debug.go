package cluster

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// RunDebugJob does what the Pod of a PodBuggerTool's Job does, with its permissions.
func (c *Cluster) RunDebugJob(namespace string, object map[string]any) (stdout, stderr string, err error) {
	var job batchv1.Job
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &job); err != nil {
		return "", "", err
	}
	pod, stdin := job.Spec.Template, ""
	args := append([]string{"--as=system:serviceaccount:" + namespace + ":" + pod.Spec.ServiceAccountName}, pod.Spec.Containers[0].Args...)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "$$", "$") // as the kubelet does
	}
	for _, volume := range pod.Spec.Volumes { // the kubelet makes a file of the annotation
		if volume.DownwardAPI != nil {
			item := volume.DownwardAPI.Items[0]
			key := strings.TrimSuffix(strings.TrimPrefix(item.FieldRef.FieldPath, "metadata.annotations['"), "']")
			stdin = pod.Annotations[key]
			args[slices.Index(args, "--custom="+pod.Spec.Containers[0].VolumeMounts[1].MountPath+"/"+item.Path)] = "--custom=/dev/stdin"
		}
	}
	return c.KubectlWithInput(stdin, args...)
}
