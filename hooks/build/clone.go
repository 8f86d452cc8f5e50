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
	// nobodyUser is in the image's passwd file: OpenSSH refuses to run as any
	// other user.
	nobodyUser = 65534
)

//go:embed clone.sh
var cloneScript string

// clone returns the container that fetches the code, the only one with the
// credentials.
func (p Policy) clone(build *Build) corev1.Container {
	git := &build.Spec.Source.Git
	return corev1.Container{
		Name:         cloneStep,
		Image:        cmp.Or(git.Image, p.CloneImage),
		Command:      []string{"/bin/sh", "-c", operator.Literal(cloneScript)},
		Env:          slices.Concat(git.Env, git.variables(), prepared(&build.Spec)),
		WorkingDir:   "/tmp",
		VolumeMounts: cloneMounts(&build.Spec),
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{
				corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
			},
			Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		},
		SecurityContext: operator.Restricted(nobodyUser),
	}
}

// variables are those by which the container is told what to clone. What is at its default
// is left out.
func (g *Git) variables() []corev1.EnvVar {
	env := []corev1.EnvVar{
		{Name: "REPOSITORY", Value: operator.Literal(g.URL)},
		{Name: "REVISION", Value: operator.Literal(g.revision())},
		{Name: "SUB_PATH", Value: operator.Literal(g.SubPath)},
		{Name: "WORKSPACE", Value: workspacePath},
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

// revision returns what is built; HEAD is the default branch.
func (g *Git) revision() string { return cmp.Or(g.Revision, "HEAD") }

// otherDepth returns the depth if it is not the default.
func (g *Git) otherDepth() *int32 {
	if g.Depth != nil && *g.Depth == 1 {
		return nil
	}
	return g.Depth
}

func cloneMounts(spec *Spec) []corev1.VolumeMount {
	mounts := []corev1.VolumeMount{
		{Name: ownVolume(spec, workspaceVolume), MountPath: workspacePath},
		{Name: ownVolume(spec, cloneTmpVolume), MountPath: "/tmp"},
	}
	if needsTools(spec) {
		mounts = append(mounts, corev1.VolumeMount{Name: ownVolume(spec, toolsVolume), MountPath: toolsPath})
	}
	if spec.Source.Git.SecretRef != nil {
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
	for _, step := range steps(spec) {
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
