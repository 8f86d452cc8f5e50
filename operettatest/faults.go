package operettatest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/cluster/controllers"
	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/why"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// How soon a status has to say what the world shows.
const (
	tellWithin  = 5 * time.Second
	countWithin = operator.ProgressInterval // where only a count changes, or nothing but time tells that it is a fault
	// forgetWithin is how long a kubelet remembers that a container has ended.
	forgetWithin = 10 * time.Minute
)

// fault is something that goes wrong in the cluster, and what it may make of a status.
type fault struct {
	controllers.Trouble

	target string
	later  bool // it begins once everything is Ready
}

func (f fault) action() player.Action {
	return player.Action{Do: player.Fail, Target: f.target, Detail: f.Name}
}

func (f fault) String() string {
	when := ""
	if f.later {
		when = " later"
	}
	return f.action().String() + when
}

// within returns how soon it has to be told once a Pod shows it.
func (f fault) within() time.Duration {
	if f.OnlyEvents { // and not before its start takes long
		return 2*countWithin + tellWithin
	}
	if strings.HasSuffix(f.Name, "-probe") {
		return countWithin + tellWithin
	}
	return tellWithin
}

// words are what a status says of it: of what only Events tell, the command that shows them.
func (f fault) words() string {
	if f.OnlyEvents {
		return "kubectl"
	}
	return f.Words
}

// faultsAreTold holds each sample to what a status says of trouble, for each trouble that its Pods can have:
// it is told soon, in the words of who knows; as long as it lasts; with the right Degraded; no longer than it
// lasts; and why tells the same.
func (k kind) faultsAreTold(t *testing.T) {
	if !k.readsPods() {
		t.Skip("it reads no Pods: kubectl operetta why tells")
	}
	k.eachSample(t, func(t *testing.T, sample corpus.Sample) {
		for _, apply := range strategies {
			for _, f := range k.faultsOf(t, sample) {
				if !testenv.Often(sample.Name+string(apply)+f.String(), 4) {
					continue
				}
				t.Run(fmt.Sprintf("%s %s", f, apply), func(t *testing.T) {
					t.Parallel()
					w := k.watch(sample, apply, f)
					w.play(t)
					if len(w.vain) > 0 || w.first.IsZero() {
						t.Skip("it cannot happen there")
					}
					require.Empty(t, w.problems, "%s", w.story)
				})
			}
		}
	})
}

// readsPods reports whether requests may show Pods.
func (k kind) readsPods() bool {
	_, isChild := k.Child("v1", "Pod")
	return isChild || slices.ContainsFunc(k.Related, func(r metacontroller.Related) bool { return r.Resource == metacontroller.Pod })
}

// faultsOf returns what can happen to the Pods of a sample: of each kind of children that make Pods, to those of
// the first.
func (k kind) faultsOf(t *testing.T, sample corpus.Sample) (list []fault) {
	world := k.world(player.DynamicApply, "v2")
	require.NoError(t, world.Apply(sample.Parent))
	require.NoError(t, world.Play())
	for _, target := range targetsOf(world) {
		for _, trouble := range controllers.Troubles() {
			for _, later := range []bool{false, true} {
				list = append(list, fault{trouble, target, later})
			}
		}
	}
	return list
}

// targetsOf returns the first child of each kind that makes Pods.
func targetsOf(world *player.World) (targets []string) {
	kinds := map[string]bool{}
	for _, pod := range world.List("v1", "Pod") {
		child := topOf(world, pod)
		if child != nil && !kinds[child.GetKind()] {
			kinds[child.GetKind()] = true
			targets = append(targets, child.GetKind()+"/"+child.GetName())
		}
	}
	return targets
}

// topOf returns the child of a custom resource that has made a Pod, or nil.
func topOf(world *player.World, object Object) Object {
	for object != nil {
		owner, found := kube.ControllerOf(object)
		above := world.Get(owner)
		if !found || above == nil {
			return nil
		}
		if world.IsOfParent(above) {
			return object
		}
		object = above
	}
	return nil
}

