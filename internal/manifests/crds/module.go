package crds

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
)

// module is the path of a Go module.
type module string

// moduleOf returns the path of the module in a folder, which is that of the running program.
func moduleOf(dir string) (module, error) {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return "", fmt.Errorf("looking for the root of a Go module: %w: run it there, or name it with --root", err)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("the program does not know its module: build it with the go command")
	}
	return module(info.Main.Path), nil
}

// declares reports whether a type is declared in the module. The running program is
// of it, and so is a type in its package main. Types without a name are, too.
func (m module) declares(t reflect.Type) bool {
	path := t.PkgPath()
	return path == "" || path == "main" || path == string(m) || strings.HasPrefix(path, string(m)+"/")
}
