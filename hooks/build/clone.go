package build

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/operetta-dev/operetta/operator"
)

const (
	// cloneStep is the container that clones.
	cloneStep = "clone"
	// prepareContainer is the one that makes what the steps find ready, where none clones.
	prepareContainer = "prepare"
	// nobodyUser is in the image's passwd file: OpenSSH refuses to run as any
	// other user.
	nobodyUser = 65534
)

//go:embed clone.sh
var cloneScript string

//go:embed prepare.sh
var prepareScript string

// git returns the repository, or nil where a Build has none.
func (s *Spec) git() *Git {
	if s.Source == nil {
		return nil
	}
	return &s.Source.Git
}

// revision returns what is built, or "" without a repository; HEAD is the default branch.
func (s *Spec) revision() string {
	if git := s.git(); git != nil {
		return cmp.Or(git.Revision, "HEAD")
	}
	return ""
}

// begin returns the containers that run before the steps: one that clones or, without a repository, one
// that makes what the steps find ready, if there is something.
func (p Policy) begin(spec *Spec) []corev1.Container {
	switch git := spec.git(); {
	case git != nil:
		return []corev1.Container{p.clone(spec, git)}
	case needsTools(spec):
		return []corev1.Container{p.prepare(spec)}
	}
	return nil
}

// clone returns the container that fetches the code, the only one with the
// credentials.
func (p Policy) clone(spec *Spec, git *Git) corev1.Container {
	made := corev1.Container{
		Name:            cloneStep,
		Image:           p.toolsImage(spec),
		Command:         []string{"/bin/sh", "-c", operator.Literal(cloneScript + prepareScript)},
		Env:             slices.Concat(git.Env, git.variables(spec), prepared(spec)),
		WorkingDir:      "/tmp",
		VolumeMounts:    cloneMounts(spec, git),
		Resources:       resources("100m", "64Mi", "1Gi"),
		SecurityContext: operator.Restricted(nobodyUser),
	}
	if git.Resources != nil {
		made.Resources = *git.Resources
	}
	return made
}

// prepare returns the container that makes what the steps find ready.
func (p Policy) prepare(spec *Spec) corev1.Container {
	return corev1.Container{
		Name:            prepareContainer,
		Image:           p.toolsImage(spec),
		Command:         []string{"/bin/sh", "-c", operator.Literal(prepareScript)},
		Env:             prepared(spec),
		WorkingDir:      "/",
		VolumeMounts:    []corev1.VolumeMount{{Name: ownVolume(spec, toolsVolume), MountPath: toolsPath}},
		Resources:       resources("10m", "16Mi", "64Mi"),
		SecurityContext: operator.Restricted(nobodyUser),
	}
}

// toolsImage returns the image of the containers that the hook adds.
func (p Policy) toolsImage(spec *Spec) string {
	if git := spec.git(); git != nil {
		return cmp.Or(git.Image, p.CloneImage)
	}
	return p.CloneImage
}

func resources(cpu, memory, limit string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)},
	}
}

// variables are those by which the container is told what to clone. What is at its default
// is left out.
func (g *Git) variables(spec *Spec) []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "REPOSITORY", Value: operator.Literal(g.URL)},
		{Name: "REVISION", Value: operator.Literal(spec.revision())},
		{Name: "SUB_PATH", Value: operator.Literal(g.SubPath)},
		{Name: "WORKSPACE", Value: workspacePath(spec)},
		{Name: "CREDENTIALS", Value: credentialsPath},
		{Name: "HOME", Value: "/tmp"},
	}
	if depth := g.otherDepth(); depth != nil {
		env = append(env, corev1.EnvVar{Name: "CLONE_DEPTH", Value: strconv.Itoa(int(*depth))})
	}
	for _, option := range []struct {
		name  string
		isSet bool
	}{{"CLONE_TAGS", g.Tags}, {"CLONE_SUBMODULES", g.Submodules}, {"CLONE_LFS", g.LFS}} {
		if option.isSet {
			env = append(env, corev1.EnvVar{Name: option.name, Value: "true"})
		}
	}
	return env
}

// otherDepth returns the depth if it is not the default.
func (g *Git) otherDepth() *int32 {
	if g.Depth != nil && *g.Depth == 1 {
		return nil
	}
	return g.Depth
}

func cloneMounts(spec *Spec, git *Git) []corev1.VolumeMount {
	mounts := []corev1.VolumeMount{
		{Name: ownVolume(spec, workspaceVolume), MountPath: workspacePath(spec)},
		{Name: ownVolume(spec, cloneTmpVolume), MountPath: "/tmp"},
	}
	if needsTools(spec) {
		mounts = append(mounts, corev1.VolumeMount{Name: ownVolume(spec, toolsVolume), MountPath: toolsPath})
	}
	if git.SecretRef != nil {
		mounts = append(mounts, corev1.VolumeMount{Name: ownVolume(spec, credentialsVolume), MountPath: credentialsPath, ReadOnly: true})
	}
	return mounts
}

// prepared are the variables by which the container is told what the steps shall find
// ready: scripts that name their interpreter, whose text is never read as shell, and a
// folder for results.
func prepared(spec *Spec) []corev1.EnvVar {
	var names []string
	var env []corev1.EnvVar
	for _, step := range slices.Concat(steps(spec), sidecars(spec)) {
		if step.namesInterpreter() {
			env = append(env, corev1.EnvVar{Name: fmt.Sprint("CLONE_SCRIPT_", len(names)), Value: operator.Literal(step.Script)})
			names = append(names, step.Name)
		}
	}
	if len(names) > 0 {
		env = append(env, corev1.EnvVar{Name: "CLONE_SCRIPTS", Value: strings.Join(names, " ")})
	}
	if len(spec.Results) > 0 {
		env = append(env, corev1.EnvVar{Name: "CLONE_RESULTS", Value: resultsPath})
	}
	return env
}