// watched is a world with a fault, and what has been seen of it.
type watched struct {
	fault

	k        kind
	world    *player.World
	problems []string
	vain     []player.Vain
	story    string
	// first is when Pods first showed it, and unsaid since when they show it and no condition says so, or zero.
	first, unsaid time.Time
	degraded      bool      // it has been told with Degraded
	changed       time.Time // when anything but a custom resource changed last, and spoke when that did
	spoke         time.Time
}

func (k kind) watch(sample corpus.Sample, apply player.Strategy, f fault) *watched {
	w := &watched{fault: f, k: k}
	var actions []player.Action
	if !f.later {
		actions = append(actions, f.action())
	}
	w.world = k.world(apply, "v2", actions...)
	w.world.Watch(func(c player.Write) {
		if w.world.IsOfParent(cmp.Or(c.After, c.Before)) {
			w.spoke = w.world.Now()
		} else {
			w.changed = w.world.Now()
		}
	}, nil, nil)
	if err := w.world.Apply(sample.Parent); err != nil {
		w.failf("it is refused: %s", err)
	}
	return w
}

func (w *watched) failf(format string, of ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, of...))
}

// play plays it to its end, mends it, and plays on.
func (w *watched) play(t *testing.T) {
	if w.later {
		require.NoError(t, w.world.Play())
		w.world.Do(w.action())
	}
	w.rest(w.look)
	w.vain = w.world.InVain()
	if w.first.IsZero() {
		return
	}
	w.atRest()
	w.story = w.text()
	if w.isFinal() {
		return
	}
	w.world.Do(player.Action{Do: "mend"})
	w.rest(func(time.Time) {})
	w.isOver()
}

// rest plays until nothing happens any more, or for ten minutes, and looks at each state for as long as it lasts.
func (w *watched) rest(look func(until time.Time)) {
	for range 600 {
		busy, next := w.world.Step(), w.world.Now()
		if !busy {
			next = w.world.Next()
			if next.IsZero() {
				return
			}
		}
		look(next)
		if !busy && next.After(w.world.Now()) {
			w.world.Do(player.Action{Do: "wait", Target: "timer"})
		}
	}
}

// look looks at a state that lasts until then.
func (w *watched) look(until time.Time) {
	pods := w.pods()
	if !slices.ContainsFunc(pods, w.isShown) {
		w.unsaid = time.Time{}
		return
	}
	if w.first.IsZero() {
		w.first = w.world.Now()
	}
	said, degraded := w.said(pods)
	switch {
	case said:
		w.unsaid = time.Time{}
		if w.degraded && !degraded {
			w.failf("held: at %s Degraded is not True any more, and it lasts", w.at())
		}
		w.degraded = degraded
		return
	case w.unsaid.IsZero():
		w.unsaid = w.world.Now()
	}
	if until.Sub(w.unsaid) > w.within() {
		w.failf("told: from %s to %s no condition says %q of a Pod: %s", w.unsaid.Format(time.TimeOnly), until.Format(time.TimeOnly), w.words(), w.ready())
		w.unsaid = until
	}
}

func (w *watched) at() string { return w.world.Now().Format(time.TimeOnly) }

func (w *watched) isShown(object Object) bool {
	pod := new(corev1.Pod)
	return kube.Decode(object, pod) == nil && w.Shows(pod)
}

// pods returns the Pods of the target.
func (w *watched) pods() []Object {
	return slices.DeleteFunc(w.world.List("v1", "Pod"), func(pod Object) bool {
		top := topOf(w.world, pod)
		return top == nil || top.GetKind()+"/"+top.GetName() != w.target
	})
}

// said reports whether a condition says it of one of the Pods, or of the object that makes them, and whether Degraded
// is True.
func (w *watched) said(pods []Object) (said, degraded bool) {
	parent := w.world.Parents()[0]
	_, target, _ := strings.Cut(w.target, "/")
	names := []string{target}
	for _, pod := range pods {
		names = append(names, pod.GetName())
	}
	for _, c := range kube.ConditionsIn(parent.Object["status"]) {
		isNamed := slices.ContainsFunc(names, func(name string) bool { return strings.Contains(c.Message, name) || name == parent.GetName() })
		said = said || isNamed && strings.Contains(c.Message, w.words())
		degraded = degraded || c.Type == operator.ConditionDegraded && c.Status == "True"
	}
	return said, degraded
}

