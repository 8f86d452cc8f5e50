package build

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"path"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

const (
	// cloneStep is the container that clones.
	cloneStep = "clone"
	// nobodyUser is in the image's passwd file: OpenSSH refuses to run as any
	// other user.
	nobodyUser = 65534
)

// mainStep is the name of the container of a build that has one step.
const mainStep = "build"

const (
	workspaceVolume   = "workspace"
	workspacePath     = "/workspace"
	cloneTmpVolume    = "clone-tmp"
	credentialsVolume = "git-credentials"
	credentialsPath   = "/credentials"
)

//go:embed clone.sh
var cloneScript string

// hashLength is that of the hash in a Job's name, in hexadecimal digits.
const hashLength = 10

// hashOf returns the hash of everything that changes what is built. It covers
// only what the user wrote: a release of this operator that creates Jobs
// differently is no reason to build again.
func hashOf(build *Build) (string, error) {
	spec := &build.Spec
	type work struct {
		Name         string                 `json:"name,omitempty"`
		Image        string                 `json:"image,omitempty"`
		Command      []string               `json:"command,omitempty"`
		Args         []string               `json:"args,omitempty"`
		Script       string                 `json:"script,omitempty"`
		Env          []corev1.EnvVar        `json:"env,omitempty"`
		EnvFrom      []corev1.EnvFromSource `json:"envFrom,omitempty"`
		VolumeMounts []corev1.VolumeMount   `json:"volumeMounts,omitempty"`
	}
	hashed := struct {
		URL      string          `json:"url"`
		Revision string          `json:"revision"`
		SubPath  string          `json:"subPath,omitempty"`
		Steps    []work          `json:"steps"`
		Volumes  []corev1.Volume `json:"volumes,omitempty"`
		RunID    string          `json:"runId,omitempty"`
	}{
		URL: spec.Source.Git.URL, Revision: spec.Source.Git.Revision, SubPath: spec.Source.Git.SubPath,
		Volumes: spec.Volumes, RunID: spec.RunID,
	}
	for _, step := range steps(spec) {
		hashed.Steps = append(hashed.Steps, work{
			step.Name, step.Image, step.Command, step.Args, step.Script, step.Env, step.EnvFrom, step.VolumeMounts,
		})
	}
	hash, err := operator.HashOf(hashed)
	if err != nil {
		return "", fmt.Errorf("the spec: %w", err)
	}
	return hash[:hashLength], nil
}

// steps returns the steps; a build without steps has one.
func steps(spec *Spec) []Step {
	if len(spec.Steps) > 0 {
		return spec.Steps
	}
	return []Step{{Name: mainStep, Work: spec.Work}}
}

func jobName(build *Build, hash string) string {
	return operator.JoinName(operator.MaxLabel, build.Name, hash)
}

// job returns the Job that runs the build.
func (p Policy) job(build *Build, hash string) *batchv1.Job {
	jobLabels := operator.App{Name: build.Name, Instance: build.Name, Component: "build", PartOf: "build"}.Labels()
	jobLabels[buildLabel] = build.Name
	jobLabels[hashLabel] = hash
	annotations := map[string]string{revisionAnnotation: build.Spec.Source.Git.Revision}
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
				ObjectMeta: metav1.ObjectMeta{Labels: maps.Clone(jobLabels), Annotations: annotations},
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

// podSpec returns the Pod: its init containers run one after the other, and its
// one container is the last step.
func (p Policy) podSpec(build *Build) corev1.PodSpec {
	spec := &build.Spec
	containers := []corev1.Container{p.clone(build)}
	for _, step := range steps(spec) {
		containers = append(containers, container(build, step))
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
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	}
	all := []corev1.Volume{emptyDir(workspaceVolume), emptyDir(cloneTmpVolume)}
	if secret := spec.Source.Git.SecretRef; secret != nil {
		all = append(all, corev1.Volume{Name: credentialsVolume, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: secret.Name, DefaultMode: new(int32(0o440))},
		}})
	}
	return append(all, spec.Volumes...)
}

// clone returns the container that fetches the code, the only one with the
// credentials.
func (p Policy) clone(build *Build) corev1.Container {
	git := &build.Spec.Source.Git
	mounts := []corev1.VolumeMount{
		{Name: workspaceVolume, MountPath: workspacePath},
		{Name: cloneTmpVolume, MountPath: "/tmp"},
	}
	if git.SecretRef != nil {
		mounts = append(mounts, corev1.VolumeMount{Name: credentialsVolume, MountPath: credentialsPath, ReadOnly: true})
	}
	return corev1.Container{
		Name:    cloneStep,
		Image:   cmp.Or(git.Image, p.CloneImage),
		Command: []string{"/bin/sh", "-c", operator.Literal(cloneScript)},
		Env: []corev1.EnvVar{
			{Name: "REPOSITORY", Value: operator.Literal(git.URL)},
			{Name: "REVISION", Value: operator.Literal(git.Revision)},
			{Name: "SUB_PATH", Value: operator.Literal(git.SubPath)},
			{Name: "WORKSPACE", Value: workspacePath},
			{Name: "CREDENTIALS", Value: credentialsPath},
			{Name: "HOME", Value: "/tmp"},
		},
		WorkingDir:   "/tmp",
		VolumeMounts: mounts,
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
			},
			Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		},
		SecurityContext: operator.Restricted(nobodyUser),
	}
}

// container returns the container of a step.
func container(build *Build, step Step) corev1.Container {
	made := corev1.Container{
		Name:            step.Name,
		Image:           step.Image,
		Command:         step.Command,
		Args:            step.Args,
		Env:             append(trustWorkspace(step.Env), step.Env...),
		EnvFrom:         step.EnvFrom,
		WorkingDir:      path.Join(workspacePath, build.Spec.Source.Git.SubPath),
		VolumeMounts:    append([]corev1.VolumeMount{{Name: workspaceVolume, MountPath: workspacePath}}, step.VolumeMounts...),
		SecurityContext: step.SecurityContext,
	}
	if step.Script != "" {
		made.Command, made.Args = []string{"/bin/sh", "-ec"}, []string{operator.Literal(step.Script)}
	}
	if step.Resources != nil {
		made.Resources = *step.Resources
	}
	return made
}

// trustWorkspace makes Git accept a repository that another user has cloned:
// builders of Go and Rust, among others, read the revision from it. Users' own
// Git configuration in these variables is kept.
func trustWorkspace(env []corev1.EnvVar) []corev1.EnvVar {
	for _, variable := range env {
		if variable.Name == "GIT_CONFIG_COUNT" {
			return nil
		}
	}
	return []corev1.EnvVar{
		{Name: "GIT_CONFIG_COUNT", Value: "1"},
		{Name: "GIT_CONFIG_KEY_0", Value: "safe.directory"},
		{Name: "GIT_CONFIG_VALUE_0", Value: "*"},
	}
}
