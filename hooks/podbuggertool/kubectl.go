package podbuggertool

import (
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/operator"
)

// arguments returns the arguments of kubectl in the Job's container, which add
// the debug container to a Pod without prompting, waiting or attaching.
func arguments(tool *PodBuggerTool, pod string) []string {
	spec := &tool.Spec
	args := []string{
		"debug", pod,
		"--namespace=" + namespace(tool),
		"--image=" + spec.Image,
		"--container=" + tool.Name,
		"--profile=" + profile(tool),
		"--attach=false",
		"--quiet",
	}
	if spec.TargetContainer != "" {
		args = append(args, "--target="+spec.TargetContainer)
	}
	for _, variable := range spec.Env {
		args = append(args, "--env="+pair(variable))
	}
	// kubectl sets either the command or the arguments. An entrypoint followed
	// by its arguments has the same effect.
	if len(spec.Command) == 0 && len(spec.Args) > 0 {
		args = append(args, "--arguments-only")
	}
	if words := slices.Concat(spec.Command, spec.Args); len(words) > 0 {
		args = append(append(args, "--"), words...)
	}
	for i := range args {
		args[i] = operator.Literal(args[i])
	}
	return args
}

// pair returns NAME=VALUE so that kubectl parses exactly that. It takes a text with one equals
// sign literally, except for quotes at its end, and one with several as comma-separated values:
// a value with either is quoted and written twice, which is one of several in any case.
func pair(variable EnvVar) string {
	plain := variable.Name + "=" + variable.Value
	if !strings.ContainsAny(variable.Value, `="`) {
		return plain
	}
	quoted := `"` + strings.ReplaceAll(plain, `"`, `""`) + `"`
	return quoted + "," + quoted
}
