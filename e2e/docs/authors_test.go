//go:build unix

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/docs/commands"
)

// newModule has the part of the Pods of the module that is made.
func (s *site) newModule() []commands.Step {
	const services = "acme-operators.acme-operators-system"
	return []commands.Step{
		{After: "kubectl apply -k deploy/", Do: func(string) error {
			program := filepath.Join(s.home, "acme-operators")
			s.sh("go build -o " + program + " .")
			if err := s.server.Wrap(program); err != nil {
				return err
			}
			s.sh(program + " serve &")
			s.nameService(services, s.server.Hooks)
			return s.server.Ready()
		}},
		// Its children have the label by which the README waits for those of this project.
		{After: "go run . manifests", Do: do("delete webapps.acme.example.com/hello\n" +
			"delete compositecontrollers.metacontroller.k8s.io/acme-operators-webapp\ndelete namespace/acme-operators-system --wait=false")},
	}
}

// workedExample has the files that the page shows.
func (s *site) workedExample() []commands.Step {
	return []commands.Step{
		{After: "go mod init", Do: func(string) error {
			files, err := commands.Files(root + "/docs/authors.md")
			if err != nil {
				return err
			}
			folder := s.folder()
			for name, text := range files {
				path := filepath.Join(folder, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					return err
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					return err
				}
			}
			s.adopt()
			return nil
		}},
		{After: "go build", Do: func(string) error { return s.server.Wrap(filepath.Join(s.folder(), "acme")) }},
	}
}

// folder is the one that the shell is in.
func (s *site) folder() string {
	s.Helper()
	printed, _, err := s.shell.Run("pwd", 5*1e9)
	require.NoError(s, err)
	return strings.TrimSpace(printed)
}

// adopt gives a new module the requirements of this one, which have all that go mod tidy or
// go get would find on the network.
func (s *site) adopt() {
	s.Helper()
	folder := s.folder()
	was, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	require.NoError(s, err)
	module := regexp.MustCompile(`(?m)^module .*$`)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(s, err)
		text = module.ReplaceAll(text, module.Find(was))
		require.NoError(s, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
	project, err := filepath.Abs(root)
	require.NoError(s, err)
	s.sh("go -C " + folder + " mod edit -require=github.com/operetta-dev/operetta@v0.0.0 -replace=github.com/operetta-dev/operetta=" + project)
}
