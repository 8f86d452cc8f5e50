package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/cli"
)

const modelBox = `apiVersion: model.github.com/v1
kind: ModelBox
metadata: {name: web}
spec: {image: "nginx:1.27", replicas: 2, ports: [{port: 80}]}
`

// runSimulate runs the subcommand on a text, which it reads from a file, and
// returns its exit code and streams.
func runSimulate(t *testing.T, text string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return operetta(t, "", append([]string{"simulate", path}, args...)...)
}

func TestSimulateConverges(t *testing.T) {
	for _, args := range [][]string{nil, {"--apply", "server-side-apply"}, {"--hook-version", "v1"}, {"--over-http"}} {
		code, stdout, stderr := runSimulate(t, modelBox, args...)
		require.Equal(t, cli.ExitDone, code, stderr)
		require.Contains(t, stdout, "ModelBox default/web: Ready and quiet after ")
		require.Contains(t, stdout, "Deployment/web")
		require.NotContains(t, stdout, "last-applied", "what a person does not read is left out")
		require.NotContains(t, stdout, "operetta.dev/hash")
	}
}

func TestSimulateTellsWhatIsNotReady(t *testing.T) {
	foreign := "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}]}\n---\n"
	code, stdout, stderr := runSimulate(t, foreign+modelBox)
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, stdout, "ChildBlocked")
	require.Contains(t, stderr, "ModelBox default/web is not Ready: ChildBlocked: Service/web")
	require.Equal(t, 1, strings.Count(stderr, "\n"), "one line says it all")
}

// YAML reads some names as something else, which must not be called missing.
func TestSimulateTellsThatANameIsNoString(t *testing.T) {
	for name, says := range map[string]string{
		"y": "has a metadata.name that is a bool: put a string in quotes", "7": "has a metadata.name that is a number: put a string in quotes", `""`: "has no metadata.name",
	} {
		code, _, stderr := runSimulate(t, strings.Replace(modelBox, "name: web", "name: "+name, 1))
		require.Equal(t, cli.ExitFailed, code, name)
		require.Contains(t, stderr, says, name)
	}
}

func TestSimulateWithAFaultNeedsNoReady(t *testing.T) {
	code, stdout, stderr := runSimulate(t, modelBox, "--fail", "Deployment/web")
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Contains(t, stdout, "ProgressDeadlineExceeded")

	code, _, stderr = runSimulate(t, modelBox, "--vanish", "Pod/none")
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, stderr, "Pod/none")
}

func TestSimulateAppliesTheSameResourceAgainAsAnEdit(t *testing.T) {
	edited := strings.Replace(modelBox, "nginx:1.27", "nginx:1.28", 1)
	code, stdout, stderr := runSimulate(t, modelBox+"---\n"+edited)
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Contains(t, stdout, "spec.image: nginx:1.27 -> nginx:1.28")
}

func TestSimulateDeletes(t *testing.T) {
	code, stdout, stderr := runSimulate(t, modelBox, "--delete", "--output", "json")
	require.Equal(t, cli.ExitDone, code, stderr)
	var whole struct {
		Converged bool
		Objects   []struct{ Kind string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &whole))
	require.True(t, whole.Converged)
	for _, object := range whole.Objects {
		require.Equal(t, "Namespace", object.Kind)
	}
}

func TestSimulateRefusals(t *testing.T) {
	for want, args := range map[string][]string{
		"write KIND/NAME": {"--fail", "web"},
		"--output":        {"--output", "xml"},
		"--apply":         {"--apply", "kubectl"},
	} {
		code, _, stderr := runSimulate(t, modelBox, args...)
		require.Equal(t, cli.ExitUsage, code, want)
		require.Contains(t, stderr, want)
	}
	for want, text := range map[string]string{
		"no custom resource": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
		"neither YAML":       "a: b: c\n",
	} {
		code, _, stderr := runSimulate(t, text)
		require.Equal(t, cli.ExitFailed, code, want)
		require.Contains(t, stderr, want)
	}
}

func TestSimulateDraws(t *testing.T) {
	code, stdout, stderr := runSimulate(t, modelBox, "--output", "svg")
	require.Equal(t, cli.ExitDone, code, stderr)
	require.True(t, strings.HasPrefix(stdout, "<svg ") && strings.HasSuffix(stdout, "</svg>\n"), stdout)

	code, stdout, _ = runSimulate(t, modelBox, "--output", "svg", "--max-steps", "2")
	require.Equal(t, cli.ExitFailed, code)
	require.Contains(t, stdout, "</svg>", "what has happened until then is drawn")

	code, stdout, _ = runSimulate(t, strings.Replace(modelBox, "replicas: 2", "replicas: -2", 1), "--output", "svg")
	require.Equal(t, cli.ExitFailed, code)
	require.Empty(t, stdout, "nothing has happened")
}
