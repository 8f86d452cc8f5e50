package serve_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// forbidden are packages that the server's program is to do without: those of the laptop, what
// exploration checks, and those that would make it half as large again.
var forbidden = regexp.MustCompile(`^(github\.com/operetta-dev/operetta(/internal/lab/.*|/simulation|.*/invariants)?|` +
	`html/template|net/rpc|k8s\.io/client-go/.*|k8s\.io/apiserver/pkg/server/.*|google\.golang\.org/grpc.*|go\.opentelemetry\.io/otel/(sdk|exporters).*)$`)

// TestServerIsSmall: it imports nothing of the laptop, and nothing of ours calls methods by name,
// as text/template does: the linker would keep every exported method.
func TestServerIsSmall(t *testing.T) {
	output, err := exec.Command("go", "list", "-deps", "-json=ImportPath,Module,Imports", "../cmd/operetta-server").Output()
	require.NoError(t, err)
	packages := 0
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; packages++ {
		var p struct {
			ImportPath string
			Module     *struct{ Main bool }
			Imports    []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		require.NotRegexp(t, forbidden, p.ImportPath)
		if p.Module != nil && p.Module.Main {
			require.NotContains(t, p.Imports, "text/template", p.ImportPath)
		}
	}
	require.Greater(t, packages, 200)
}
