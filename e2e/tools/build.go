package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Build returns the path of each tool's binary, building those that the cache
// does not hold yet. The first build of a control plane takes minutes, all
// later calls a fraction of a second. It must be called from within the module
// of this package, or from within one that requires it and replaces it by a clone.
func Build(ctx context.Context, tools ...Tool) (map[Tool]string, error) {
	cache, err := cacheDir(ctx)
	if err != nil {
		return nil, err
	}
	// Test binaries of several packages run at the same time: without the lock
	// each of them would build everything.
	release, err := Lock(filepath.Join(cache, "lock"))
	if err != nil {
		return nil, err
	}
	defer release()

	paths := make(map[Tool]string, len(tools))
	for i, tool := range tools {
		path, err := tool.build(ctx, cache, fmt.Sprintf("%d of %d", i+1, len(tools)))
		if err != nil {
			return nil, fmt.Errorf("build %s: %w", tool.Name, err)
		}
		paths[tool] = path
	}
	return paths, nil
}

// Lock waits until no other process holds the lock file at path. The kernel releases the lock of a
// process that ends.
func Lock(path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a lock file: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return func() { _ = file.Close() }, nil
}

// build makes the tool's binary in dir unless it is there, and returns its path. The number tells people which of
// all it is.
func (t Tool) build(ctx context.Context, dir, number string) (string, error) {
	version, err := t.list(ctx, "{{.Version}}")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, t.Name+"-"+version)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look into the cache: %w", err)
	}

	fmt.Fprintf(os.Stderr, "building %s: %s %s, which is needed once and can take minutes\n", number, t.Name, version)
	begin := time.Now()
	// An interrupted build must not leave half a binary under the final name.
	unfinished := path + ".unfinished"
	folder, err := moduleDir(ctx)
	if err != nil {
		return "", err
	}
	if _, err := goCommand(ctx, "-C", filepath.Join(folder, t.Dir), "build", "-ldflags="+t.linkerFlags(version), "-o", unfinished, t.Package); err != nil {
		return "", fmt.Errorf("go build: %w", err)
	}
	if err := os.Rename(unfinished, path); err != nil {
		return "", fmt.Errorf("put the binary into the cache: %w", err)
	}
	fmt.Fprintf(os.Stderr, "built %s: %s in %s\n", number, t.Name, time.Since(begin).Round(time.Second))
	return path, nil
}

// SourceDir returns the folder with the source of the tool's module, for what it
// ships beside its program.
func (t Tool) SourceDir(ctx context.Context) (string, error) { return t.list(ctx, "{{.Dir}}") }

// list returns something about the tool's module.
func (t Tool) list(ctx context.Context, format string) (string, error) {
	folder, err := moduleDir(ctx)
	if err != nil {
		return "", err
	}
	return goCommand(ctx, "-C", filepath.Join(folder, t.Dir), "list", "-m", "-f", format, t.Module)
}

// moduleDir returns the folder of the go.mod of this module.
func moduleDir(ctx context.Context) (string, error) {
	return goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", "github.com/operetta-dev/operetta/e2e")
}

// Clone returns the folder of Operetta's source, which this module is a part of.
func Clone(ctx context.Context) (string, error) {
	dir, err := moduleDir(ctx)
	return filepath.Dir(dir), err
}

// cacheDir returns the directory for the binaries of these very go.mod, go.sum
// and Go version, and makes it. Any change of these may change the binaries, so
// it leads to another directory; old ones are never reused and can be deleted.
func cacheDir(ctx context.Context) (string, error) {
	root, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a cache directory: %w", err)
	}
	platform, err := goCommand(ctx, "env", "GOVERSION", "GOOS", "GOARCH")
	if err != nil {
		return "", err
	}
	folder, err := moduleDir(ctx)
	if err != nil {
		return "", err
	}
	key := sha256.New()
	fmt.Fprintln(key, platform, KubeAPIServer.linkerFlags(""))
	for _, file := range []string{"kubernetes/go.mod", "kubernetes/go.sum", "kwok/go.mod", "kwok/go.sum"} {
		content, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			return "", fmt.Errorf("read what pins the tools: %w", err)
		}
		key.Write(content)
	}
	dir := filepath.Join(root, "operetta-e2e", hex.EncodeToString(key.Sum(nil))[:16])
	return dir, os.MkdirAll(dir, 0o755)
}

// goCommand runs the go command and returns what it wrote to standard output,
// without the final line break.
func goCommand(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	// A go.work of the developer would replace the pinned versions, and without
	// cgo no C compiler is needed, as in the official releases.
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, stderr.String())
	}
	return strings.TrimSpace(string(output)), nil
}
