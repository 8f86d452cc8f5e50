package crds

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
)

// module is the path of a Go module.
type module string

// moduleOf returns the path of the module in a folder.
func moduleOf(ctx context.Context, dir string) (module, error) {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return "", fmt.Errorf("looking for the root of a Go module: %w: run it there, or name it with --root", err)
	}
	command := exec.CommandContext(ctx, "go", "mod", "edit", "-json")
	command.Dir = dir
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("reading the go.mod of %s with the go command: %w", dir, err)
	}
	var file struct{ Module struct{ Path string } }
	if err := json.Unmarshal(output, &file); err != nil {
		return "", fmt.Errorf("reading what go mod edit printed: %w", err)
	}
	return module(file.Module.Path), nil
}

// declares reports whether a type is declared in the module. The running program is
// of it, and so is a type in its package main. Types without a name are, too.
func (m module) declares(t reflect.Type) bool {
	path := t.PkgPath()
	return path == "" || path == "main" || path == string(m) || strings.HasPrefix(path, string(m)+"/")
}
