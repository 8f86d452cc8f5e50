package metacontroller

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// ByName returns the rule that selects the objects of a kind that have one of
// these names, for a customize hook. Without names it returns no rule, because
// that rule would select all objects of the kind.
func ByName(kind Resource, namespace string, names ...string) []Rule {
	if len(names) == 0 {
		return nil
	}
	return []Rule{{APIVersion: kind.APIVersion, Resource: kind.Plural, Namespace: namespace, Names: names}}
}

// Conflict is a child that is left out of the answer, because another controller
// owns an object of that name.
type Conflict struct {
	// Ref is the child, as in Service/web.
	Ref string
	// By is the other controller, as in ModelBox/web, or [APIServer].
	By string
}

// APIServer is what the Service kubernetes in default belongs to: it must not be deleted.
const APIServer = "the API server"

// String returns the sentence for a status message.
func (t Conflict) String() string { return t.Ref + " belongs to " + t.By }

// controllerRef is an owner reference with controller: true.
type controllerRef struct {
	apiVersion, kind, name string
	uid                    types.UID
}

// holder returns the controller of the object that has the name of a desired
// child, if it is not the parent. An observed child always belongs to the
// parent: if the answer left it out, Metacontroller would delete it.
func (c Controller) holder(req *request, apiVersion, kind, name string) (object Snapshot, by controllerRef, isTaken bool) {
	if declared, _ := c.Child(apiVersion, kind); !declared.SharedName {
		return object, by, false
	}
	if _, isOurs := req.children.Find(apiVersion, kind, name); isOurs {
		return object, by, false
	}
	if isAPIServer(req.Namespace, apiVersion, kind, name) {
		return Snapshot{APIVersion: apiVersion, Kind: kind, Namespace: req.Namespace, Name: name}, by, true
	}
	object, found := req.related.findIn(req.Namespace, apiVersion, kind, name)
	if !found {
		return object, by, false
	}
	by, found = object.controller()
	return object, by, found && by.uid != req.UID
}

// isAPIServer reports whether a desired child has the name of the Service by which all
// clients in the cluster find the API server. It has no owner.
func isAPIServer(namespace, apiVersion, kind, name string) bool {
	return apiVersion == "v1" && kind == "Service" && namespace == "default" && name == "kubernetes"
}

// taken returns the report for a desired child whose name another controller
// uses. It finds nothing where the name will soon be free: an object that is
// being deleted, or that belonged to a former parent of this name and waits for
// the garbage collector, is waited for.
func (c Controller) taken(req *request, apiVersion, kind, name string) (Conflict, bool) {
	object, by, isTaken := c.holder(req, apiVersion, kind, name)
	if !isTaken || object.Terminating || by.isFormer(controllerRef{c.Parent.APIVersion, c.Parent.Kind, req.Name, req.UID}) {
		return Conflict{}, false
	}
	if isAPIServer(req.Namespace, apiVersion, kind, name) {
		return Conflict{Ref: object.Ref(), By: APIServer}, true
	}
	return Conflict{Ref: object.Ref(), By: by.String()}, true
}

// isUnowned reports whether the request shows that an object with the name of a desired child, which is
// not observed, belongs to nobody.
func (c Controller) isUnowned(req *request, apiVersion, kind, name string) bool {
	declared, _ := c.Child(apiVersion, kind)
	if !declared.SharedName {
		return false
	}
	object, found := req.related.findIn(req.Namespace, apiVersion, kind, name)
	if !found {
		return false
	}
	_, isControlled := object.controller()
	return !isControlled
}

// wait leaves out of the answer those of the Missing children whose names objects have that belong to
// nobody. Server-side apply would take these over, and what runs behind them would be unreachable, while
// the API server refuses a workload because another has its name, say.
func (req *request) wait(diff *Difference, unowned []AnsweredChild) {
	for _, child := range unowned {
		ref := child.Kind + "/" + child.Name
		diff.Missing = slices.DeleteFunc(diff.Missing, func(missing string) bool { return missing == ref })
		diff.Waiting = append(diff.Waiting, ref)
		if req.waiting == nil {
			req.waiting = map[AnsweredChild]bool{}
		}
		req.waiting[child] = true
	}
}

// runsPods reports whether objects of a kind of Kubernetes run Pods, or are one.
func runsPods(apiVersion, kind string) bool {
	return strings.HasPrefix(apiVersion, "apps/") || strings.HasPrefix(apiVersion, "batch/") || apiVersion == "v1" && kind == "Pod"
}

// isFormer reports whether r is an earlier object of the same kind and name.
func (r controllerRef) isFormer(now controllerRef) bool {
	r.uid = now.uid
	return r == now
}

// kindName matches the kinds that may be shown in a message.
var kindName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,62}$`)

// String names the controller, or hides the text where the reference has a name
// that no object can have.
func (r controllerRef) String() string {
	if !kindName.MatchString(r.kind) || len(validation.IsDNS1123Subdomain(r.name)) > 0 {
		return "another controller"
	}
	return r.kind + "/" + r.name
}

// controller returns the object's controller owner reference, if it has one.
func (s Snapshot) controller() (by controllerRef, found bool) {
	rawjson.Elements(s.owners, func(owner []byte) bool {
		if found = string(rawjson.Lookup(owner, "controller")) == "true"; !found {
			return true
		}
		uid, _ := rawjson.Text(rawjson.Lookup(owner, "uid"))
		by.uid = types.UID(uid)
		by.apiVersion, _ = rawjson.Text(rawjson.Lookup(owner, "apiVersion"))
		by.kind, _ = rawjson.Text(rawjson.Lookup(owner, "kind"))
		by.name, _ = rawjson.Text(rawjson.Lookup(owner, "name"))
		return false
	})
	return by, found
}

// findIn returns the object of a kind and a name in a namespace. In a request
// written by hand an empty namespace matches every other.
func (o Objects) findIn(namespace, apiVersion, kind, name string) (Snapshot, bool) {
	objects := o.All(apiVersion, kind)
	i := slices.IndexFunc(objects, func(s Snapshot) bool {
		return s.Name == name && (s.Namespace == namespace || s.Namespace == "" || namespace == "")
	})
	if i < 0 {
		return Snapshot{}, false
	}
	return objects[i], true
}
