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

// TestHashesOfFormerReleasesStay names builds that former releases have run, which a new field
// must not run again.
func TestHashesOfFormerReleasesStay(t *testing.T) {
	for name, want := range map[string]string{"first-build-is-asked-for": "ef5bb58d26", "every-field-reaches-the-job": "c6cb1771aa"} {
		hash, err := hashOf(&Build{Spec: specOf(t, name)})
		require.NoError(t, err)
		require.Equal(t, want, hash, name)
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
		"env of the clone":          {func(s *Spec) { s.Source.Git.Env = []corev1.EnvVar{{Name: "A"}} }, false},
	} {
		build := base()
		test.edit(&build.Spec)
		hash, err := hashOf(build)
		require.NoError(t, err, name)
		require.Equal(t, test.builds, hash != former, name)
	}
}
