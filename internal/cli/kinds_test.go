package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/metacontroller"
)

// lines hands on what is written to it, and drops it once nobody takes it.
type lines chan string

func (l lines) Write(text []byte) (int, error) {
	select {
	case l <- string(text):
	default:
	}
	return len(text), nil
}

// serveChosen serves some operators until the test ends, and returns the address of
// the hooks; where serve ends before, it returns what it said.
func serveChosen(t *testing.T, controllers []metacontroller.Controller, flags ...string) (address, failure string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	log, ended := make(lines, 16), make(chan struct{})
	args := append([]string{"serve", "--listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0", "--drain-delay=0s"}, flags...)
	go func() {
		defer close(ended)
		Run(ctx, "operetta", controllers, Commands{}, args, Streams{In: strings.NewReader(""), Out: log, Err: log})
	}()
	t.Cleanup(func() { stop(); <-ended })
	for {
		select {
		case line := <-log:
			var said struct{ Msg, Hooks string }
			if json.Unmarshal([]byte(line), &said) != nil {
				return "", line
			}
			if said.Msg == "serving" {
				return "http://" + said.Hooks, ""
			}
		case <-time.After(time.Minute):
			require.Fail(t, "serve says nothing")
		}
	}
}

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
		{"--kinds=podset", "--kinds=build"},
		{"--config", write(t, "config.yaml", "kinds: podset,build\n")},
		{"--kinds=podset,build", "--config", write(t, "config.yaml", "kinds: myjob\n")},
	} {
		address, failure := serveChosen(t, hooks.All(), flags...)
		require.Empty(t, failure)
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
	broken := bytes.Replace(controllers[build].CRD, []byte("type: integer"), []byte("$ref: x"), 1)
	require.NotEqual(t, string(controllers[build].CRD), string(broken))
	controllers[build].CRD = broken

	_, failure := serveChosen(t, controllers, "--kinds=build")
	require.Contains(t, failure, "operetta: build: ", "all that is chosen is compiled")

	address, failure := serveChosen(t, controllers, "--kinds=podset")
	require.Empty(t, failure)
	require.Equal(t, http.StatusBadRequest, ask(t, address+"/podset/sync"))
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
