package podbuggertool

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

const (
	// kubectlImage is the image of the Jobs where a tool names no other. It is
	// the one place that pins it. Its entrypoint is kubectl, and it has no user
	// and no shell.
	kubectlImage = "registry.k8s.io/kubectl:v1.36.3"
	// kubectlUser is the user without rights of the images that are made from
	// distroless ones. Every image can run as it.
	kubectlUser = 65532
	// defaultMaxPods is maxPods where a request written by hand leaves it out.
	defaultMaxPods = 50
	// backoffLimit is how many more times a Job tries: for little more than a
	// minute, so that what is wrong for a moment does not fail it.
	backoffLimit = 3
	// jobDeadline is how long a Job may take, with the time until its Pod has a
	// node and its image: one that takes longer fails, rather than being pending
	// for ever.
	jobDeadline = 10 * time.Minute
	// jobSlack is what the Job controller gets to say so. Behind it, a Job counts
	// as failed whatever it says.
	jobSlack = time.Minute
	// jobPatience is the time after its creation when a Job is given up.
	jobPatience = jobDeadline + jobSlack
	// scratch is the only folder that kubectl may write to. It keeps there what
	// it has learned of the API server.
	scratch = "/tmp"
	// largeRecipe is the size from which a digest of the recipe names the Jobs.
	largeRecipe = 4 << 10
	// maxJobBytes is the size from which Metacontroller cannot apply a Job.
	maxJobBytes = metacontroller.MaxAppliedBytes
	// podAnnotation tells on a Job which Pod it is for.
	podAnnotation = "operetta.dev/pod"
	// uidAnnotation tells its UID.
	uidAnnotation = "operetta.dev/pod-uid"
)

// recipe is what decides what a Job does. Another one is another Job, so that
// neither its fields nor their names ever change. What has a default counts as
// the tool says it: a new default is no reason to try again.
type recipe struct {
	Tool    string    `json:"tool"`
	UID     types.UID `json:"uid"`
	Image   string    `json:"image"`
	Kubectl string    `json:"kubectl,omitempty"`
	Command []string  `json:"command,omitempty"`
	Args    []string  `json:"args,omitempty"`
	Env     []EnvVar  `json:"env,omitempty"`
	Target  string    `json:"target,omitempty"`
	Profile string    `json:"profile"`
}

// jobNames returns what names the Job for each Pod. A name has room for what
// Kubernetes makes of it: a label and, with five characters more, a Pod's name.
//
// The recipe is written once, and one that is large is read once: a tool may
// match thousands of Pods, of which nothing but their UIDs differs.
func jobNames(tool *PodBuggerTool) (func(pod *observedPod) string, error) {
	spec := &tool.Spec
	text, err := json.Marshal(recipe{
		tool.Name, "", spec.Image, spec.KubectlImage, spec.Command, spec.Args, spec.Env,
		spec.TargetContainer, profile(tool),
	})
	if err != nil {
		return nil, fmt.Errorf("naming the Jobs: %w", err)
	}
	before, after, _ := bytes.Cut(text, []byte(`"uid":""`)) // behind the tool's name, in which quotes are escaped
	if len(after) > largeRecipe {
		digest := sha256.Sum256(after)
		after = digest[:]
	}
	return func(pod *observedPod) string {
		uid, _ := json.Marshal(pod.UID) // a string cannot fail
		sum := sha256.New()
		for _, part := range [][]byte{before, []byte(`"uid":`), uid, after} {
			_, _ = sum.Write(part) // a hash cannot fail
		}
		const hash, most = 16, 57
		return operator.JoinName(most-hash-1, tool.Name) + "-" + hex.EncodeToString(sum.Sum(nil)[:hash/2])
	}, nil
}

// job returns the Job that adds the container to a Pod.
func job(tool *PodBuggerTool, pod *observedPod, name string) *batchv1.Job {
	labels := childLabels(tool, "injector")
	labels[toolLabel] = tool.Name
	return &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: metacontroller.Job.APIVersion, Kind: metacontroller.Job.Kind},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: tool.Namespace, Labels: labels,
			Annotations: map[string]string{podAnnotation: pod.Name, uidAnnotation: string(pod.UID)},
		},
		Spec: batchv1.JobSpec{
			BackoffLimit:          new(int32(backoffLimit)),
			ActiveDeadlineSeconds: new(int64(jobDeadline / time.Second)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(labels)},
				Spec:       podSpec(tool, pod),
			},
		},
	}
}

// podSpec returns what the Job runs. Its Pods fail rather than restart, so that
// the failed ones can still tell why.
func podSpec(tool *PodBuggerTool, pod *observedPod) corev1.PodSpec {
	return corev1.PodSpec{
		RestartPolicy:                corev1.RestartPolicyNever,
		ServiceAccountName:           accessName(tool),
		AutomountServiceAccountToken: new(true),
		EnableServiceLinks:           new(false),
		NodeSelector:                 map[string]string{corev1.LabelOSStable: "linux"},
		SecurityContext:              operator.SecurityContext(&corev1.PodSecurityContext{RunAsNonRoot: new(true)}),
		Containers: []corev1.Container{{
			Name:    "kubectl",
			Image:   cmp.Or(tool.Spec.KubectlImage, kubectlImage),
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
			// What kubectl says last is what the tool's status tells.
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
