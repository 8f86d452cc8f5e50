package diff

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// Options are what [Compare] needs beside a dump.
type Options struct {
	dump.Options

	// Ignored are paths in which differences do not count, as in spec.replicas. A path ends at a
	// whole name, everything below it is ignored, too, and [] is any item of a list.
	Ignored []string
}

// EditError is an edited custom resource that the API server refuses.
type EditError struct {
	// Ref names it, Err is the API server's error.
	Ref kube.Ref
	Err error
}

// Error returns the API server's error.
func (e *EditError) Error() string { return e.Err.Error() }

// Compare asks the hooks about each custom resource of a dump. The only error is an [EditError].
func Compare(d *dump.Dump, options Options) (*Report, error) {
	report := &Report{Dump: d.Digest(), Apply: string(options.Apply), Parents: []Parent{}}
	notSeen := map[string]bool{}
	for r := range d.Requests(options.Options) {
		if r.EditErr != nil {
			return nil, &EditError{kube.RefOf(r.Parent), r.EditErr}
		}
		report.Compared++
		for _, kind := range r.NotSeen {
			notSeen[kind.Key()] = true
		}
		parent, rewritten := compare(d, r, options.Ignored)
		report.Rewritten += rewritten
		if !parent.isEmpty() {
			report.Parents = append(report.Parents, parent)
		}
	}
	slices.SortFunc(report.Parents, func(a, b Parent) int { return a.Compare(b.Ref) })
	report.NotSeen = slices.Sorted(maps.Keys(notSeen))
	return report, nil
}

func (p *Parent) isEmpty() bool {
	return p.Refused+p.Failed == "" && len(p.NotCompared)+len(p.Objects)+len(p.Status) == 0
}

// mostNotes is how many syncs in a row may write nothing but the status, where a hook notes what it
// is about to do, until the one that is compared.
const mostNotes = 3

// compare returns what one sync has to tell, and how many objects it writes without a difference.
func compare(d *dump.Dump, r *dump.Request, ignored []string) (p Parent, rewritten int) {
	p = Parent{Ref: kube.RefOf(r.Parent)}
	switch {
	case len(r.Unread) > 0:
		for _, kind := range r.Unread {
			p.NotCompared = append(p.NotCompared, kind.Key())
		}
		return p, 0
	case r.Status == http.StatusBadRequest:
		_, text, _ := strings.Cut(reason(r.Err), ": 400: ")
		p.Refused = text
		return p, 0
	case r.Err != nil && len(r.Refused) == 0:
		p.Failed = reason(r.Err)
		return p, 0
	}
	follow(r, p.Ref)
	for _, ref := range r.Changed() {
		if ref == p.Ref {
			continue
		}
		o, isTold := verdictOn(d, r, ref, ignored)
		if !isTold {
			rewritten += isRewritten(r, ref)
			continue
		}
		p.Objects = append(p.Objects, o)
	}
	for _, refusal := range r.Refused {
		p.Objects = append(p.Objects, Object{Ref: refusal.Child, Verdict: Refused, Reason: refusalOf(d, refusal)})
	}
	slices.SortFunc(p.Objects, func(a, b Object) int { return a.Compare(b.Ref) })
	isUnseen := slices.ContainsFunc(p.Objects, func(o Object) bool { return o.Verdict == NotSeen })
	if after := r.Server.Get(p.Ref); after != nil && !isUnseen {
		p.Status = append(fieldsOf(r.Before[p.Ref], after, ignored), statusFields(r.Before[p.Ref], after, ignored)...)
		p.Ready = readiness(r.Before[p.Ref], after)
	}
	p.recreate(r, ignored)
	return p, rewritten
}

// follow plays on while nothing but the status is written.
func follow(r *dump.Request, parent kube.Ref) {
	for range mostNotes {
		noted := r.Server.Get(parent)
		if changed := r.Changed(); noted == nil || len(changed) != 1 || changed[0] != parent || len(r.Refused) > 0 {
			return
		}
		if r.Again(); r.Server.Get(parent) == noted {
			return
		}
	}
}

// verdictOn returns the verdict on an object that was written, and whether there is one: a write may
// change nothing but bookkeeping.
func verdictOn(d *dump.Dump, r *dump.Request, ref kube.Ref, ignored []string) (Object, bool) {
	before, after := r.Before[ref], r.Server.Get(ref)
	o := Object{Ref: ref}
	switch {
	case before == nil && !d.Sees(ref.APIVersion, ref.Kind):
		o.Verdict = NotSeen
	case before == nil:
		o.Verdict = Created
	case after == nil, after.GetDeletionTimestamp() != nil && before.GetDeletionTimestamp() == nil:
		o.Verdict = Deleted
	default:
		o.Fields = fieldsOf(r.Server.Normalized(before), after, ignored)
		o.Verdict = Changed
		if isRolled(after, o.Fields) {
			o.Verdict = Rolls
		}
		return o, len(o.Fields) > 0
	}
	return o, true
}

