package build

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/operator"
)

// hashLength is that of the hash in a Job's name, in hexadecimal digits.
const hashLength = 10

// hashOf returns the hash of everything that changes what is built. It covers
// only what the user wrote: a release of this operator that creates Jobs
// differently is no reason to build again. A field that is at its default is left
// out, so that a new field is no reason either.
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
		WorkingDir   string                 `json:"workingDir,omitempty"`
		Continues    bool                   `json:"continues,omitempty"`
		When         []When                 `json:"when,omitempty"`
	}
	git := cmp.Or(spec.git(), &Git{})
	hashed := struct {
		URL        string          `json:"url,omitempty"`
		Revision   string          `json:"revision,omitempty"`
		SubPath    string          `json:"subPath,omitempty"`
		Steps      []work          `json:"steps"`
		Volumes    []corev1.Volume `json:"volumes,omitempty"`
		RunID      string          `json:"runId,omitempty"`
		Depth      *int32          `json:"depth,omitempty"`
		Tags       bool            `json:"tags,omitempty"`
		Submodules bool            `json:"submodules,omitempty"`
		LFS        bool            `json:"lfs,omitempty"`
		Results    []string        `json:"results,omitempty"`
		Workspace  string          `json:"workspace,omitempty"`
		Sidecars   []work          `json:"sidecars,omitempty"`
	}{
		URL: git.URL, Revision: spec.revision(), SubPath: git.SubPath, Volumes: spec.Volumes, RunID: spec.RunID,
		Depth: git.otherDepth(), Tags: git.Tags, Submodules: git.Submodules, LFS: git.LFS, Results: resultNames(spec),
	}
	if path := workspacePath(spec); path != defaultWorkspace {
		hashed.Workspace = path
	}
	workOf := func(step Step) work {
		return work{
			step.Name, step.Image, step.Command, step.Args, step.Script, step.Env, step.EnvFrom, step.VolumeMounts,
			step.WorkingDir, step.continues(), step.When,
		}
	}
	for _, step := range steps(spec) {
		hashed.Steps = append(hashed.Steps, workOf(step))
	}
	for _, step := range sidecars(spec) {
		hashed.Sidecars = append(hashed.Sidecars, workOf(step))
	}
	hash, err := operator.HashOf(hashed)
	if err != nil {
		return "", fmt.Errorf("the spec: %w", err)
	}
	return hash[:hashLength], nil
}
