package why

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// addChildren adds the children that the hook asks for and that are not there, or not as it wants
// them.
func (w *walk) addChildren(links []Link) {
	told := map[string]bool{}
	for _, desired := range w.plan.Children {
		if w.options.Recorded {
			break // its hashes and names are not what they were
		}
		ref := w.refOf(desired)
		told[ref.String()] = true
		live := w.get(ref)
		switch isOurs := live != nil && apiserver.ControllerUID(live) == w.parent.GetUID(); {
		case !isOurs:
			w.addMissing(ref, live, links)
		case w.isInPlace(ref) && hashOf(desired) != "" && hashOf(live) != hashOf(desired) && live.GetDeletionTimestamp() == nil:
			w.addOutdated(live, links)
		}
	}
	for _, field := range []string{"missingChildren", "outdatedChildren"} {
		refs, _, _ := unstructured.NestedStringSlice(w.status, field)
		for _, text := range refs { // those that are not asked for now, because the API server refuses them
			kind, name, _ := strings.Cut(text, "/")
			ref := Ref{APIVersion: w.versionOf(kind), Kind: kind, Namespace: w.parent.GetNamespace(), Name: name}
			live := w.get(ref)
			switch {
			case told[text]:
			case field == "missingChildren" && (live == nil || apiserver.ControllerUID(live) != w.parent.GetUID()):
				w.addMissing(ref, live, links)
			case field == "outdatedChildren" && live != nil:
				w.addOutdated(live, links)
			}
		}
	}
}

func hashOf(object Object) string { return apiserver.Annotation(object, metacontroller.HashAnnotation) }

// refOf returns the reference to a child as it is read.
func (w *walk) refOf(child Object) Ref {
	ref := apiserver.RefOf(child)
	if w.get(ref) == nil { // of a kind without a namespace, perhaps
		bare := ref
		bare.Namespace = ""
		if w.get(bare) != nil {
			return bare
		}
	}
	return ref
}

func (w *walk) isInPlace(ref Ref) bool {
	for _, child := range w.controller.Children {
		if ref.Is(child.Resource) {
			return child.Update == metacontroller.InPlace
		}
	}
	return false
}

// versionOf returns the API version of a kind of child.
func (w *walk) versionOf(kind string) string {
	for _, child := range w.controller.Children {
		if child.Kind == kind {
			return child.APIVersion
		}
	}
	return ""
}

// addMissing adds a child that is not there, or that is another's.
func (w *walk) addMissing(ref Ref, live Object, links []Link) {
	missing, _, _ := unstructured.NestedStringSlice(w.status, "missingChildren")
	isWaitedFor := false
	for _, other := range missing {
		isWaitedFor = isWaitedFor || other == ref.String()
	}
	if live != nil {
		w.addTaken(live, links)
		return
	}
	if !w.sees(metacontroller.Resource{APIVersion: ref.APIVersion, Kind: ref.Kind}) && !isWaitedFor && w.plan.Refused[ref] == nil {
		return // it may exist: the kind was not read
	}
	observed := conditionOf(w.status, operator.ConditionChildrenObserved)
	c := w.refusal(ref, Cause{Source: "the hook", Reason: "Missing", Message: "it is asked for, and does not exist", rank: absent})
	if c.Since == nil && isWaitedFor {
		c.Since = at(observed.Since)
	}
	if c.rank == absent && observed.Reason == "Absent" && isWaitedFor {
		c.rank, c.Source, c.Reason, c.Message = failing, "condition ChildrenObserved", operator.ReasonChildBlocked, conditionOf(w.status, operator.ConditionReady).Message
	}
	w.addAbsent(ref, links, c)
}

func (w *walk) addAbsent(ref Ref, links []Link, c Cause) {
	c.Ref, c.Holds = ref, prepend(Link{Kind: ref.Kind, Name: ref.Name, State: "does not exist"}, links)
	w.causes = append(w.causes, c)
}

