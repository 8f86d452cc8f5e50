package player

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Enabled returns the internal actions that are due in a World with late caches.
func (w *World) Enabled() []Action {
	var list []Action
	for _, kind := range w.composite.PendingKinds() {
		list = append(list, Action{Do: "deliver", Target: kind})
	}
	for _, p := range w.composite.Ready() {
		list = append(list, Action{Do: "sync", Target: p.Ref.String()})
	}
	for _, ref := range w.builtin.Queued() {
		list = append(list, Action{Do: "step", Target: ref.String()})
	}
	if w.builtin.HasNews() {
		list = append(list, Action{Do: "hear", Target: "Pod"})
	}
	if w.builtin.HasGarbage() {
		list = append(list, Action{Do: "collect"})
	}
	if !w.nextTimer().IsZero() {
		list = append(list, Action{Do: "wait", Target: "timer"})
	}
	return list
}

// Do performs an action, and reports whether it had an effect.
func (w *World) Do(a Action) bool {
	done := w.do(a.named(w.options.Controllers...))
	w.flush()
	return done
}

func (w *World) flush() {
	if len(w.events) == 0 {
		return
	}
	w.Steps = append(w.Steps, Step{Number: len(w.Steps) + 1, Time: w.now, Events: w.events})
	w.events = nil
	w.recent = w.recent[max(0, len(w.recent)-remembered):]
}

func (w *World) do(a Action) bool {
	m, k := w.composite, w.builtin
	switch a.Do {
	case "calm":
		return w.calm(a.Target)
	case "deliver":
		if a.Target == "" {
			pending := len(m.PendingKinds()) > 0
			m.DeliverAll()
			return pending
		}
		done := m.Deliver(a.Target)
		for a.Detail == "all" && m.Deliver(a.Target) {
			continue
		}
		return done
	case "relist":
		m.Relist(a.Target)
	case "restart":
		w.note("Metacontroller restarts")
		m.Restart()
	case "sync":
		return w.sync(a.Target, a.Detail)
	case "late-cache":
		isLate := w.unheard() != ""
		synced := w.sync(a.Target, "")
		if synced && !isLate {
			w.missed = "Metacontroller has heard of everything"
		}
		return synced
	case "crash":
		m.DeliverAll()
		return w.sync(a.Target, "crash@"+cmp.Or(a.Detail, "1"))
	case "lose-status":
		m.DeliverAll()
		return w.sync(a.Target, "lose-status")
	case "step":
		ref, found := w.find(a.Target)
		return found && k.Reconcile(ref)
	case "hear":
		if a.Detail == "all" {
			return k.HearOfPods()
		}
		return k.HearOfPod()
	case "collect":
		return k.Collect()
	case "wait":
		return w.pass(a.Target)
	default:
		return w.doExternal(a)
	}
	return true
}

func (w *World) doExternal(a Action) bool {
	switch a.Do {
	case "create":
		return w.noteRefusal(w.create([]byte(a.Detail)))
	case "take-name":
		return w.takeName(a)
	case Fail, Hold, Flap, Evict, LoseNode, Vanish:
		return w.strike(a)
	case "quota", refuse:
		w.refuse(a)
		return true
	case "metric":
		return w.setMetric(a.Target, a.Detail)
	case "mend":
		w.faults = slices.DeleteFunc(w.faults, func(t *faultState) bool { return t.left == 0 }) // the others are to come
		w.server.EndRefusals(func(string, apiserver.Refusal) bool { return true })
		w.builtin.MendNodes()
		w.composite.Retry()
		w.builtin.CheckAll()
		return true
	}
	ref, found := w.find(a.Target)
	return found && w.doTo(ref, a)
}

// doTo performs an action on an object.
func (w *World) doTo(ref kube.Ref, a Action) bool {
	switch a.Do {
	case "edit":
		return w.noteRefusal(w.server.Patch(apiserver.ByUser, ref, []byte(a.Detail)))
	case "delete":
		return w.noteRefusal(w.server.DeleteCascading(apiserver.ByUser, ref, a.Detail))
	case "drain":
		return w.drain(a, ref)
	case "due":
		w.note("the schedule of " + ref.String() + " is due")
		w.builtin.SetDue(ref)
	default:
		return false
	}
	return true
}

