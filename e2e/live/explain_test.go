package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/e2e/cluster"
	"github.com/operetta-dev/operetta/e2e/tools"
)

// explainedRequests is how many of Metacontroller's requests a failed test shows.
const explainedRequests = 40

// explainedKinds are the children of all operators.
const explainedKinds = "pods,jobs,deployments,statefulsets,daemonsets,services,configmaps,persistentvolumeclaims,serviceaccounts,roles,rolebindings"

// explainFailure prints once what helps to understand a failed test. It must run before
// objects are deleted. The test's own message says what it waited for.
func (w *world) explainFailure() {
	if !w.Failed() || w.explained {
		return
	}
	w.explained = true
	w.Logf("Metacontroller runs with %s, and the namespace is %s", w.mode, w.ns)
	w.Logf("the custom resources:\n%s", w.show("get", kinds, "--output=yaml"))
	w.Logf("the other objects, with their status:\n%s", w.statuses())
	w.Logf("the events:\n%s", w.show("get", "events", "--sort-by=.metadata.creationTimestamp",
		"--output=custom-columns=LAST:.lastTimestamp,COUNT:.count,TYPE:.type,REASON:.reason,KIND:.involvedObject.kind,NAME:.involvedObject.name,MESSAGE:.message"))
	w.Logf("the last requests of Metacontroller that wrote or were refused:\n%s", w.lastRequests())
	for _, program := range []string{
		cluster.Metacontroller, cluster.OperettaServer, tools.KubeAPIServer.Name, tools.KubeControllerManager.Name, tools.KubeScheduler.Name, tools.Kwok.Name,
	} {
		w.Logf("the end of the log of %s:\n%s", program, operetta.Log(program))
	}
}

// show returns the output of a kubectl command, or its error.
func (w *world) show(args ...string) string {
	stdout, stderr, err := operetta.Kubectl(append(args, "--namespace="+w.ns)...)
	if err != nil {
		return stdout + err.Error()
	}
	return stdout + stderr
}

// statuses returns a line for each object in the namespace that is not a custom
// resource.
func (w *world) statuses() string {
	text := w.show("get", explainedKinds, "--output=json")
	var list struct{ Items []map[string]any }
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return text
	}
	var lines []string
	for _, object := range list.Items {
		line := fmt.Sprintf("%s/%s generation %v", at(object, "kind"), at(object, "metadata", "name"), at(object, "metadata", "generation"))
		for _, field := range []string{"deletionTimestamp", "finalizers"} {
			if value := at(object, "metadata", field); value != nil {
				line += fmt.Sprintf(" %s %v", field, value)
			}
		}
		if status, ok := object["status"]; ok {
			text, _ := json.Marshal(status)
			line += " " + string(text)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// lastRequests returns Metacontroller's last writes and refused requests since the test
// began.
func (w *world) lastRequests() string {
	file, _, err := readRequests(w.begin, metacontrollerUser)
	if err != nil {
		return err.Error()
	}
	some := slices.DeleteFunc(file, func(r request) bool {
		return !r.isWrite() && r.ResponseStatus.Code < 400 || strings.HasPrefix(r.ObjectRef.Namespace, worldPrefix) && r.ObjectRef.Namespace != w.ns
	})
	var lines []string
	for _, r := range some[max(0, len(some)-explainedRequests):] {
		line := r.Received.Format(time.TimeOnly+".000 ") + r.String()
		if r.ResponseStatus.Message != "" {
			line += " " + r.ResponseStatus.Message
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
