package crds

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
)

// module is the path of a Go module.
type module string

var modulePattern = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)"?`)

// moduleOf returns the path of the module in a folder, which is that of the running program: of
// another's operators it knows nothing.
func moduleOf(dir string) (module, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("looking for the root of a Go module: %w: run it there, or name it with --root", err)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("the program does not know its module: build it with the go command")
	}
	if found := modulePattern.FindSubmatch(text); found != nil && string(found[1]) != info.Main.Path {
		return "", fmt.Errorf("this program is of the module %s and does not know the operators of %s: use go run . generate there, which needs that to compile; "+
			"until the logic is written, let sync return an error", info.Main.Path, found[1])
	}
	return module(info.Main.Path), nil
}

// declares reports whether a type is declared in the module. The running program is
// of it, and so is a type in its package main. Types without a name are, too.
func (m module) declares(t reflect.Type) bool {
	path := t.PkgPath()
	return path == "" || path == "main" || path == string(m) || strings.HasPrefix(path, string(m)+"/")
}