// refusal turns the cause of a child into that of the API server's refusal, if an event tells of one.
func (w *walk) refusal(ref Ref, c Cause) Cause {
	names := func(e event) bool {
		return strings.Contains(e.message, `"`+ref.Name+`"`) || strings.Contains(e.message, "/"+ref.Name)
	}
	isOfChildren := func(e event) bool { return strings.Contains(e.message, ofChildren) }
	e := w.syncError(func(e event) bool { return isOfChildren(e) && names(e) })
	if e == nil { // an admission webhook names no object
		e = w.syncError(func(e event) bool { return isOfChildren(e) && strings.Contains(e.message, "denied the request") })
	}
	c.Look = w.eventsOf(apiserver.RefOf(w.parent))
	if err := w.plan.Refused[ref]; e == nil && err != nil {
		c.Source, c.Reason, c.Message, c.rank = "the API server's rules", "Refused", err.Error(), failing
		c.Next = []string{"Metacontroller asks again, with exponential back-off"}
	}
	if e == nil {
		return c
	}
	c.Source, c.Reason, c.Since, c.rank = "event", "Refused", at(e.first), failing
	c.Message = sentence(e.message)
	if _, refused, found := strings.Cut(c.Message, ofChildren); found {
		if _, words, found := strings.Cut(refused, ": "); found {
			c.Message = words
		}
	}
	return c
}

// addOutdated adds a child that is not as the hook wants it.
func (w *walk) addOutdated(live Object, links []Link) {
	ref := apiserver.RefOf(live)
	updated := conditionOf(w.status, operator.ConditionChildrenUpdated)
	c := w.refusal(ref, Cause{Source: "annotation " + metacontroller.HashAnnotation, Reason: "Outdated", Message: "it is not yet what the newest spec asks for", rank: progressing})
	if c.Since == nil {
		c.Since = at(updated.Since)
	}
	if c.rank == progressing && updated.Reason == "Outdated" {
		c.rank, c.Source, c.Reason, c.Message = failing, "condition ChildrenUpdated", operator.ReasonUpdateBlocked, conditionOf(w.status, operator.ConditionReady).Message
	}
	w.add(live, prepend(w.link(live), links), c)
}

// addTaken adds an object whose name a child should have.
func (w *walk) addTaken(live Object, links []Link) {
	owner := "nobody"
	if by, found := apiserver.ControllerOf(live); found {
		owner = by.String()
	}
	c := Cause{
		Source: "metadata.ownerReferences", Reason: "NameTaken", rank: failing, Since: at(live.GetCreationTimestamp().Time),
		Message: fmt.Sprintf("it exists and belongs to %s, so %s/%s cannot have a child of that name", owner, w.parent.GetKind(), w.parent.GetName()),
		Next:    []string{"nothing by itself: delete it, or choose another name"},
		Look:    "kubectl get " + w.target(apiserver.RefOf(live)) + " --output=yaml",
	}
	if live.GetDeletionTimestamp() != nil {
		c.rank, c.Next = progressing, []string{"it is being deleted; then the child is created"}
	}
	w.add(live, prepend(w.link(live), links), c)
}

// addMentioned adds the objects that the hook's words name and that are not below the custom
// resource: a child's name that is taken, or a Pod that it selects.
func (w *walk) addMentioned(links []Link) {
	for _, match := range mentioned.FindAllStringSubmatch(w.words, -1) {
		kind, name := match[1], match[2]
		version := w.versionOf(kind)
		if kind == "Pod" {
			version = "v1"
		}
		object := w.get(Ref{APIVersion: version, Kind: kind, Namespace: w.parent.GetNamespace(), Name: name})
		if object == nil || w.seen[object.GetUID()] || object == w.parent {
			continue
		}
		w.seen[object.GetUID()] = true
		isChild := w.versionOf(kind) != ""
		switch {
		case isChild && !w.isKnown(object):
			w.addTaken(object, links)
		case !isChild:
			w.addSelected(object, prepend(w.link(object), links))
		}
	}
}

// isKnown reports whether there is a cause about an object.
func (w *walk) isKnown(object Object) bool {
	for _, c := range w.causes {
		if c.Ref == apiserver.RefOf(object) {
			return true
		}
	}
	return false
}

// addSelected adds what is wrong with a Pod of others, and with what was put into it.
func (w *walk) addSelected(object Object, links []Link) {
	p := podOf(object)
	for _, c := range p.Status.EphemeralStatuses {
		if words := c.Why(); words != "" {
			reason, _, _ := strings.Cut(words, ":")
			w.add(object, links, Cause{Source: "ephemeral container status", Reason: reason, Message: c.Name + ": " + words, Since: p.since("ContainersReady"), rank: failing, Look: w.logs(object, c.Name, false)})
			return
		}
	}
	w.addPod(object, links)
}
