package defaults

import (
	"slices"
	"strings"
)

// dropWhatIsNoDefault removes in place what an API server adds by other means than
// defaulting. It is applied to both sides, and nothing else is left out.
func dropWhatIsNoDefault(object map[string]any) {
	// The registry sets these when it creates an object.
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp"} {
		drop(object, "metadata", field)
	}
	switch object["kind"] {
	case "Pod":
		dropFromPod(object)
	case "Service":
		// The allocators of addresses and node ports, and the choice of IP families
		// that goes with them.
		for _, field := range []string{"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} {
			drop(object, "spec", field)
		}
		for _, port := range items(object, "spec", "ports") {
			delete(port, "nodePort")
		}
	case "Job":
		// The selector and the labels by which a Job finds its own Pods. Defaulting
		// copies the template's labels to the Job.
		drop(object, "spec", "selector")
		for _, label := range []string{"job-name", "controller-uid", "batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid"} {
			drop(object, "metadata", "labels", label)
			drop(object, "spec", "template", "metadata", "labels", label)
		}
		dropEmpty(object, "metadata", "labels")
		dropEmpty(object, "spec", "template", "metadata", "labels")
	case "DaemonSet":
		// The count of changes of the template.
		drop(object, "metadata", "annotations", "deprecated.daemonset.template.generation")
		dropEmpty(object, "metadata", "annotations")
	}
}

// dropFromPod removes what admission plug-ins add to a Pod, and its first status.
func dropFromPod(pod map[string]any) {
	// The one default of these kinds that the simulation leaves out: the requests of the
	// Pod as a whole, from its limits and the sum of its containers' requests.
	drop(pod, "spec", "resources", "requests")
	// The strategy of Pods.
	drop(pod, "status", "phase")
	drop(pod, "status", "qosClass")
	// Admission of priority.
	drop(pod, "spec", "priority")
	drop(pod, "spec", "preemptionPolicy")
	// Admission of service accounts: the account and its token.
	for _, field := range []string{"serviceAccount", "serviceAccountName"} {
		if value(pod, "spec", field) == "default" {
			drop(pod, "spec", field)
		}
	}
	keep(pod, func(volume map[string]any) bool { return !isToken(volume) }, "spec", "volumes")
	for _, list := range []string{"containers", "initContainers"} {
		for _, container := range items(pod, "spec", list) {
			keep(container, func(mount map[string]any) bool { return !isToken(mount) }, "volumeMounts")
		}
	}
	// Admission of default tolerations.
	keep(pod, func(toleration map[string]any) bool {
		return toleration["key"] != "node.kubernetes.io/not-ready" && toleration["key"] != "node.kubernetes.io/unreachable"
	}, "spec", "tolerations")
}

func isToken(named map[string]any) bool {
	name, _ := named["name"].(string)
	return strings.HasPrefix(name, "kube-api-access-")
}

// value returns what is at a path, or nil.
func value(object map[string]any, path ...string) any {
	var at any = object
	for _, field := range path {
		fields, _ := at.(map[string]any)
		at = fields[field]
	}
	return at
}

// items returns the objects of a list.
func items(object map[string]any, path ...string) []map[string]any {
	list, _ := value(object, path...).([]any)
	found := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok {
			found = append(found, fields)
		}
	}
	return found
}

func drop(object map[string]any, path ...string) {
	last := len(path) - 1
	if parent, ok := value(object, path[:last]...).(map[string]any); ok {
		delete(parent, path[last])
	}
}

// dropEmpty removes a map without members.
func dropEmpty(object map[string]any, path ...string) {
	if fields, ok := value(object, path...).(map[string]any); ok && len(fields) == 0 {
		drop(object, path...)
	}
}

// keep removes all other items of a list, and the list where none is left.
func keep(object map[string]any, wanted func(map[string]any) bool, path ...string) {
	list, found := value(object, path...).([]any)
	if !found {
		return
	}
	list = slices.DeleteFunc(list, func(item any) bool { return !wanted(item.(map[string]any)) })
	if len(list) == 0 {
		drop(object, path...)
		return
	}
	value(object, path[:len(path)-1]...).(map[string]any)[path[len(path)-1]] = list
}
