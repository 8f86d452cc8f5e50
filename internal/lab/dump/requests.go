package dump

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Options are what [Dump.Requests] needs.
type Options struct {
	// Controllers are the operators whose custom resources are asked about, Call calls their hooks.
	Controllers []metacontroller.Controller
	Call        composite.Call
	// Apply is the apply strategy; the default is DynamicApply.
	Apply composite.Strategy
	// Now is the time that hooks are handed; the default is that of the dump.
	Now time.Time
	// Only chooses among the custom resources; nil are all of them.
	Only func(kube.Ref) bool
	// Edits are custom resources that are applied before the hooks are asked, as a person does.
	Edits map[kube.Ref]kube.Object
}

// Request is one sync of a custom resource, in a cluster that has nothing but what the sync reads.
type Request struct {
	// Controller is the operator of Parent, which is as the API server reads it, with the defaults
	// of the operator's CRD, and with its edit.
	Controller *metacontroller.Controller
	Parent     kube.Object
	// Hook is which one was asked, Body the request and Answer the answer. They are empty if the
	// sync has not come that far.
	Hook   metacontroller.HookName
	Body   []byte
	Answer []byte
	// Status is the HTTP status of the answer.
	Status int
	// Wanted are the children in the answer.
	Wanted []kube.Ref
	// EditErr is why the API server refuses the edit: then no hook was asked.
	EditErr error
	// Err is why the sync has failed, Refused are the children that the API server refuses.
	Err     error
	Refused []composite.Refusal
	// NotSeen are the declared kinds of children and related objects that the dump lacks, see
	// [Dump.Sees]. Unread are those that the customize hook has selected from: the hook was asked
	// with less than it reads.
	NotSeen, Unread []metacontroller.Resource
	// Before are the objects as the dump has them, and Server is after the sync.
	Before map[kube.Ref]kube.Object
	Server *apiserver.Server

	again func()
}

// Again syncs once more, when the objects that the sync has deleted are gone.
func (r *Request) Again() {
	for _, object := range r.Server.Objects() {
		before := r.Before[kube.RefOf(object)]
		if object.GetDeletionTimestamp() != nil && (before == nil || before.GetDeletionTimestamp() == nil) {
			r.Server.Remove(apiserver.ByKubernetes, kube.RefOf(object))
		}
	}
	r.again()
}

// Requests syncs each custom resource of the operators once, in the order of kinds and names. What
// one sync changes no other sees, and the dump stays as it is.
func (d *Dump) Requests(options Options) iter.Seq[*Request] {
	options.Now = cmp.Or(options.Now, d.newest)
	options.Apply = cmp.Or(options.Apply, composite.DynamicApply)
	memory := composite.NewMemory()
	return func(yield func(*Request) bool) {
		for i := range options.Controllers {
			c := &options.Controllers[i]
			for _, ref := range d.parents(c, options.Edits) {
				if options.Only != nil && !options.Only(ref) {
					continue
				}
				s := &syncer{dump: d, options: options, memory: memory, request: &Request{Controller: c, NotSeen: d.notSeen(c)}}
				s.sync(ref)
				memory.Forget()
				if !yield(s.request) {
					return
				}
			}
		}
	}
}

