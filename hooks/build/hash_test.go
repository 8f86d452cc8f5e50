package build

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// specOf returns the spec in a golden.
func specOf(t *testing.T, name string) Spec {
	t.Helper()
	text, err := os.ReadFile("../../testdata/build/sync/" + name + ".in.yaml")
	require.NoError(t, err)
	var request struct {
		Parent Build `json:"parent"`
	}
	require.NoError(t, yaml.Unmarshal(text, &request))
	return request.Parent.Spec
}

// formerSpec has each field of a former release that is part of what is built.
const formerSpec = `
source: {git: {url: "git@git.example.com:shop.git", revision: release/1.0, subPath: backend, secretRef: {name: deploy-key}}}
steps:
- name: test
  image: golang:1.26
  script: echo "$$ $(hostname) $HOME"
  env: [{name: CGO_ENABLED, value: "0"}]
  envFrom: [{configMapRef: {name: settings}}]
  resources: {requests: {cpu: "1"}}
  volumeMounts: [{name: cache, mountPath: /cache}]
- name: package
  image: registry.example.com/packager:1
  args: [--push]
  env: [{name: GIT_CONFIG_COUNT, value: "0"}]
volumes: [{name: cache, persistentVolumeClaim: {claimName: cache}}]
runId: again
`

// TestHashesOfFormerReleasesStay names builds that former releases have run, which a new field
// must not run again.
func TestHashesOfFormerReleasesStay(t *testing.T) {
	var former Spec
	require.NoError(t, yaml.UnmarshalStrict([]byte(formerSpec), &former))
	defaulted := former
	defaulted.Source.Git.Depth = new(int32(1)) // as the API server has it
	for want, specs := range map[string][]Spec{"c6cb1771aa": {former, defaulted}, "ef5bb58d26": {specOf(t, "first-build-is-asked-for")}} {
		for _, spec := range specs {
			hash, err := hashOf(&Build{Spec: spec})
			require.NoError(t, err)
			require.Equal(t, want, hash)
		}
	}
}

// TestHashIsOfWhatIsBuilt changes one field after the other.
func TestHashIsOfWhatIsBuilt(t *testing.T) {
	base := func() *Build { return &Build{Spec: specOf(t, "step-may-fail-or-has-a-limit")} }
	former, err := hashOf(base())
	require.NoError(t, err)
	for name, test := range map[string]struct {
		edit   func(*Spec)
		builds bool
	}{
		"args of a script":          {func(s *Spec) { s.Steps[2].Args = []string{"b"} }, true},
		"workingDir":                {func(s *Spec) { s.Steps[0].WorkingDir = "a" }, true},
		"onError":                   {func(s *Spec) { s.Steps[1].OnError = Continue }, true},
		"onError as it is":          {func(s *Spec) { s.Steps[1].OnError = StopAndFail }, false},
		"timeoutSeconds of a step":  {func(s *Spec) { s.Steps[0].TimeoutSeconds = new(int64(1)) }, false},
		"imagePullPolicy of a step": {func(s *Spec) { s.Steps[0].ImagePullPolicy = "Never" }, false},
		"the default branch":        {func(s *Spec) { s.Source.Git.Revision = "" }, true},
		"depth":                     {func(s *Spec) { s.Source.Git.Depth = new(int32(0)) }, true},
		"depth as it is":            {func(s *Spec) { s.Source.Git.Depth = new(int32(1)) }, false},
		"tags":                      {func(s *Spec) { s.Source.Git.Tags = true }, true},
		"submodules":                {func(s *Spec) { s.Source.Git.Submodules = true }, true},
		"lfs":                       {func(s *Spec) { s.Source.Git.LFS = true }, true},
		"name of a result":          {func(s *Spec) { s.Results = []DeclaredResult{{Name: "a"}} }, true},
		"workspacePath":             {func(s *Spec) { s.WorkspacePath = "/src" }, true},
		"workspacePath as it is":    {func(s *Spec) { s.WorkspacePath = "/workspace" }, false},
		"no repository":             {func(s *Spec) { s.Source = nil }, true},
		"retryDisruptions":          {func(s *Spec) { s.RetryDisruptions = true }, false},
		"resources of the clone":    {func(s *Spec) { s.Source.Git.Resources = &corev1.ResourceRequirements{} }, false},
		"podMetadata":               {func(s *Spec) { s.PodMetadata = &Metadata{Labels: map[string]LabelValue{"a": "b"}} }, false},
		"a condition":               {func(s *Spec) { s.Steps[0].When = []When{{Env: "A", Operator: "in", Values: []string{"a"}}} }, true},
		"a sidecar":                 {func(s *Spec) { s.Sidecars = []Sidecar{{Name: "a", Work: Work{Image: "b"}}} }, true},
		"env of the clone":          {func(s *Spec) { s.Source.Git.Env = []corev1.EnvVar{{Name: "A"}} }, false},
	} {
		build := base()
		test.edit(&build.Spec)
		hash, err := hashOf(build)
		require.NoError(t, err, name)
		require.Equal(t, test.builds, hash != former, name)
	}
}

// TestHashIsNotOfWhatIsAskedOfTheOutside changes what decides only how a build is told of, or when it begins.
func TestHashIsNotOfWhatIsAskedOfTheOutside(t *testing.T) {
	build := &Build{Spec: Spec{Results: []DeclaredResult{{Name: "a"}}, Sidecars: []Sidecar{{Name: "a", Work: Work{Image: "b"}}}}}
	former, err := hashOf(build)
	require.NoError(t, err)
	build.Spec.Results[0].Type = ResultArray
	build.Spec.Sidecars[0].StartupProbe = &corev1.Probe{PeriodSeconds: 1}
	hash, err := hashOf(build)
	require.NoError(t, err)
	require.Equal(t, former, hash)
}
