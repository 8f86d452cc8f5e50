package cli

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/metacontroller"
)

func ask(t *testing.T, url string) int {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader("{}"))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}

func TestServeHasNoRouteForAKindThatIsNotChosen(t *testing.T) {
	for _, flags := range [][]string{
		{"--kinds=podset,build"},
		{"--kinds", "build, podset"},
		{"--config", write(t, "config.yaml", "kinds: podset,build\n")},
		{"--kinds=podset,build", "--config", write(t, "config.yaml", "kinds: myjob\n")},
	} {
		address := serveInProcess(t, flags...).hooks
		for _, controller := range hooks.All() {
			want := http.StatusNotFound
			if name := controller.Name(); name == "podset" || name == "build" {
				want = http.StatusBadRequest // an empty request
			}
			for _, hook := range controller.Hooks() {
				require.Equal(t, want, ask(t, address+"/"+controller.Name()+"/"+string(hook)), "%s %s of %s", flags, hook, controller.Name())
			}
		}
	}
}

// A CRD that does not compile is noticed only where it is compiled.
func TestServeDoesNotCompileTheCRDOfAKindThatIsNotChosen(t *testing.T) {
	controllers := hooks.All()
	build := slices.IndexFunc(controllers, func(c metacontroller.Controller) bool { return c.Name() == "build" })
	broken := bytes.Replace(controllers[build].CRD.Text(), []byte("type: integer"), []byte("$ref: x"), 1)
	require.NotEqual(t, string(controllers[build].CRD.Text()), string(broken))
	controllers[build].CRD = metacontroller.NewCRD(broken)

	serve := func(kinds string) (int, string) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		log := untilServing{stop: stop}
		args := []string{"serve", "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0", "--drain-delay=0s", kinds}
		code := Run(ctx, "operetta", controllers, Commands{}, args, Streams{Err: &log})
		return code, log.String()
	}
	code, log := serve("--kinds=build")
	require.Equal(t, ExitFailed, code)
	require.Contains(t, log, "operetta: build: ", "all that is chosen is compiled")
	code, log = serve("--kinds=podset")
	require.Equal(t, ExitDone, code)
	require.Contains(t, log, `"msg":"serving"`)
}

// The program of another module knows its own operators, and no others.
func TestUnknownKindsAreUsageErrorsThatNameThoseThatThereAre(t *testing.T) {
	two := hooks.All()[:2]
	for _, list := range []string{"--kinds=podset", "--kinds=Build", "--kinds=", "--kinds=build,", "--kinds=build,dataservices"} {
		code, stdout, stderr := runProgram(t, two, "serve", "--listen=127.0.0.1:0", list)
		require.Equal(t, ExitUsage, code, list)
		require.Empty(t, stdout, list)
		require.Contains(t, stderr, ": write some of build,dataservice (see operetta serve --help)\n", list)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
	}
	code, help, _ := runProgram(t, two, "serve", "--help")
	require.Equal(t, ExitDone, code)
	require.Contains(t, help, "some of build,dataservice (default all)")
}