func (w *watched) ready() string {
	c := kube.ConditionOf(w.world.Parents()[0], operator.ConditionReady)
	return fmt.Sprintf("Ready=%s %s: %s", c.Status, c.Reason, c.Message)
}

// atRest holds what has come of it to what a person needs.
func (w *watched) atRest() {
	parent := w.world.Parents()[0]
	ready, degraded := kube.ConditionOf(parent, operator.ConditionReady), kube.ConditionOf(parent, operator.ConditionDegraded)
	if !slices.ContainsFunc(w.pods(), w.isShown) {
		return
	}
	if ready.Status == "True" {
		w.failf("judged: it is Ready")
	}
	if degraded.Status != "True" {
		w.failf("judged: Degraded is %s at the end", degraded.Status)
	}
	if words := w.why(); !strings.Contains(strings.ToLower(words), strings.ToLower(w.Words)) {
		w.failf("true of all: the first cause of why is %q", words)
	}
}

// why returns the first cause that the command names.
func (w *watched) why() string {
	var items []any
	for _, object := range slices.Concat(w.world.Objects(), w.world.Events()) {
		items = append(items, object.Object)
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err != nil {
		return err.Error()
	}
	d, err := dump.Read(bytes.NewReader(text))
	if err != nil {
		return err.Error()
	}
	options := dump.Options{Controllers: w.k.all, Call: player.Direct(w.k.all...), Now: w.world.Now()}
	for subject := range why.FromDump(d, options, why.Selection{Kind: w.k.Name()}) {
		for _, cause := range subject.Explain().Because {
			return cause.Ref.Kind + " " + cause.Reason + ": " + cause.Message
		}
	}
	return ""
}

// isFinal reports whether the Pods have ended for good: no mending undoes that.
func (w *watched) isFinal() bool {
	if job := w.world.Get(w.ref()); job != nil && kube.ConditionOf(job, "Failed").Status == "True" {
		return true
	}
	return slices.ContainsFunc(w.pods(), func(pod Object) bool {
		phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
		return phase == string(corev1.PodFailed)
	})
}

// isOver wants nothing of it to stay, and the conditions to say so soon.
func (w *watched) isOver() {
	parent := w.world.Parents()[0]
	if w.isFinal() { // its time was over
		return
	}
	for _, c := range kube.ConditionsIn(parent.Object["status"]) {
		isBad := (c.Type == operator.ConditionDegraded || c.Type == operator.ConditionStalled) && c.Status == "True"
		if isBad || strings.Contains(c.Message, w.words()) {
			w.failf("over: it is mended, and %s=%s says %s", c.Type, c.Status, c.Message)
		}
	}
	late := tellWithin
	if w.IsLoop() {
		late += forgetWithin
	}
	if gap := w.spoke.Sub(w.changed); gap > late {
		w.failf("over: the last change of the status comes %s after the last of the cluster", gap)
	}
}

func (w *watched) ref() kube.Ref {
	for _, object := range w.world.Objects() {
		if ref := kube.RefOf(object); ref.String() == w.target && !w.world.IsOfParent(object) {
			return ref
		}
	}
	return kube.Ref{}
}

// text returns what happened, for a failure.
func (w *watched) text() string {
	var lines []string
	last := ""
	for _, step := range w.world.Steps {
		for _, event := range step.Events {
			if event.Object == nil || !w.world.IsOfParent(event.Object) {
				continue
			}
			c := kube.ConditionOf(event.Object, operator.ConditionReady)
			line := fmt.Sprintf("Ready=%s %s: %s; Degraded=%s", c.Status, c.Reason, c.Message, kube.ConditionOf(event.Object, operator.ConditionDegraded).Status)
			if line != last {
				lines = append(lines, step.Time.Format(time.TimeOnly)+" "+line)
				last = line
			}
		}
	}
	return strings.Join(lines, "\n")
}
