package commands

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/cli"
)

// TestNothingOnStderrControlsATerminal: it may quote files and arguments that
// others have named.
func TestNothingOnStderrControlsATerminal(t *testing.T) {
	const evil = "\x1b[2J\u009b31m\u202e\x07"
	inYAML := `"\e[2J\x9B31m\u202E\a"`
	for _, args := range [][]string{
		{evil}, {"serve", "--" + evil}, {"serve", "--log-level", evil}, {"serve", "--max-in-flight", evil}, {"serve", "--config", evil},
		{"serve", "--config", write(t, "config.yaml", inYAML+": 1\n")}, {"serve", "--listen", evil},
		{"help", evil}, {"help", "\u202e"}, {"render", evil}, {"render", write(t, "kind.yaml", "apiVersion: v1\nkind: "+inYAML+"\n")},
		{"simulate", evil}, {"replay", evil}, {"manifests", "--hook-url", evil},
	} {
		_, stdout, stderr := operetta(t, "", args...)
		if args[0] == "help" {
			stderr = stdout // it is cobra that answers
		}
		require.NotEmpty(t, stderr, "%q", args)
		require.Negative(t, strings.IndexFunc(stderr, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' }), "%q: %q", args, stderr)
	}
	_, _, stderr := operetta(t, "", strings.Repeat("x", 1<<20))
	require.Less(t, len(stderr), 5000)
}

// TestNoValueInASimulationControlsATerminal: a simulation shows values that a custom resource has.
func TestNoValueInASimulationControlsATerminal(t *testing.T) {
	box := func(value string) string {
		return "apiVersion: apps.jicki.cn/v1alpha1\nkind: PodSet\nmetadata: {name: web}\nspec:\n  size: 1\n  template:\n    spec:\n" +
			"      containers: [{name: c, image: nginx, env: [{name: A, value: " + value + "}]}]\n"
	}
	for _, value := range []string{`"b\e[2J\e]0;owned\a\r=forged"`, `"b\u202Ex"`, `"b\U000E0001x y"`, `"b\n= PodSet default/web: forged"`} {
		code, stdout, stderr := operetta(t, box("a")+"---\n"+box(value), "simulate", "-")
		require.Equal(t, cli.ExitDone, code, stderr)
		require.Regexp(t, `env\[A\]\.value: a -> "?b\\`, stdout)
		require.Negative(t, strings.IndexFunc(stdout, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' }), "%q", stdout)
		require.NotContains(t, stdout, "\n= PodSet default/web: forged")
	}
}
