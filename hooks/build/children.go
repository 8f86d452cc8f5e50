package build

import (
	"cmp"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

const (
	workspaceVolume   = "workspace"
	defaultWorkspace  = "/workspace"
	cloneTmpVolume    = "clone-tmp"
	credentialsVolume = "git-credentials"
	credentialsPath   = "/credentials"
	// toolsVolume has the scripts that name their interpreter, and results.
	toolsVolume = "operetta"
	toolsPath   = "/operetta"
	scriptsPath = toolsPath + "/scripts"
)

// ownVolume returns the name of a volume that the hook adds, which is not that of one of
// the user's.
func ownVolume(spec *Spec, name string) string {
	for slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == name }) {
		name = "build-" + name
	}
	return name
}

// workspacePath returns where the containers find the repository.
func workspacePath(spec *Spec) string { return cmp.Or(spec.WorkspacePath, defaultWorkspace) }

func jobName(build *Build, hash string) string {
	return operator.JoinName(operator.MaxLabel, build.Name, hash)
}

// job returns the Job that runs the build.
func (p Policy) job(build *Build, hash string) *batchv1.Job {
	jobLabels := operator.App{Name: build.Name, Instance: build.Name, Component: "build", PartOf: "build"}.Labels()
	jobLabels[buildLabel] = build.Name
	jobLabels[hashLabel] = hash
	annotations := map[string]string{}
	if revision := build.Spec.revision(); revision != "" {
		annotations[revisionAnnotation] = revision
	}
	return &batchv1.Job{
		ObjectMeta: build.Spec.JobMetadata.with(metav1.ObjectMeta{
			Name: jobName(build, hash), Namespace: build.Namespace, Labels: jobLabels, Annotations: annotations,
		}),
		Spec: batchv1.JobSpec{
			BackoffLimit:          new(backoffLimit(build)),
			ActiveDeadlineSeconds: build.Spec.TimeoutSeconds,
			// A retry starts when the previous Pod is gone: two must not build
			// at once.
			PodReplacementPolicy: new(batchv1.Failed),
			PodFailurePolicy:     podFailurePolicy(&build.Spec),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: build.Spec.PodMetadata.with(metav1.ObjectMeta{Labels: jobLabels, Annotations: podAnnotations(&build.Spec, annotations)}),
				Spec:       p.podSpec(build),
			},
		},
	}
}

func backoffLimit(build *Build) int32 {
	if build.Spec.BackoffLimit == nil {
		return 0
	}
	return *build.Spec.BackoffLimit
}

// podFailurePolicy does not count a Pod that was disrupted, where such a build shall be tried again.
func podFailurePolicy(spec *Spec) *batchv1.PodFailurePolicy {
	if !spec.RetryDisruptions {
		return nil
	}
	disrupted := batchv1.PodFailurePolicyOnPodConditionsPattern{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
		{Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{disrupted}},
	}}
}

// podAnnotations are those of the Pod. kubectl logs shows the last step, although that is an
// init container where there are results.
func podAnnotations(spec *Spec, job map[string]string) map[string]string {
	annotations := maps.Clone(job)
	if all := steps(spec); len(spec.Results) > 0 {
		annotations["kubectl.kubernetes.io/default-container"] = containerName(spec, all[len(all)-1].Name)
	}
	return annotations
}

// with returns the metadata of an object with these labels and annotations. Those that the hook reads are
// reserved.
func (m *Metadata) with(object metav1.ObjectMeta) metav1.ObjectMeta {
	object.Labels = maps.Clone(object.Labels)
	if m != nil {
		for key, value := range m.Labels {
			object.Labels[key] = string(value)
		}
		maps.Copy(object.Annotations, m.Annotations)
	}
	return object
}

// podSpec returns the Pod: its init containers run one after the other, and its
// one container is the last step, or what hands on the results.
func (p Policy) podSpec(build *Build) corev1.PodSpec {
	spec := &build.Spec
	containers := append(p.begin(spec), sidecarContainers(build)...)
	for _, step := range steps(spec) {
		containers = append(containers, container(build, step))
	}
	if len(spec.Results) > 0 {
		containers = append(containers, p.results(spec))
	}
	last := len(containers) - 1
	pod := corev1.PodSpec{
		RestartPolicy:      corev1.RestartPolicyNever,
		InitContainers:     containers[:last],
		Containers:         containers[last:],
		Volumes:            volumes(spec),
		SecurityContext:    securityContext(spec),
		ServiceAccountName: spec.ServiceAccountName,
		ImagePullSecrets:   spec.ImagePullSecrets,
		NodeSelector:       spec.NodeSelector,
		Tolerations:        spec.Tolerations,
		Affinity:           spec.Affinity,
		PriorityClassName:  spec.PriorityClassName,
		RuntimeClassName:   spec.RuntimeClassName,
		DNSPolicy:          spec.DNSPolicy,
		DNSConfig:          spec.DNSConfig,
		HostAliases:        spec.HostAliases,
	}
	if spec.ServiceAccountName == "" {
		pod.AutomountServiceAccountToken = new(false)
	}
	return pod
}

// securityContext lets builders of any user share what the clone has written.
func securityContext(spec *Spec) *corev1.PodSecurityContext {
	context := operator.SecurityContext(spec.PodSecurityContext)
	if context.FSGroup == nil {
		context.FSGroup = new(int64(nobodyUser))
	}
	return context
}

func volumes(spec *Spec) []corev1.Volume {
	emptyDir := func(name string) corev1.Volume {
		return corev1.Volume{Name: ownVolume(spec, name), VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	}
	git, all := spec.git(), []corev1.Volume{emptyDir(workspaceVolume)}
	if git != nil {
		all = append(all, emptyDir(cloneTmpVolume))
	}
	if needsTools(spec) {
		all = append(all, emptyDir(toolsVolume))
	}
	if git != nil && git.SecretRef != nil {
		all = append(all, corev1.Volume{Name: ownVolume(spec, credentialsVolume), VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: git.SecretRef.Name, DefaultMode: new(int32(0o440))},
		}})
	}
	return append(all, spec.Volumes...)
}
