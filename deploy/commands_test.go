package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// names are what kubectl takes for one of our kinds, without its group.
func names(t *testing.T) (bare []string, qualified []string) {
	t.Helper()
	paths, err := filepath.Glob("crds/*.yaml")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var crd struct {
			Kind string `json:"kind"`
			Spec struct {
				Group string `json:"group"`
				Names struct {
					Kind       string   `json:"kind"`
					Plural     string   `json:"plural"`
					Singular   string   `json:"singular"`
					ShortNames []string `json:"shortNames"`
				} `json:"names"`
			} `json:"spec"`
		}
		require.NoError(t, yaml.Unmarshal(text, &crd), path)
		if crd.Kind != "CustomResourceDefinition" {
			continue
		}
		n := crd.Spec.Names
		bare = append(append(bare, strings.ToLower(n.Kind), n.Plural, n.Singular), n.ShortNames...)
		qualified = append(qualified, n.Plural+"."+crd.Spec.Group)
	}
	require.NotEmpty(t, qualified)
	return bare, qualified
}

// waitsForALittle reports whether a command is a kubectl wait without a timeout.
func waitsForALittle(command string) bool {
	words := strings.Fields(command)
	return slices.Contains(words, "wait") && slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--for=") }) &&
		!slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--timeout") })
}

// inlineCode is what stands between backquotes.
var inlineCode = regexp.MustCompile("`[^`]+`")

// commands returns the kubectl commands that a file shows: those in code where it
// is Markdown, and those on any line elsewhere.
func commands(path, text string) []string {
	text = strings.ReplaceAll(text, "\\\n", " ")
	var found []string
	inBlock := filepath.Ext(path) != ".md"
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") && filepath.Ext(path) == ".md" {
			inBlock = !inBlock
			continue
		}
		parts := []string{line}
		if !inBlock {
			parts = inlineCode.FindAllString(line, -1)
		}
		for _, part := range parts {
			for _, command := range strings.Split(part, "kubectl ")[1:] {
				command, _, _ = strings.Cut(command, " |")
				found = append(found, strings.Trim(strings.TrimSpace(command), "`"))
			}
		}
	}
	return found
}

// unqualified returns the words of a command that name one of our kinds without
// its group.
func unqualified(command string, bare, qualified []string) []string {
	var wrong []string
	for _, word := range strings.Fields(command) {
		if word == "#" {
			break
		}
		for _, name := range strings.Split(strings.Trim(word, `"'`), ",") {
			name, _, _ = strings.Cut(name, "/")
			first, _, _ := strings.Cut(name, ".")
			isOurs := slices.ContainsFunc(qualified, func(q string) bool { return name == q || strings.HasPrefix(name, q+".") })
			if slices.Contains(bare, strings.ToLower(first)) && !isOurs {
				wrong = append(wrong, word)
			}
		}
	}
	return wrong
}

// matching returns the files of some patterns.
func matching(t *testing.T, patterns ...string) (paths []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		paths = append(paths, found...)
	}
	return paths
}

// A cluster may have another kind of the name, as OpenShift has builds, and
// kubectl then chooses one of them. A wait is for as long as the command needs.
func TestShownCommandsNameKindsWithTheirGroup(t *testing.T) {
	bare, qualified := names(t)
	count := 0
	for _, path := range matching(t, "../Makefile", "../*.md", "../docs/*.md", "*.yaml", "*/*.yaml", "*/*/*.yaml", "*/*/*/*.yaml", "../cmd/*/*.go", "../internal/cli/*.go", "../internal/lab/commands/*.go", "../e2e/cmd/*/*.go", "../hooks/*/types.go") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, command := range commands(path, string(text)) {
			count++
			require.False(t, waitsForALittle(command), "%s shows kubectl %s: write --timeout, without which it gives up after 30 seconds", path, command)
			require.Empty(t, unqualified(command, bare, qualified), "%s shows kubectl %s: write the plural and the group, as in %s", path, command, qualified[0])
		}
	}
	require.Greater(t, count, 30)
}

func TestUnqualifiedNamesAreFound(t *testing.T) {
	bare, qualified := names(t)
	for command, wrong := range map[string][]string{
		"delete builds,podsets --all":                             {"builds,podsets", "builds,podsets"},
		"delete builds.ci.zt.vapi.cc,podsets.apps.jicki.cn --all": nil,
		"wait --for=condition=Ready modelbox/sentiment":           {"modelbox/sentiment"},
		"get PSET -l podset=cache":                                {"PSET"},
		"explain modelboxes.spec":                                 {"modelboxes.spec"},
		"explain modelboxes.model.github.com.spec":                nil,
		"get builds.build.openshift.io":                           {"builds.build.openshift.io"},
		"get pods,operetta # builds too":                          nil,
	} {
		require.Equal(t, wrong, unqualified(command, bare, qualified), command)
	}
	require.True(t, waitsForALittle("-n a wait --for=condition=Ready pods/b"))
	require.False(t, waitsForALittle("wait pods/b --for=condition=Ready --timeout 5m"))
	require.False(t, waitsForALittle("rollout status deployment/a"))
	require.Equal(t, []string{"get pset", "wait a  b", "delete mb x"},
		commands("a.md", "kubectl knows no build. `kubectl get pset` and\n```sh\nkubectl wait a \\\nb | x\n```\n- `kubectl delete mb x`\n"))
}
