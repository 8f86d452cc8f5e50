package e2e

import (
	"fmt"
	"os/exec"
)

// buildOperetta builds the binary that the tests run, so that it is never an
// old one.
func buildOperetta() error {
	build := exec.Command("go", "build", "-o", "bin/operetta", "./cmd/operetta")
	build.Dir = ".."
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build operetta: %w\n%s", err, output)
	}
	return nil
}
