package scaffold

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/operator"
)

// DefaultChildren is what a kind begins with where nothing else is asked for.
const DefaultChildren = "Deployment,Service"

// choice are the children that a new kind begins with.
type choice struct {
	// Main is the kind of the child that does the work, and Service is set where one leads to its Pods.
	Main    string
	Service bool
	// Does says what a custom resource does, and Ready when it is Ready.
	Does, Ready string
	// Spec is that of its sample and of its cases, line by line.
	Spec []string
	// SyncCase and CustomizeCase are the names of its cases. Without the latter it has no customize hook.
	SyncCase, CustomizeCase string
}

var choices = map[string]choice{
	DefaultChildren: {
		Main: "Deployment", Service: true, Does: "runs an image in a number of Pods, behind a Service",
		Ready: "the Deployment reports all its replicas updated and available. A rollout past its progress deadline is Stalled",
		Spec:  []string{"image: nginx:1.27-alpine", "replicas: 2", "port: 80"}, SyncCase: "available-replicas-are-ready", CustomizeCase: "selects-the-service-by-name",
	},
	"Deployment": {
		Main: "Deployment", Does: "runs an image in a number of Pods",
		Ready: "the Deployment reports all its replicas updated and available. A rollout past its progress deadline is Stalled",
		Spec:  []string{"image: nginx:1.27-alpine", "replicas: 2"}, SyncCase: "available-replicas-are-ready",
	},
	"StatefulSet,Service": {
		Main: "StatefulSet", Service: true, Does: "runs an image in a number of Pods with stable names, behind a headless Service",
		Ready: "the StatefulSet reports all its replicas updated and available",
		Spec:  []string{"image: nginx:1.27-alpine", "replicas: 2", "port: 80"}, SyncCase: "available-replicas-are-ready", CustomizeCase: "selects-the-service-by-name",
	},
	"Pod": {
		Main: "Pod", Does: "runs an image in one Pod, and another one after an edit of the spec",
		Ready: "the Pod is ready. A Pod that has ended is Stalled until somebody deletes it",
		Spec:  []string{"image: nginx:1.27-alpine"}, SyncCase: "ready-pod-is-ready",
	},
	"Job": {
		Main: "Job", Does: "runs an image to completion, and again after an edit of the spec",
		Ready: "the Job is complete. A Job that has failed is Stalled",
		Spec:  []string{"image: busybox:1.37", "command: [echo, hello]"}, SyncCase: "complete-job-is-ready", CustomizeCase: "selects-the-pods",
	},
	"ConfigMap": {
		Main: "ConfigMap", Does: "keeps texts in a ConfigMap",
		Ready: "the ConfigMap has the texts",
		Spec:  []string{"data: {greeting: hello}"}, SyncCase: "stored-texts-are-ready", CustomizeCase: "selects-the-configmap-by-name",
	},
}

// Choices lists what there is to choose from.
func Choices() string { return strings.Join(slices.Sorted(maps.Keys(choices)), " | ") }

// childrenOf returns the choice of a name.
func childrenOf(name string) (choice, error) {
	if name == "" {
		name = DefaultChildren
	}
	chosen, isThere := choices[name]
	if !isThere {
		return choice{}, fmt.Errorf("no kind begins with the children %q: write --children with one of %s", name, Choices())
	}
	return chosen, nil
}

// Rolls reports whether the main child replaces its Pods by itself.
func (c choice) Rolls() bool { return c.Main == "Deployment" || c.Main == "StatefulSet" }

// Once reports whether the main child is never updated.
func (c choice) Once() bool { return c.Main == "Pod" || c.Main == "Job" }

// Runs reports whether the main child runs an image.
func (c choice) Runs() bool { return c.Main != "ConfigMap" }

// Noun is what the code calls the main child.
func (c choice) Noun() string { return strings.ToLower(c.Main[:1]) + c.Main[1:] }

// Shared is the kind of the child whose name another controller may use, or "".
func (c choice) Shared() string {
	switch {
	case c.Service:
		return "Service"
	case c.Main == "ConfigMap":
		return "ConfigMap"
	}
	return ""
}

// named says what else has the name of a custom resource.
func (c choice) named() string {
	if c.Service {
		return "the name of a Service"
	}
	return "the value of a label"
}

// Longest is the length of the longest name: the label of a StatefulSet's Pods has a hash besides.
func (c choice) Longest() int {
	if c.Main == "StatefulSet" {
		return operator.MaxLabel - len("-0123456789")
	}
	return operator.MaxLabel
}

// Inner is the number of characters between the first and the last of the longest name.
func (c choice) Inner() int { return c.Longest() - 2 }

// MainVersion is the apiVersion of the main child.
func (c choice) MainVersion() string {
	switch {
	case c.Rolls():
		return "apps/v1"
	case c.Main == "Job":
		return "batch/v1"
	}
	return "v1"
}

// ChildName returns the name of the main child of a custom resource, as the hook makes it.
func (c choice) ChildName(parent string) (string, error) {
	if !c.Once() {
		return parent, nil
	}
	spec := struct {
		Image   string   `json:"image"`
		Command []string `json:"command,omitempty"`
	}{Image: strings.TrimPrefix(c.Spec[0], "image: ")}
	if c.Main == "Job" {
		spec.Command = []string{"echo", "hello"}
	}
	hash, err := operator.HashOf(spec)
	if err != nil {
		return "", err
	}
	return operator.JoinName(operator.MaxLabel, parent, hash[:8]), nil
}
