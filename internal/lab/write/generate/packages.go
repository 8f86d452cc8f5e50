package generate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// addPackages adds CONTRIBUTING.md with a table of the module's packages, if it has a place for
// one.
func (t Tree) addPackages(ctx context.Context, root string) error {
	const page = "CONTRIBUTING.md"
	text, err := os.ReadFile(filepath.Join(root, page))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Contains(text, []byte("<!-- packages:")) {
		return nil
	}
	table, err := packagesTable(ctx, root)
	if err != nil {
		return err
	}
	return t.addSections(root, page, section{"packages", table})
}

// saying matches how the comment of a package begins.
var saying = regexp.MustCompile(`^(?:Package|Command) \S+ (?:is |are )?(.*?)\.?$`)

// packagesTable prints the packages of the module in a folder as a Markdown table, each with the
// first sentence of its comment.
func packagesTable(ctx context.Context, root string) ([]byte, error) {
	const format = `{{.Module.Path}}{{"\t"}}{{.ImportPath}}{{"\t"}}{{.Doc}}`
	command := exec.CommandContext(ctx, "go", "list", "-f", format, "./...")
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	listed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages: %w\n%s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	table := []byte("| package | what |\n| --- | --- |\n")
	for line := range strings.Lines(string(listed)) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		folder := strings.TrimPrefix(strings.TrimPrefix(fields[1], fields[0]), "/")
		if folder == "" {
			folder = "."
		}
		said := saying.FindStringSubmatch(fields[2])
		if said == nil {
			return nil, fmt.Errorf("%s has no comment that begins with Package and its name, as CONTRIBUTING.md lists it: write one", folder)
		}
		table = fmt.Appendf(table, "| `%s` | %s |\n", folder, said[1])
	}
	return table, nil
}
