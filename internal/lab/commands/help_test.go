package commands

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// subcommand is a line of the list of commands in the help.
var subcommand = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}[A-Z]`)

// TestHelpFitsATerminal: pflag does not wrap, so a long line is broken anywhere.
func TestHelpFitsATerminal(t *testing.T) {
	code, help, _ := operetta(t, "", "--help")
	require.Zero(t, code)
	commands := [][]string{{"", ""}}
	commands = append(commands, subcommand.FindAllStringSubmatch(help, -1)...)
	require.Greater(t, len(commands), 8)
	for _, command := range commands {
		code, help, _ := operetta(t, "", strings.Fields(command[1]+" --help")...)
		require.Zero(t, code)
		text, _, found := strings.Cut(help, "\nUsage:\n")
		require.True(t, found)
		for line := range strings.Lines(text) {
			require.LessOrEqual(t, len(line), 100, "%s --help: %s", command[1], line)
		}
	}
	_, help, _ = operetta(t, "", "render", "--help")
	for line := range strings.Lines(help) {
		require.LessOrEqual(t, len(line), 120, "render --help: %s", line)
	}
}
