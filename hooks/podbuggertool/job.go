package podbuggertool

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

const (
	// kubectlUser is the user "nonroot" of distroless images. Every image can
	// run as it.
	kubectlUser = 65532
	// defaultMaxPods is maxPods if a request written by hand leaves it out.
	defaultMaxPods = 50
	// backoffLimit allows retries for little more than a minute, so that a
	// temporary error does not fail the Job.
	backoffLimit = 3
	// jobDeadline limits a Job, including the time until its Pod is scheduled
	// and has its image: otherwise it could stay pending for ever.
	jobDeadline = 10 * time.Minute
	// jobSlack is how late the Job controller may report that. After it, a Job
	// counts as failed in any case.
	jobSlack = time.Minute
	// jobPatience is the time after its creation when a Job is given up.
	jobPatience = jobDeadline + jobSlack
	// scratch is the only folder that kubectl may write to. It caches discovery
	// there.
	scratch = "/tmp"
	// maxJobBytes is the size from which on Metacontroller cannot apply a Job.
	maxJobBytes = metacontroller.MaxAppliedBytes
	// podAnnotation of a Job is the name of its Pod.
	podAnnotation = "operetta.dev/pod"
	// uidAnnotation is the UID of that Pod.
	uidAnnotation = "operetta.dev/pod-uid"
)

// jobNames returns a function that names the Job for each Pod, by its UID and by all that
// decides what the Job does: another recipe means another Job, so that a Job never changes. The
// recipe is hashed once, for a tool may match thousands of Pods. A name is short enough to be a
// label and, with five more characters, a Pod's name.
func jobNames(tool *PodBuggerTool) (func(pod *observedPod) string, error) {
	spec := tool.Spec
	spec.Selector, spec.MaxPods, spec.Profile = Selector{}, nil, profile(tool)
	recipe, err := operator.HashOf(spec)
	if err != nil {
		return nil, fmt.Errorf("naming the Jobs: %w", err)
	}
	return func(pod *observedPod) string {
		sum := sha256.Sum256([]byte(tool.Name + "/" + recipe + "/" + string(pod.UID)))
		const hash, most = 16, 57
		return operator.JoinName(most-hash-1, tool.Name) + "-" + hex.EncodeToString(sum[:hash/2])
	}, nil
}

// job returns the Job that adds the container to a Pod.
func (p Policy) job(tool *PodBuggerTool, pod *observedPod, name string) (*batchv1.Job, error) {
	custom, err := tool.Spec.customContainer()
	if err != nil {
		return nil, err
	}
	labels := childLabels(tool, "injector")
	labels[toolLabel] = tool.Name
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: tool.Namespace, Labels: labels,
			Annotations: map[string]string{podAnnotation: pod.Name, uidAnnotation: string(pod.UID)},
		},
		Spec: batchv1.JobSpec{
			BackoffLimit:          new(int32(backoffLimit)),
			ActiveDeadlineSeconds: new(int64(jobDeadline / time.Second)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(labels)},
				Spec:       p.podSpec(tool, pod),
			},
		},
	}
	if custom != "" {
		mountCustom(&job.Spec.Template, custom)
	}
	return job, nil
}

// podSpec returns the Pod of a Job. Its Pods fail rather than restart, so that
// failed ones can still show why.
func (p Policy) podSpec(tool *PodBuggerTool, pod *observedPod) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		ServiceAccountName:           accessName(tool),
		AutomountServiceAccountToken: new(true),
		EnableServiceLinks:           new(false),
		NodeSelector:                 map[string]string{corev1.LabelOSStable: "linux"},
		SecurityContext:              operator.SecurityContext(&corev1.PodSecurityContext{RunAsNonRoot: new(true)}),
		Containers: []corev1.Container{{
			Name:    "kubectl",
			Image:   cmp.Or(tool.Spec.KubectlImage, p.KubectlImage),
			Command: []string{"kubectl"},
			Args:    arguments(tool, pod.Name),
			Env:     []corev1.EnvVar{{Name: "HOME", Value: scratch}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi"),
				},
				Limits: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
				},
			},
			VolumeMounts:    []corev1.VolumeMount{{Name: "scratch", MountPath: scratch}},
			SecurityContext: operator.Restricted(kubectlUser),
			// The status shows the last output of kubectl.
			TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		}},
		Volumes: []corev1.Volume{{
			Name: "scratch",
			VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
				SizeLimit: new(resource.MustParse("16Mi")),
			}},
		}},
	}
}

// profile returns the profile with its default filled in.
func profile(tool *PodBuggerTool) string { return cmp.Or(tool.Spec.Profile, "general") }
