package build

import (
	_ "embed"
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/operator"
)

const (
	// resultsContainer is the last container where there are results.
	resultsContainer = "results"
	resultsPath      = toolsPath + "/results"
	resultsVariable  = "RESULTS_DIR"
	// maxResult is the length of the value of a result.
	maxResult = 1024
	// maxMessage and maxMessages are what a kubelet keeps of the messages of a container and,
	// divided by the number of containers, of a Pod.
	maxMessage, maxMessages = 4096, 12288
)

//go:embed results.sh
var resultsScript string

// resultNames are the names of the results in the order of the spec.
func resultNames(spec *Spec) []string {
	var names []string
	for _, declared := range spec.Results {
		names = append(names, declared.Name)
	}
	return names
}

// results returns the container that hands on what the steps have written.
func (p Policy) results(spec *Spec) corev1.Container {
	room := min(maxMessage, maxMessages/(len(steps(spec))+2))
	return corev1.Container{
		Name:    resultsContainer,
		Image:   p.toolsImage(spec),
		Command: []string{"/bin/sh", "-c", operator.Literal(resultsScript)},
		Env: []corev1.EnvVar{
			{Name: "RESULTS", Value: strings.Join(resultNames(spec), " ")},
			{Name: resultsVariable, Value: resultsPath},
			{Name: "MOST", Value: strconv.Itoa(maxResult)},
			{Name: "ROOM", Value: strconv.Itoa(room)},
		},
		WorkingDir:      "/",
		VolumeMounts:    []corev1.VolumeMount{{Name: ownVolume(spec, toolsVolume), MountPath: toolsPath, ReadOnly: true}},
		Resources:       resources("10m", "16Mi", "64Mi"),
		SecurityContext: operator.Restricted(nobodyUser),
	}
}

// resultsFolder is the variable that tells a step where results go, unless it has one of
// that name.
func resultsFolder(spec *Spec, env []corev1.EnvVar) []corev1.EnvVar {
	isTheUsers := slices.ContainsFunc(env, func(v corev1.EnvVar) bool { return v.Name == resultsVariable })
	if len(spec.Results) == 0 || isTheUsers {
		return nil
	}
	return []corev1.EnvVar{{Name: resultsVariable, Value: resultsPath}}
}

var commitPattern = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// commit returns the commit that the Pod has cloned, or "" if it does not tell.
func (p *observedPod) commit() string {
	message := strings.TrimSpace(p.messageOf(cloneStep))
	if !commitPattern.MatchString(message) {
		return ""
	}
	return message
}

// results returns the results that the spec names, in its order. A program has written the
// values: each is cut and made printable, and goes into the status only.
func (p *observedPod) results(spec *Spec) []ResultValue {
	written := map[string]string{}
	for line := range strings.Lines(p.messageOf(resultsContainer)) {
		name, encoded, _ := strings.Cut(strings.TrimSpace(line), "=")
		if value, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			written[name] = string(value)
		}
	}
	var values []ResultValue
	for _, name := range resultNames(spec) {
		if value, isWritten := written[name]; isWritten {
			values = append(values, ResultValue{Name: name, Value: resultText(value)})
		}
	}
	return values
}

// resultText returns a value as one line, without the newline at its end.
func resultText(value string) string {
	text := printable.Escaped(strings.TrimRight(value, "\r\n"))
	return strings.ToValidUTF8(text[:min(len(text), maxResult)], "")
}

// messageOf returns the message of a container that has ended well.
func (p *observedPod) messageOf(container string) string {
	for _, c := range p.Status.Containers() {
		if ended := c.State.Terminated; c.Name == container && ended != nil && ended.ExitCode == 0 {
			return ended.Message
		}
	}
	return ""
}
