package explore

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// strangers are the contents of objects of somebody else, by kind.
var strangers = map[string]string{
	"ConfigMap":      `{"data":{"owner":"other"}}`,
	"DaemonSet":      `{"spec":{"selector":{"matchLabels":{"app":"other"}},"template":` + otherTemplate + `}}`,
	"Deployment":     `{"spec":{"replicas":1,"selector":{"matchLabels":{"app":"other"}},"template":` + otherTemplate + `}}`,
	"Job":            `{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"other","image":"nginx:1.28"}]}}}}`,
	"Pod":            `{"spec":{"containers":[{"name":"other","image":"nginx:1.28"}]}}`,
	"Role":           `{"rules":[]}`,
	"RoleBinding":    `{"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"other"}}`,
	"Service":        `{"spec":{"ports":[{"port":80}],"selector":{"app":"other"}}}`,
	"ServiceAccount": `{}`,
	"StatefulSet":    `{"spec":{"serviceName":"other","selector":{"matchLabels":{"app":"other"}},"template":` + otherTemplate + `}}`,
}

const otherTemplate = `{"metadata":{"labels":{"app":"other"}},"spec":{"containers":[{"name":"other","image":"nginx:1.28"}]}}`

// Strangers returns objects of somebody else by their kinds, with another controller. They have no
// apiVersion and no name yet.
func Strangers() map[string]map[string]any {
	all := map[string]map[string]any{}
	for kind := range strangers {
		all[kind] = stranger(kind, true)
	}
	return all
}

// stranger returns an object of a kind, or nil.
func stranger(kind string, controlled bool) map[string]any {
	content := map[string]any{}
	if strangers[kind] == "" || json.Unmarshal([]byte(strangers[kind]), &content) != nil {
		return nil
	}
	metadata := map[string]any{}
	if controlled {
		metadata["ownerReferences"] = []any{map[string]any{
			"apiVersion": "v1", "kind": "Namespace", "name": "default", "uid": strangerUID, "controller": true,
		}}
	}
	content["kind"], content["metadata"] = kind, metadata
	return content
}

// takeName creates an object of somebody else with the name of a child, which
// is deleted for that if necessary. It has another controller, because
// server-side apply would adopt an object without one.
func (c *chance) takeName() bool {
	names := c.wanted()
	if len(names) == 0 {
		return false
	}
	child := names[c.IntN(len(names))]
	kind, name, _ := strings.Cut(child.name, "/")
	if strangers[kind] == "" {
		return false
	}
	content := stranger(kind, c.run.scenario.Apply == player.ServerSideApply || c.IntN(2) == 0)
	content["apiVersion"] = child.apiVersion
	content["metadata"].(map[string]any)["name"] = name
	c.do(player.Action{Do: "delete", Target: child.name})
	return c.do(player.Action{Do: "create", Detail: encode(content)})
}

// strangerUID is the UID of that other controller.
const strangerUID = "other"

// releaseName deletes an object of somebody else that has the name of a child.
func (c *chance) releaseName() bool {
	object := c.pick(func(object kube.Object) bool {
		_, isRefused := c.run.refused[kube.RefOf(object)]
		owner := metav1.GetControllerOfNoCopy(object)
		return (isRefused || owner != nil && owner.UID == strangerUID) && c.run.World.IsForeign(object)
	})
	return c.doTo(object, "delete", "")
}

// childName is the name of a child, with its kind.
type childName struct{ apiVersion, name string }

// wanted returns the names of the existing children and of those of a new
// custom resource, in order.
func (c *chance) wanted() []childName {
	var names []childName
	add := func(apiVersion, name string) {
		if one := (childName{apiVersion, name}); !slices.Contains(names, one) {
			names = append(names, one)
		}
	}
	for _, parent := range c.run.World.Parents() {
		if fresh := c.run.scenario.freshRest(c.run.World, parent); fresh != nil {
			for _, name := range sortedKeys(fresh.children) {
				apiVersion, _ := fresh.children[name]["apiVersion"].(string)
				add(apiVersion, name)
			}
		}
		for _, child := range c.run.World.Owned(parent) {
			add(child.GetAPIVersion(), kube.RefOf(child).String())
		}
	}
	return names
}
