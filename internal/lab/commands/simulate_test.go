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
		Kind  string
		Items []struct{ Kind string }
		Run   struct{ Error string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &whole))
	require.Equal(t, "List", whole.Kind)
	require.Empty(t, whole.Run.Error)
	for _, object := range whole.Items {
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

// TestSimulateDumps: what simulate prints is read as what kubectl prints, when something has gone wrong, too.
func TestSimulateDumps(t *testing.T) {
	for _, output := range []string{"json", "yaml"} {
		code, stdout, stderr := runSimulate(t, modelBox, "--output", output)
		require.Equal(t, cli.ExitDone, code, stderr)
		converged := write(t, "converged."+output, stdout)
		code, stdout, stderr = operetta(t, "", "diff", converged)
		require.Equal(t, cli.ExitDone, code, stdout+stderr)

		code, stdout, _ = runSimulate(t, modelBox, "--output", output, "--max-steps", "2")
		require.Equal(t, cli.ExitFailed, code)
		code, stdout, stderr = operetta(t, "", "why", "--all", "-f", write(t, "broken."+output, stdout))
		require.Equal(t, cli.ExitDone, code, stderr)
		require.Contains(t, stdout, "in progress  ModelBox/web in default: ")

		code, stdout, stderr = operetta(t, "", "simulate", converged)
		require.Equal(t, cli.ExitDone, code, stderr)
		require.Contains(t, stdout, "> ModelBox/web  applied\n        + Deployment/web\n", "its children are made again")
	}
}

// TestSimulateARecording plays the custom resource of its last request.
func TestSimulateARecording(t *testing.T) {
	dir := t.TempDir()
	code, first, stderr := operetta(t, "", "simulate", sample, "--record", dir)
	require.Equal(t, cli.ExitDone, code, stderr)
	code, again, stderr := operetta(t, "", "simulate", dir)
	require.Equal(t, cli.ExitDone, code, stderr)
	require.Equal(t, first, again)
}
