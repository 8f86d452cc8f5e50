package build

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
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
	// maxResults is how much text the results of a build have in the status.
	maxResults = 4096
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
	room := min(maxMessage, maxMessages/(len(steps(spec))+len(spec.Sidecars)+2))
	return corev1.Container{
		Name:    resultsContainer,
		Image:   p.toolsImage(spec),
		Command: []string{"/bin/sh", "-c", operator.Literal(resultsScript)},
		Env: []corev1.EnvVar{
			{Name: "RESULTS", Value: strings.Join(resultNames(spec), " ")},
			{Name: resultsVariable, Value: resultsPath},
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

// results returns the results that the spec names, in its order, and of one that is left out why. A program has
// written the values: each is bounded, made printable, and goes into the status only.
func (p *observedPod) results(spec *Spec) []ResultValue {
	message := p.messageOf(resultsContainer)
	if message == "" {
		return nil
	}
	told := map[string]ResultValue{}
	isWhole, left := false, maxResults
	for line := range strings.Lines(message) {
		line, isEnded := strings.CutSuffix(line, "\n") // else a kubelet has cut it
		name, encoded, _ := strings.Cut(line, "=")
		name, size, isLeftOut := strings.Cut(name, "!")
		text, err := base64.StdEncoding.DecodeString(encoded)
		switch {
		case !isEnded || err != nil:
			continue
		case isLeftOut:
			told[name] = ResultValue{Omitted: leftOut(size)}
		default:
			isWhole = isWhole || name == "."
			told[name] = ResultValue{Value: string(text)}
		}
	}
	var values []ResultValue
	for _, declared := range spec.Results {
		value, isTold := told[declared.Name]
		switch {
		case isTold && value.Omitted == "":
			value = declared.read(value.Value, &left)
		case !isTold && isWhole: // no step has written it
			continue
		case !isTold:
			value.Omitted = "the message of the container results had no room for it, if it was written"
		}
		value.Name = declared.Name
		values = append(values, value)
	}
	return values
}

// leftOut says why the last container has left out a result.
func leftOut(size string) string {
	if n, err := strconv.ParseUint(size, 10, 63); err == nil {
		return fmt.Sprintf("it has %d bytes, for which there was no room", n)
	}
	return "it is no file that every user can read"
}

// read returns the value of a result, as one line without the newline at its end, for which so many bytes are left.
func (d *DeclaredResult) read(text string, left *int) ResultValue {
	var value ResultValue
	size := 0
	if d.Type == ResultArray {
		var entries []*string
		if json.Unmarshal([]byte(text), &entries) != nil || entries == nil || slices.Contains(entries, nil) {
			return ResultValue{Omitted: "it is no JSON array of strings"}
		}
		for _, entry := range entries {
			value.Values = append(value.Values, printable.Escaped(*entry))
			size += len(printable.Escaped(*entry)) + len(`"",`)
		}
	} else {
		value.Value = printable.Escaped(strings.TrimRight(text, "\r\n"))
		size = len(value.Value)
	}
	if size > *left {
		return ResultValue{Omitted: fmt.Sprintf("it has %d bytes as text, for which there was no room", size)}
	}
	*left -= size
	return value
}

// omitted returns the names of results that are left out.
func omitted(results []ResultValue) (names []string) {
	for _, result := range results {
		if result.Omitted != "" {
			names = append(names, result.Name)
		}
	}
	return names
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
