package build

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

const (
	workspaceVolume   = "workspace"
	workspacePath     = "/workspace"
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

func jobName(build *Build, hash string) string {
	return operator.JoinName(operator.MaxLabel, build.Name, hash)
}

// job returns the Job that runs the build.
func (p Policy) job(build *Build, hash string) *batchv1.Job {
	jobLabels := operator.App{Name: build.Name, Instance: build.Name, Component: "build", PartOf: "build"}.Labels()
	jobLabels[buildLabel] = build.Name
	jobLabels[hashLabel] = hash
	annotations := map[string]string{revisionAnnotation: build.Spec.Source.Git.revision()}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: jobName(build, hash), Namespace: build.Namespace, Labels: jobLabels, Annotations: annotations,
		},
		Spec: batchv1.JobSpec{
			BackoffLimit:          new(backoffLimit(build)),
			ActiveDeadlineSeconds: build.Spec.TimeoutSeconds,
			// A retry starts when the previous Pod is gone: two must not build
			// at once.
			PodReplacementPolicy: new(batchv1.Failed),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(jobLabels), Annotations: podAnnotations(build)},
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

// podAnnotations are those of the Pod. kubectl logs shows the last step, although that is an
// init container where there are results.
func podAnnotations(build *Build) map[string]string {
	annotations := map[string]string{revisionAnnotation: build.Spec.Source.Git.revision()}
	if all := steps(&build.Spec); len(build.Spec.Results) > 0 {
		annotations["kubectl.kubernetes.io/default-container"] = containerName(&build.Spec, all[len(all)-1].Name)
	}
	return annotations
}

// podSpec returns the Pod: its init containers run one after the other, and its
// one container is the last step, or what hands on the results.
func (p Policy) podSpec(build *Build) corev1.PodSpec {
	spec := &build.Spec
	containers := []corev1.Container{p.clone(build)}
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
	all := []corev1.Volume{emptyDir(workspaceVolume), emptyDir(cloneTmpVolume)}
	if needsTools(spec) {
		all = append(all, emptyDir(toolsVolume))
	}
	if secret := spec.Source.Git.SecretRef; secret != nil {
		all = append(all, corev1.Volume{Name: ownVolume(spec, credentialsVolume), VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: secret.Name, DefaultMode: new(int32(0o440))},
		}})
	}
	return append(all, spec.Volumes...)
}
