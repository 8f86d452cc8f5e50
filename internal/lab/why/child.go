package why

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// addChildren adds the children that the hook asks for and that are not there, or not as it wants
// them. Those of a recording do not count: their hashes and some names are not what they were.
func (w *walk) addChildren(links []Link) {
	told := map[string]bool{}
	for _, desired := range w.plan.Children {
		if w.options.Recorded {
			break
		}
		ref := w.refOf(desired)
		told[ref.String()] = true
		live := w.get(ref)
		declared, _ := w.controller.Child(ref.APIVersion, ref.Kind)
		switch {
		case !w.isOurs(live):
			w.addMissing(ref, live, links)
		case declared.Update == metacontroller.InPlace && hashOf(desired) != "" && hashOf(live) != hashOf(desired) && live.GetDeletionTimestamp() == nil:
			w.addOutdated(live, links)
		}
	}
	for _, ref := range w.pending("missingChildren", told) {
		if live := w.get(ref); !w.isOurs(live) {
			w.addMissing(ref, live, links)
		}
	}
	for _, ref := range w.pending("outdatedChildren", told) {
		if live := w.get(ref); live != nil {
			w.addOutdated(live, links)
		}
	}
}

// pending returns the children that a field of the status names, but for some: between two attempts
// the hook does not ask for what the API server refuses.
func (w *walk) pending(field string, without map[string]bool) (refs []Ref) {
	names, _, _ := unstructured.NestedStringSlice(w.status, field)
	for _, text := range names {
		if kind, name, _ := strings.Cut(text, "/"); !without[text] {
			refs = append(refs, Ref{APIVersion: w.versionOf(kind), Kind: kind, Namespace: w.parent.GetNamespace(), Name: name})
		}
	}
	return refs
}

// isOurs reports whether an object is a child, or will be adopted as one.
func (w *walk) isOurs(live Object) bool {
	if live == nil {
		return false
	}
	owner, uid := kube.ControllerUID(live), w.parent.GetUID()
	return owner == uid || owner == "" && kube.Label(live, composite.SelectorLabel) == string(uid)
}

func hashOf(object Object) string { return kube.Annotation(object, metacontroller.HashAnnotation) }

// refOf returns the reference to a child as it is read.
func (w *walk) refOf(child Object) Ref {
	ref := kube.RefOf(child)
	if w.get(ref) == nil { // of a kind without a namespace, perhaps
		bare := ref
		bare.Namespace = ""
		if w.get(bare) != nil {
			return bare
		}
	}
	return ref
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
	isWaitedFor := slices.Contains(missing, ref.String())
	if live != nil {
		w.addTaken(live, links)
		return
	}
	if !w.sees(metacontroller.Resource{APIVersion: ref.APIVersion, Kind: ref.Kind}) && !isWaitedFor && w.plan.Refused[ref] == nil {
		return // it may exist: the kind was not read
	}
	observed, stored := kube.ConditionIn(w.status, operator.ConditionChildrenObserved), kube.ConditionIn(w.parent.Object["status"], operator.ConditionChildrenObserved)
	c := w.refusal(ref, Cause{Source: "the hook", Reason: "Missing", Message: "it is asked for, and does not exist", rank: absent})
	if c.Since == nil && isWaitedFor && stored.Status == observed.Status { // otherwise that is said just now
		c.Since = at(observed.Since)
	}
	if c.rank == absent && observed.Reason == "Absent" && isWaitedFor {
		c.rank, c.Source, c.Reason, c.Message = stalled, "condition ChildrenObserved", operator.ReasonChildBlocked, kube.ConditionIn(w.status, operator.ConditionReady).Message
	}
	w.addAbsent(ref, links, c)
}

func (w *walk) addAbsent(ref Ref, links []Link, c Cause) {
	c.Ref, c.Holds = ref, prepend(Link{Kind: ref.Kind, Name: ref.Name, State: "does not exist"}, links)
	w.causes = append(w.causes, c)
}

// refusal turns the cause of a child into that of the API server's refusal, if an event tells of one.
func (w *walk) refusal(ref Ref, c Cause) Cause {
	c.Look = w.eventsOf(kube.RefOf(w.parent))
	words := ""
	e := w.syncError(func(e event) bool {
		words = w.wordsAbout(ref, e.message)
		return words != ""
	})
	if err := w.plan.Refused[ref]; e == nil && err != nil {
		c.Source, c.Reason, c.Message, c.rank = "the API server's rules", "Refused", err.Error(), failing
		c.Next = []string{"Metacontroller asks again, with exponential back-off"}
	}
	if e != nil {
		c.Source, c.Reason, c.Message, c.Since, c.rank = "event", "Refused", words, at(e.first), failing
	}
	return c
}