// parents returns the custom resources of an operator, those that an edit creates among them.
func (d *Dump) parents(c *metacontroller.Controller, edits map[kube.Ref]kube.Object) []kube.Ref {
	refs := d.Refs(c.Parent.APIVersion, c.Parent.Kind)
	for ref := range edits {
		if ref.Is(c.Parent) && d.entries[ref] == nil {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, kube.Ref.Compare)
	return refs
}

func (d *Dump) notSeen(c *metacontroller.Controller) (kinds []metacontroller.Resource) {
	for _, child := range c.Children {
		if !d.Sees(child.APIVersion, child.Kind) {
			kinds = append(kinds, child.Resource)
		}
	}
	for _, related := range c.Related {
		if !d.Sees(related.APIVersion, related.Kind) && !slices.Contains(kinds, related.Resource) {
			kinds = append(kinds, related.Resource)
		}
	}
	return kinds
}

// syncer plays one sync.
type syncer struct {
	dump    *Dump
	options Options
	memory  *composite.Memory
	request *Request
}

func (s *syncer) sync(ref kube.Ref) {
	r := s.request
	r.Before = map[kube.Ref]kube.Object{}
	r.Server = apiserver.New(apiserver.Options{
		Now: func() time.Time { return s.options.Now }, Kinds: s.memory.Kinds(s.options.Controllers),
	})
	m := composite.New(r.Server, composite.Options{
		Controllers: s.options.Controllers, Installation: manifests.Operetta(), Call: s.call, Apply: s.options.Apply,
		HookVersion: "v2", Memory: s.memory,
	})
	m.Watch(s.answered, func(refusal composite.Refusal) { r.Refused = append(r.Refused, refusal) })
	if r.EditErr = s.loadParent(ref); r.EditErr != nil {
		return
	}
	uid := r.Parent.GetUID()
	for _, child := range slices.Concat(s.dump.byOwner[uid], s.dump.byLabel[string(uid)]) {
		if _, isDeclared := r.Controller.Child(child.ref.APIVersion, child.ref.Kind); isDeclared {
			s.load(child.ref)
		}
	}
	r.Answer, r.Err = m.Resync(ref)
	r.again = func() { _, _ = m.Resync(ref) } // whoever asks looks at what is there then
}

// load puts an object of the dump into the cluster.
func (s *syncer) load(ref kube.Ref) {
	if object := s.dump.Get(ref); object != nil && s.request.Before[ref] == nil {
		s.request.Before[ref] = object
		s.request.Server.Load(object, s.options.Apply == composite.ServerSideApply)
	}
}

// loadParent puts the custom resource there as the API server reads it, and edits it.
func (s *syncer) loadParent(ref kube.Ref) (err error) {
	r := s.request
	edit := s.options.Edits[ref]
	live := s.dump.Get(ref)
	if live == nil {
		r.Parent = edit
		created, err := r.Server.Create(apiserver.ByUser, edit)
		if err == nil {
			r.Parent, r.Before[ref] = created, created
		}
		return err
	}
	definition, err := r.Controller.Schema()
	if err != nil {
		return err
	}
	if definition != nil {
		definition.Complete(live.Object)
	}
	r.Parent = live
	r.Server.Load(live, false)
	if edit != nil {
		if _, err = r.Server.Update(apiserver.ByUser, edited(live, edit)); err == nil {
			r.Parent = r.Server.Get(ref)
		}
	}
	r.Before[ref] = r.Parent
	return err
}

// edited returns what a user writes who edits an object: labels and annotations that others have
// added stay, as do finalizers and owners that the edit does not name.
func edited(live, edit kube.Object) kube.Object {
	object := edit.DeepCopy()
	object.SetLabels(labels.Merge(live.GetLabels(), edit.GetLabels()))
	object.SetAnnotations(labels.Merge(live.GetAnnotations(), edit.GetAnnotations()))
	if len(object.GetFinalizers()) == 0 {
		object.SetFinalizers(live.GetFinalizers())
	}
	if len(object.GetOwnerReferences()) == 0 {
		object.SetOwnerReferences(live.GetOwnerReferences())
	}
	unstructured.RemoveNestedField(object.Object, "metadata", "resourceVersion")
	return object
}

// call calls a hook. What its customize hook selects is in the cluster before the answer is read.
func (s *syncer) call(now time.Time, path string, body []byte) (int, []byte, error) {
	hook := metacontroller.HookName(path[strings.LastIndexByte(path, '/')+1:])
	if hook != metacontroller.CustomizeHook {
		s.request.Hook, s.request.Body = hook, slices.Clone(body)
	}
	status, answer, err := s.options.Call(now, path, body)
	s.request.Status = status
	if hook == metacontroller.CustomizeHook && err == nil {
		s.loadRelated(answer)
	}
	return status, answer, err
}

// answered puts the objects there that stand where a child shall be: they may belong to others.
func (s *syncer) answered(answer composite.Answer) {
	s.request.Wanted = answer.Children
	for _, ref := range answer.Children {
		s.load(ref)
	}
}

// Changed returns the objects that the sync has written, in the order of kinds and names.
func (r *Request) Changed() []kube.Ref {
	refs := map[kube.Ref]bool{}
	for ref, before := range r.Before {
		refs[ref] = r.Server.Get(ref) != before
	}
	for _, object := range r.Server.Objects() {
		ref := kube.RefOf(object)
		refs[ref] = object != r.Before[ref]
	}
	maps.DeleteFunc(refs, func(_ kube.Ref, isChanged bool) bool { return !isChanged })
	return slices.SortedFunc(maps.Keys(refs), kube.Ref.Compare)
}
