package cluster

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// RunDebugJob does what the Pod of a PodBuggerTool's Job does, with its permissions, and then what the
// kubelet does: it starts the container.
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
	if stdout, stderr, err = c.KubectlWithInput(stdin, args...); err != nil {
		return stdout, stderr, err
	}
	if err := c.startEphemeral(namespace, job.Annotations["operetta.dev/pod"]); err != nil {
		return stdout, stderr, fmt.Errorf("start the container: %w", err)
	}
	return stdout, stderr, nil
}

// startEphemeral sets the status of a Pod's ephemeral containers to running.
func (c *Cluster) startEphemeral(namespace, pod string) error {
	names, _, err := c.Kubectl("get", "pod", pod, "--namespace="+namespace, "--output=jsonpath={range .spec.ephemeralContainers[*]}{.name} {.image}{\"\\n\"}{end}")
	if err != nil {
		return err
	}
	var statuses []corev1.ContainerStatus
	for line := range strings.Lines(names) {
		name, image, _ := strings.Cut(strings.TrimSpace(line), " ")
		running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
		statuses = append(statuses, corev1.ContainerStatus{Name: name, Image: image, State: running})
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"ephemeralContainerStatuses": statuses}})
	if err != nil {
		return fmt.Errorf("encode the status: %w", err)
	}
	_, _, err = c.Kubectl("patch", "pod", pod, "--namespace="+namespace, "--subresource=status", "--type=merge", "--patch="+string(patch))
	return err
}
