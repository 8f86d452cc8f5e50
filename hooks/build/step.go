package build

import (
	"cmp"
	_ "embed"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/operator"
)

// mainStep is the name of the container of a build that has one step.
const mainStep = "build"

//go:embed step.sh
var stepScript string

// steps returns the steps; a build without steps has one.
func steps(spec *Spec) []Step {
	if len(spec.Steps) > 0 {
		return spec.Steps
	}
	return []Step{{Name: mainStep, Work: spec.Work}}
}

// sidecars returns the sidecars, which run what they run as steps do.
func sidecars(spec *Spec) []Step {
	var list []Step
	for _, sidecar := range spec.Sidecars {
		list = append(list, Step{Name: sidecar.Name, Work: sidecar.Work})
	}
	return list
}

// sidecarContainers returns their containers, each of which the next waits for.
func sidecarContainers(build *Build) []corev1.Container {
	var containers []corev1.Container
	for i, sidecar := range sidecars(&build.Spec) {
		made := container(build, sidecar)
		made.RestartPolicy = new(corev1.ContainerRestartPolicyAlways)
		if sidecar.WorkingDir == "" { // an entrypoint may need that of its image
			made.WorkingDir = ""
		}
		made.StartupProbe = build.Spec.Sidecars[i].StartupProbe
		containers = append(containers, made)
	}
	return containers
}

// containerName returns the name of a step's container, which differs from the step's where
// that is the name of a container of the hook's.
func containerName(spec *Spec, step string) string {
	name := step
	isTaken := func(other Step) bool { return other.Name == name }
	others := slices.Concat(spec.Steps, sidecars(spec))
	isOurs := func() bool {
		return name == cloneStep || name == resultsContainer && len(spec.Results) > 0 || name == prepareContainer && spec.git() == nil
	}
	for isOurs() || name != step && slices.ContainsFunc(others, isTaken) {
		name = "step-" + name
	}
	return name
}

// needsTools reports whether the Pod has a volume for what the steps find ready.
func needsTools(spec *Spec) bool {
	return len(spec.Results) > 0 || slices.ContainsFunc(slices.Concat(steps(spec), sidecars(spec)), Step.namesInterpreter)
}

// namesInterpreter reports whether the script is run by what its first line says.
func (s Step) namesInterpreter() bool { return strings.HasPrefix(s.Script, "#!") }

// continues reports whether the next step begins although this one fails.
func (s Step) continues() bool { return s.OnError == Continue }

// container returns the container of a step.
func container(build *Build, step Step) corev1.Container {
	spec := &build.Spec
	mounts := []corev1.VolumeMount{{Name: ownVolume(spec, workspaceVolume), MountPath: workspacePath(spec)}}
	if needsTools(spec) {
		mounts = append(mounts, corev1.VolumeMount{Name: ownVolume(spec, toolsVolume), MountPath: toolsPath})
	}
	made := corev1.Container{
		Name:            containerName(spec, step.Name),
		Image:           step.Image,
		ImagePullPolicy: step.ImagePullPolicy,
		Env:             slices.Concat(trustWorkspace(step.Env), resultsFolder(spec, step.Env), step.Env),
		EnvFrom:         step.EnvFrom,
		WorkingDir:      workingDir(spec, step),
		VolumeMounts:    append(mounts, step.VolumeMounts...),
		SecurityContext: step.SecurityContext,
	}
	made.Command, made.Args = program(step)
	if step.Resources != nil {
		made.Resources = *step.Resources
	}
	return made
}

// workingDir returns where the step runs. What is relative is so to the workspace.
func workingDir(spec *Spec, step Step) string {
	git := cmp.Or(spec.git(), &Git{})
	switch {
	case step.WorkingDir == "":
		return path.Join(workspacePath(spec), git.SubPath)
	case path.IsAbs(step.WorkingDir):
		return step.WorkingDir
	}
	return path.Join(workspacePath(spec), step.WorkingDir)
}

// program returns what the container runs. A script of /bin/sh is an argument, and one of
// another interpreter a file, whose path the kernel hands to that.
func program(step Step) (command, args []string) {
	command, args = step.Command, step.Args
	switch {
	case step.namesInterpreter():
		command = []string{path.Join(scriptsPath, step.Name)}
	case step.Script != "":
		command, args = []string{"/bin/sh", "-ec"}, []string{operator.Literal(step.Script)}
		if len(step.Args) > 0 { // the first one after a script is its name
			args = append(append(args, step.Name), step.Args...)
		}
	}
	if step.TimeoutSeconds == nil && !step.continues() && len(step.When) == 0 {
		return command, args
	}
	limit, onError := "0", string(step.OnError)
	if step.TimeoutSeconds != nil {
		limit = strconv.FormatInt(*step.TimeoutSeconds, 10)
	}
	before := append([]string{limit, onError}, conditions(step.When)...)
	return []string{"/bin/sh", "-c", operator.Literal(stepScript), "step"}, slices.Concat(before, []string{"run"}, command, args)
}

// conditions are the arguments by which the script of a step is told of its conditions.
func conditions(when []When) []string {
	var args []string
	for _, condition := range when {
		subject := []string{"env", condition.Env}
		if condition.Result != "" {
			subject = []string{"result", path.Join(resultsPath, condition.Result)}
		}
		args = append(args, append(subject, condition.Operator, strconv.Itoa(len(condition.Values)))...)
		for _, value := range condition.Values {
			args = append(args, operator.Literal(value))
		}
	}
	return args
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
