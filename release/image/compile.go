package image

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// compile returns the program for a platform, built as the Dockerfile builds it.
func compile(ctx context.Context, source Source, platform v1.Platform) ([]byte, error) {
	folder, err := os.MkdirTemp("", "operetta-image-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "operetta")
	ldflags := "-s -w -buildid= -X github.com/operetta-dev/operetta/internal/cli.version=" + source.Version
	cmd := exec.CommandContext(ctx, source.Go, "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", path, "./cmd/operetta-server")
	cmd.Dir = source.Root
	// Whatever changes the bytes and may stand in somebody's environment.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.OS, "GOARCH="+platform.Architecture,
		"GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, said)
	}
	return os.ReadFile(path)
}