// drain evicts a Pod, or those of an object, through the API.
func (w *World) drain(a Action, ref kube.Ref) bool {
	pods := w.podsOf([]kube.Object{w.server.Get(ref)})
	if len(pods) > 0 {
		w.note(a.now().String())
	}
	done := false
	for _, pod := range pods {
		done = w.noteRefusal(w.builtin.Drain(kube.RefOf(pod))) || done
	}
	return done
}

// strike does at once what has a name for its target. A flap goes on where the one before has ended.
func (w *World) strike(a Action) bool {
	at := slices.IndexFunc(w.faults, func(f *faultState) bool { return f.Do == Flap && f.now() == a.now() })
	f := &faultState{Action: a}
	if at >= 0 {
		f = w.faults[at]
	}
	f.left = 1
	w.trigger(f)
	if at < 0 && f.met && isLasting(a.Do) {
		w.faults = append(w.faults, f)
	}
	return f.met
}

// setMetric sets what the autoscaler of a name measures, in percent of its target value.
func (w *World) setMetric(name, percent string) bool {
	ref, found := w.find(metacontroller.HorizontalPodAutoscaler.Kind + "/" + name)
	value, err := strconv.Atoi(percent)
	if !found || err != nil || value < 0 {
		return false
	}
	w.note(fmt.Sprintf("%s measures %d%% of its target", ref, value))
	w.builtin.SetMetric(ref, value)
	return true
}

func (w *World) noteRefusal(err error) bool {
	if err != nil {
		w.note("refused: " + err.Error())
		w.refusals++
	}
	return err == nil
}

func (w *World) note(detail string) {
	w.events = append(w.events, Event{Verb: Struck, Detail: detail})
}

func (w *World) calm(number string) bool {
	n, err := strconv.Atoi(cmp.Or(number, "1"))
	if err != nil {
		return false
	}
	done := false
	for range n {
		if w.server.Full() != nil {
			break
		}
		busy := w.Step()
		done = done || busy
		if !busy && !w.wait() {
			break
		}
	}
	return done
}

func (w *World) sync(target, trouble string) bool {
	ref, found := w.find(target)
	if !found || !w.isParentKind(ref) || w.composite.Heard(ref) == nil {
		return false
	}
	fault, err := composite.ParseFault(trouble)
	if err != nil {
		return false
	}
	if unheard := w.unheard(); unheard != "" {
		w.note(fmt.Sprintf("sync of %s, not having heard that %s", ref, unheard))
	}
	synced, struck := w.composite.Sync(ref, fault)
	if synced && !struck {
		w.missed = "the sync writes too little for that"
	}
	return synced
}

func (w *World) pass(duration string) bool {
	if duration != "timer" {
		d, err := time.ParseDuration(duration)
		if err != nil || d <= 0 {
			return false
		}
		w.now = w.now.Add(d)
	} else if next := w.nextTimer(); next.IsZero() {
		return false
	} else if next.After(w.now) {
		w.now = next
	}
	w.builtin.Wake()
	return true
}

// find returns the object of a kind and name, in the first of its namespaces.
// It may exist only in Metacontroller's cache.
func (w *World) find(target string) (kube.Ref, bool) {
	kind, name, _ := strings.Cut(target, "/")
	ref, found := w.server.Named(kind, name)
	if heard, cached := w.composite.Named(kind, name); cached && (!found || heard.Compare(ref) < 0) {
		return heard, true
	}
	return ref, found
}

// create applies an object that does not exist yet, or a custom resource.
func (w *World) create(text []byte) error {
	object, err := kube.ParseObject(text)
	if err != nil {
		return err
	}
	object.SetNamespace(cmp.Or(object.GetNamespace(), metav1.NamespaceDefault))
	if ref := kube.RefOf(object); w.server.Get(ref) != nil && !w.isParentKind(ref) {
		return apierrors.NewAlreadyExists(w.server.Kind(ref.APIVersion, ref.Kind).GroupResource(), ref.Name)
	}
	return w.Apply(text)
}