// isRewritten returns 1 for an object whose annotations are other ones, or in which something is
// ignored. All else that a write changes is the API server's.
func isRewritten(r *dump.Request, ref kube.Ref) int {
	before, after := r.Before[ref], r.Server.Get(ref)
	if maps.Equal(before.GetAnnotations(), after.GetAnnotations()) && len(fieldsOf(r.Server.Normalized(before), after, nil)) == 0 {
		return 0
	}
	return 1
}

// isRolled reports whether a workload replaces its Pods for these changes.
func isRolled(workload kube.Object, fields []Field) bool {
	ref := kube.RefOf(workload)
	rolling := []metacontroller.Resource{metacontroller.Deployment, metacontroller.StatefulSet, metacontroller.DaemonSet}
	if !slices.ContainsFunc(rolling, ref.Is) || !slices.ContainsFunc(fields, isOfTemplate) {
		return false
	}
	spec, _ := workload.Object["spec"].(map[string]any)
	strategy, _ := spec["updateStrategy"].(map[string]any)
	return spec["paused"] != true && strategy["type"] != "OnDelete"
}

func isOfTemplate(f Field) bool { return strings.HasPrefix(f.Path, "spec.template.") }

// recreate finds the objects that are deleted in favour of another one: of the same name, in the next
// sync, or of an OnDelete kind in this one, under a name of its own.
func (p *Parent) recreate(r *dump.Request, ignored []string) {
	isDeleted := func(o Object) bool { return o.Verdict == Deleted }
	if !slices.ContainsFunc(p.Objects, isDeleted) {
		return
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		at := slices.IndexFunc(p.Objects, func(other Object) bool { return other.Verdict == Created && other.Kind == o.Kind })
		declared, _ := r.Controller.Child(o.APIVersion, o.Kind)
		if o.Verdict == Deleted && at >= 0 && declared.Update == metacontroller.OnDelete {
			o.becomes(r, p.Objects[at].Ref, ignored)
			p.Objects[at].Verdict = "" // it is told with the old one
		}
	}
	p.Objects = slices.DeleteFunc(p.Objects, func(o Object) bool { return o.Verdict == "" })
	r.Again()
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Verdict == Deleted && r.Server.Get(o.Ref) != nil {
			o.becomes(r, o.Ref, ignored)
		}
	}
}

// tokenMount is where the API server mounts the token of a Pod's service account.
const tokenMount = "[/var/run/secrets/kubernetes.io/serviceaccount]"

// becomes makes a deletion the creation of another object. Fields that only the old one has are no
// difference: a cluster adds to an object that is created, and to a Pod its token.
func (o *Object) becomes(r *dump.Request, other kube.Ref, ignored []string) {
	o.Verdict = Recreated
	if other != o.Ref {
		o.As = other.Name
	}
	o.Fields = slices.DeleteFunc(fieldsOf(r.Server.Normalized(r.Before[o.Ref]), r.Server.Get(other), ignored), func(f Field) bool {
		return f.After == nil || f.Path == "metadata.name" || strings.Contains(f.Path, "[kube-api-access-") || strings.Contains(f.Path, tokenMount)
	})
}

// readiness returns how the condition Ready changes, or nothing.
func readiness(before, after kube.Object) string {
	was, is := kube.ConditionOf(before, operator.ConditionReady), kube.ConditionOf(after, operator.ConditionReady)
	if was == is {
		return ""
	}
	text := func(c kube.Condition) string { return strings.TrimSpace("Ready=" + c.Status + " " + c.Reason) }
	line := text(was) + " -> " + text(is)
	if text(was) == text(is) {
		line = text(is)
	}
	return strings.TrimSuffix(line+": "+is.Message, ": ")
}

// reason returns an error in one line. Several errors stand in lines of their own.
func reason(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
	}
	return strings.Join(lines, "; ")
}

// refusalOf returns why a child is refused. The API server's text may quote a Secret, and does not
// say who has a name that is taken.
func refusalOf(d *dump.Dump, refusal composite.Refusal) string {
	if apierrors.IsAlreadyExists(refusal.Err) {
		return taken(d.Get(refusal.Child))
	}
	if !refusal.Child.Is(metacontroller.Secret) {
		return reason(refusal.Err)
	}
	status, isStatus := errors.AsType[*apierrors.StatusError](refusal.Err)
	if !isStatus || status.ErrStatus.Details == nil {
		return "it is refused; the reason may quote a value"
	}
	var causes []string
	for _, cause := range status.ErrStatus.Details.Causes {
		causes = append(causes, fmt.Sprintf("%s: %s", cause.Field, cause.Type))
	}
	return strings.Join(causes, ", ")
}

// taken says who has the name of a child.
func taken(object kube.Object) string {
	owner, isOwned := kube.ControllerOf(object)
	if !isOwned {
		return "an object of this name exists, and belongs to nobody: Metacontroller leaves it alone"
	}
	return fmt.Sprintf("an object of this name exists, and belongs to %s: Metacontroller leaves it alone", owner)
}
