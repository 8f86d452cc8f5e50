package cli

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/declaration"
)

func TestConfigPrintsWhatIsInForce(t *testing.T) {
	path := write(t, "config.yaml", `drain-delay: 7s
log-level: debug
kinds: build,modelbox
policy:
  build: {cloneImage: registry.example.com/git:1}
`)
	code, stdout, stderr := operetta(t, "config", "--config", path, "--log-level=warn", "--client-names=a,b")
	require.Equal(t, ExitDone, code, stderr)
	for _, line := range []string{
		"drain-delay: 7s # " + path, "log-level: warn # command line", "listen: :8080", "kinds: build,modelbox # " + path,
		"client-names: a,b # command line", "    cloneImage: registry.example.com/git:1", "      small:",
	} {
		require.Contains(t, strings.Split(stdout, "\n"), line)
	}
	require.NotContains(t, stdout, "kubectlImage", "podbuggertool is not chosen")
	require.NotContains(t, stdout, "token-file", "there is none")

	code, again, stderr := operetta(t, "config", "--config", write(t, "again.yaml", stdout))
	require.Equal(t, ExitDone, code, stderr)
	withoutSources := func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			before, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " # ")
			b.WriteString(before + "\n")
		}
		return b.String()
	}
	require.Equal(t, withoutSources(stdout), withoutSources(again), "what is printed is a configuration")
}

// TestConfigQuotesWhatYAMLWouldReadOtherwise: an alias, a list, a comment, a Boolean.
func TestConfigQuotesWhatYAMLWouldReadOtherwise(t *testing.T) {
	for _, address := range []string{"[::]:8080", "*:9090", "off", "1e3"} {
		code, stdout, stderr := operetta(t, "config", "--listen", address)
		require.Equal(t, ExitDone, code, stderr)
		require.Contains(t, stdout, "listen: "+strconv.Quote(address)+" # command line\n")
		code, stdout, stderr = operetta(t, "config", "--config", write(t, "again.yaml", stdout))
		require.Equal(t, ExitDone, code, stderr)
		require.Contains(t, stdout, "listen: "+strconv.Quote(address)+" #")
	}
}

func TestWrongPoliciesAreRefusedWithTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"log-level: debug\npolicy:\n  builds: {}\n":                                                         `line 3: there is no operator "builds": write some of build, dataservice,`,
		"policy:\n  build:\n    cloneImage: a\n    gitImage: b\n":                                           `line 4: policy.build: unknown field "gitImage"`,
		"policy:\n  modelbox:\n    defaultProbes:\n      liveness:\n        period: 1\n":                    `line 5: policy.modelbox: unknown field "defaultProbes.liveness.period"`,
		"policy:\n  modelbox:\n    defaultProbes:\n      liveness: {periodSeconds: 0}\n":                    `policy.modelbox: defaultProbes.liveness: write a periodSeconds and a failureThreshold of at least 1`,
		"policy:\n  modelbox:\n    resourceClasses:\n      huge: {}\n":                                      `line 4: policy.modelbox: resourceClasses.huge: there is no such class`,
		"policy:\n  modelbox:\n    resourceClasses: null\n":                                                 `line 3: policy.modelbox: resourceClasses.large is missing`,
		"policy:\n  modelbox:\n    resourceClasses:\n      small: {requests: {cpu: 2}, limits: {cpu: 1}}\n": `line 4: policy.modelbox: resourceClasses.small.requests.cpu: 2 is more than the limit of 1`,
		"policy:\n  modelbox:\n    resourceClasses:\n      small: {limits: {cpu: -1}}\n":                    `line 4: policy.modelbox: resourceClasses.small.limits.cpu: -1 is negative: write 0 or more`,
		"policy:\n  build: {cloneImage: a b}\n":                                                             `line 2: policy.build: cloneImage: "a b" is no image: write one like`,
		"log-level: debug\n---\nlog-level: warn\n":                                                          `has several documents: write one`,
		"policy:\n  build:\n    cloneImage: \"\"\n":                                                         `line 3: policy.build: cloneImage: it is empty: write an image, or leave it out`,
		"policy:\n  myjob: {}\n":                                                                            `line 2: policy.myjob: myjob has no policy`,
		"policy: []\n":                                                                                      "cannot unmarshal array",
		"policy:\n  build: [1]\n":                                                                           "cannot unmarshal array",
		"\n\nlogg-level: debug\n":                                                                           `line 3: there is no setting "logg-level"`,
		"policy:\n  build: {cloneImage: a, cloneImage: b}\n":                                                `key "cloneImage" already set`,
	} {
		path := write(t, "config.yaml", text)
		for _, command := range [][]string{{"config"}, {"serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"}} {
			code, _, stderr := operetta(t, append(command, "--config", path)...)
			require.NotEqual(t, ExitDone, code, text)
			require.Contains(t, stderr, want, text)
			require.Contains(t, stderr, path, text)
		}
	}
}

// TestConfigRefusesWhatServeRefuses, whether a flag or the file has it.
func TestConfigRefusesWhatServeRefuses(t *testing.T) {
	for _, flags := range [][]string{
		{"--log-level", "loud"}, {"--log-format", "xml"}, {"--max-body-bytes", "900Gi"},
		{"--config", write(t, "config.yaml", "log-level: loud\n")},
	} {
		_, _, want := operetta(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"}, flags...)...)
		code, out, stderr := operetta(t, append([]string{"config"}, flags...)...)
		require.Equal(t, ExitUsage, code, flags)
		require.Empty(t, out)
		require.Equal(t, strings.ReplaceAll(want, "operetta serve", "operetta config"), stderr)
	}
}

// TestPoliciesApplyToWhatIsServed: an answer has what the configuration file says.
func TestPoliciesApplyToWhatIsServed(t *testing.T) {
	path := write(t, "config.yaml", "log-level: debug\npolicy:\n  podset: {defaultImage: registry.example.com/busybox:1}\n")
	p := serveInProcess(t, "--config", path)
	response, err := http.Post(p.hooks+"/podset/sync", "application/json", strings.NewReader(`{"parent":{"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet",`+
		`"metadata":{"name":"a","namespace":"n","uid":"u","generation":1},"spec":{"size":1}},"children":{"Pod.v1":{}},"finalizing":false}`))
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	require.Contains(t, string(body), "registry.example.com/busybox:1")
}

// TestPoliciesAreWhole: each image of a policy is one that an empty text is refused for.
func TestPoliciesAreWhole(t *testing.T) {
	configurable := 0
	for _, controller := range hooks.All() {
		if controller.Policy.Value() == nil {
			continue
		}
		configurable++
		same, err := controller.WithPolicy([]byte("{}"))
		require.NoError(t, err)
		require.Equal(t, controller.Policy.Value(), same.Policy.Value())
		require.NoError(t, declaration.Check(same))
	}
	require.Equal(t, 5, configurable)
}
