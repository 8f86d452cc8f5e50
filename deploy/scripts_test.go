package deploy_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	readsVariables = regexp.MustCompile(`\bread (?:-\w+ )*([\w ]+)`)
	// Names of namespaces have neither spaces nor lines, nor do they begin with a hyphen.
	takesWords = regexp.MustCompile(`\bfor \w+ in \$\((?:kubectl get namespaces )?`)
	// The same holds for names that are found in this form.
	takesNames = regexp.MustCompile(`grep -oE '"name":"\[a-z0-9\]\[-a-z0-9.\]\*"'`)
	runsText   = regexp.MustCompile(`\b(xargs|eval|sh -c)\b`)
)

// runsWhatItReads returns the lines of a shell script that make a command of what was read from
// the cluster. A user chooses names there, and those of Roles and RoleBindings may have lines: who
// runs the script would run the command of that user.
func runsWhatItReads(script string) []string {
	var wrong []string
	script = strings.ReplaceAll(script, "\\\n", " ")
	var variables []string
	for _, match := range readsVariables.FindAllStringSubmatch(script, -1) {
		variables = append(variables, strings.Fields(match[1])...)
	}
	for line := range strings.Lines(script) {
		// Printing what was read as data is fine.
		rest := regexp.MustCompile(`printf '%s\\n' "\$\w+"`).ReplaceAllString(line, "")
		for _, variable := range variables {
			if regexp.MustCompile(`\$\{?` + variable + `\b`).MatchString(rest) {
				wrong = append(wrong, line)
			}
		}
		loop := takesWords.FindString(line)
		if runsText.MatchString(line) || loop != "" && !strings.HasSuffix(loop, "namespaces ") && !takesNames.MatchString(line) {
			wrong = append(wrong, line)
		}
	}
	return wrong
}

func TestShownScriptsRunNothingThatTheyRead(t *testing.T) {
	count := 0
	for _, path := range matching(t, "../*.md", "../docs/*.md") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, part := range strings.Split(string(text), "\n```sh\n")[1:] {
			script, _, _ := strings.Cut(part, "\n```")
			count++
			require.Empty(t, runsWhatItReads(script), path)
		}
	}
	require.Greater(t, count, 30)
}

func TestScriptsThatRunWhatTheyReadAreFound(t *testing.T) {
	for script, isFound := range map[string]bool{
		`kubectl get roles | while read -r namespace name; do kubectl patch "$name"; done`:                  true,
		`kubectl get roles -o name | xargs kubectl delete`:                                                  true,
		`for role in $(kubectl get roles -o name); do kubectl delete "$role"; done`:                         true,
		`for pod in $(printf '%s' "$pods" | grep name); do kubectl delete pod "$pod"; done`:                 true,
		`for pod in $(printf '%s' "$pods" | grep -oE '"name":"[a-z0-9][-a-z0-9.]*"'); do echo "$pod"; done`: false,
		`for n in $(kubectl get namespaces -o name); do kubectl get pods --namespace="$n"; done`:            false,
		`kubectl get pods -o json | while read -r pod; do printf '%s\n' "$pod" | operetta render -; done`:   false,
		`kubectl get pods -o json | while read -r pod; do echo "$pod" | operetta render -; done`:            true,
	} {
		require.Equal(t, isFound, len(runsWhatItReads(script)) > 0, script)
	}
}
