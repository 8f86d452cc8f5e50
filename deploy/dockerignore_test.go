package deploy_test

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestImageIsBuiltFromAllThatTheProgramImports: .dockerignore lets named folders through,
// and COPY copies nothing else.
func TestImageIsBuiltFromAllThatTheProgramImports(t *testing.T) {
	text, err := os.ReadFile("../.dockerignore")
	require.NoError(t, err)
	command := exec.Command("go", "list", "-deps", "-f", `{{if .Module}}{{if .Module.Main}}{{.Dir}}{{range .GoFiles}} {{.}}{{end}}{{end}}{{end}}`, "./cmd/operetta-server")
	command.Dir = ".."
	output, err := command.Output()
	require.NoError(t, err)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	packages := strings.Fields(string(output))
	require.NotEmpty(t, packages)
	folder := ""
	for _, field := range packages {
		if filepath.IsAbs(field) {
			folder, err = filepath.Rel(root, field)
			require.NoError(t, err)
			continue
		}
		top, _, _ := strings.Cut(path.Join(filepath.ToSlash(folder), field), "/")
		require.Contains(t, string(text), "\n!/"+top+"\n", "the image lacks %s/%s", folder, field)
	}
}