// wordsAbout returns what an event about refused children says of one: the API server names it as
// in deployments.apps "web", and an admission webhook names none.
func (w *walk) wordsAbout(ref Ref, message string) string {
	_, message, isOfChildren := strings.Cut(message, ofChildren)
	if !isOfChildren {
		return ""
	}
	var own, ofWebhooks []string
	for _, refusal := range w.refusals(message) {
		for _, child := range w.controller.Children {
			if ref.Is(child.Resource) && slices.ContainsFunc(namesOf(child.Resource), func(name string) bool { return strings.Contains(refusal, name+` "`+ref.Name+`"`) }) {
				own = append(own, refusal)
			}
		}
		if strings.Contains(refusal, " webhook ") {
			ofWebhooks = append(ofWebhooks, refusal)
		}
	}
	if len(own) == 0 {
		own = ofWebhooks
	}
	return strings.Join(own, "; ")
}

// unnamed are refusals that do not begin with the name of a child.
var unnamed = []string{`admission webhook "`, "Internal error occurred: ", "Operation cannot be fulfilled on "}

// refusals returns those in the words of Metacontroller, which are a list where there are several.
func (w *walk) refusals(message string) []string {
	begins := slices.Clone(unnamed)
	for _, child := range w.controller.Children {
		for _, name := range namesOf(child.Resource) {
			begins = append(begins, name+` "`)
		}
	}
	first := len(message)
	for _, begin := range begins {
		if at := strings.Index(message, begin); at >= 0 {
			first = min(first, at)
		}
	}
	prefix, message := message[:first], message[first:]
	for _, begin := range begins {
		message = strings.ReplaceAll(message, ", "+begin, "\n"+begin)
	}
	if strings.HasSuffix(prefix, "[") {
		message = strings.TrimSuffix(message, "]")
	}
	return strings.Split(message, "\n")
}

// namesOf returns how the API server names a kind, as in deployments.apps.
func namesOf(kind metacontroller.Resource) []string {
	names := []string{kind.Kind, kind.Plural}
	if group := kind.Group(); group != "" {
		names = append(names, kind.Kind+"."+group, kind.Plural+"."+group)
	}
	return names
}

// addOutdated adds a child that is not as the hook wants it.
func (w *walk) addOutdated(live Object, links []Link) {
	ref := kube.RefOf(live)
	updated := kube.ConditionIn(w.status, operator.ConditionChildrenUpdated)
	c := w.refusal(ref, Cause{Source: "annotation " + metacontroller.HashAnnotation, Reason: "Outdated", Message: "it is not yet what the newest spec asks for", rank: progressing})
	if c.Since == nil {
		c.Since = at(updated.Since)
	}
	if c.rank == progressing && updated.Reason == "Outdated" {
		c.rank, c.Source, c.Reason, c.Message = stalled, "condition ChildrenUpdated", operator.ReasonUpdateBlocked, kube.ConditionIn(w.status, operator.ConditionReady).Message
	}
	w.add(live, prepend(w.link(live), links), c)
}

// addTaken adds an object whose name a child should have.
func (w *walk) addTaken(live Object, links []Link) {
	owner := "nobody"
	if by, found := kube.ControllerOf(live); found {
		owner = by.String()
	}
	c := Cause{
		Source: "metadata.ownerReferences", Reason: "NameTaken", rank: failing, Since: at(live.GetCreationTimestamp().Time),
		Message: fmt.Sprintf("it exists and belongs to %s, so %s/%s cannot have a child of that name", owner, w.parent.GetKind(), w.parent.GetName()),
		Next:    []string{"nothing by itself: delete it, or choose another name"},
		Look:    "kubectl get " + w.target(kube.RefOf(live)) + " --output=yaml",
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
		case isChild && w.causeOf(object) == nil:
			w.addTaken(object, links)
		case !isChild:
			w.addSelected(object, prepend(w.link(object), links))
		}
	}
}

// causeOf returns the first cause about an object, or nil.
func (w *walk) causeOf(object Object) *Cause {
	i := slices.IndexFunc(w.causes, func(c Cause) bool { return c.Ref == kube.RefOf(object) })
	if i < 0 {
		return nil
	}
	return &w.causes[i]
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
