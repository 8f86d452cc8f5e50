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
	player.Action

	// trouble is what happens to Pods, or nil: then its end is looked at, and not what leads there.
	trouble *controllers.Trouble
	// words are what a status says of it that does not get over it.
	words string
	later bool   // it begins once everything is Ready, or a Pod that is to end runs
	does  string // what happens, where the action does not say it
	child string // the name of what makes the Pods

	isVain bool // there is nothing to which it could happen
}

// faults returns all that may happen to a child that makes Pods, and to its Pods. A child that is a Pod stands
// for all that run its image: the hook may replace it by another.
func faults(child, pod Object) (list []fault) {
	target := kube.RefOf(child).String()
	pods, isPod := target, child.GetKind() == "Pod"
	if containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers"); isPod {
		pods = fmt.Sprintf("Image/%s", containers[0].(map[string]any)["image"])
	}
	for _, trouble := range controllers.Troubles() {
		f := fault{Action: player.Action{Do: player.Fail, Target: pods, Detail: trouble.Name}, trouble: &trouble, words: trouble.Words}
		later := f
		later.later = true
		list = append(list, f, later)
	}
	for _, f := range []fault{
		{Action: player.Action{Do: player.Fail, Target: "PersistentVolumeClaim"}, words: "unbound", does: "a volume claim is not bound"},
		{Action: player.Action{Do: player.Fail, Target: "Service"}, words: "no address", does: "a load balancer gets no address"},
		{Action: player.Action{Do: player.Evict, Target: target, Detail: "memory"}, words: "Evicted", later: true},
		{Action: player.Action{Do: player.Evict, Target: target, Detail: "disk"}, words: "Evicted", later: true},
		{Action: player.Action{Do: player.Evict, Target: target, Detail: controllers.Preempted}, words: "Preempt", later: true},
		{Action: player.Action{Do: "drain", Target: target}, words: "Eviction", later: true},
		{Action: player.Action{Do: player.Vanish, Target: kube.RefOf(pod).String()}, words: "eleted|terminating", later: true},
		{Action: player.Action{Do: player.LoseNode, Target: target}, words: "node", later: true},
		{Action: player.Action{Do: "quota", Target: "Pod"}, words: "exceeded quota"},
		{Action: player.Action{Do: "refuse", Target: "Pod", Detail: "pod-security"}, words: "violates PodSecurity"},
		{Action: player.Action{Do: "refuse", Target: "Pod", Detail: "service-account"}, words: "serviceaccount"},
		{Action: player.Action{Do: "refuse", Target: "Pod", Detail: "webhook"}, words: "denied the request"},
		{Action: player.Action{Do: "refuse", Target: "Service", Detail: "node-port"}, words: "Service/"},
		{Action: player.Action{Do: "take-name", Target: target}, words: target},
		{Action: player.Action{Do: "take-name", Target: target, Detail: player.Ownerless}, words: target},
		{Action: player.Action{Do: "edit", Target: target, Detail: `{"spec":{"paused":true}}`}, words: "paused", later: true, does: "somebody pauses it"},
		{Action: player.Action{Do: "edit", Target: target, Detail: `{"spec":{"replicas":5}}`}, words: "5", later: true, does: "somebody scales it"},
	} {
		if f.Do != "edit" || child.GetKind() == "Deployment" {
			list = append(list, f)
		}
	}
	for i := range list {
		list[i].child = child.GetName()
	}
	return list
}

// aim completes a target that is a kind, of something beside the Pods, and reports whether there is any.
func (f *fault) aim(world *player.World) bool {
	if f.Do != player.Fail || strings.Contains(f.Target, "/") {
		return true
	}
	for _, object := range world.List("v1", f.Target) {
		serviceType, _, _ := unstructured.NestedString(object.Object, "spec", "type")
		if f.Target != "Service" || serviceType == "LoadBalancer" {
			f.Target = kube.RefOf(object).String()
			return true
		}
	}
	return false
}

func (f fault) String() string {
	when := ""
	if f.later {
		when = " later"
	}
	return f.Action.String() + when
}

// within returns how soon it has to be told once a Pod shows it.
func (f fault) within() time.Duration {
	if f.trouble.OnlyEvents { // and not before its start takes long
		return 2*countWithin + tellWithin
	}
	if strings.HasSuffix(f.trouble.Name, "-probe") {
		return countWithin + tellWithin
	}
	return tellWithin
}

// said reports whether a sentence says it: of what only Events tell, the command that shows them is enough.
func (f fault) says(sentence string) bool {
	onlyEvents := f.trouble == nil || f.trouble.OnlyEvents
	return onlyEvents && strings.Contains(sentence, "kubectl") || slices.ContainsFunc(strings.Split(f.words, "|"), func(word string) bool {
		return strings.Contains(sentence, word)
	})
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
				name := sample.Name + string(apply) + f.String()
				if !testenv.Often(name, 12) || apply != strategies[0] && !testenv.Sampled(name, 3) {
					continue
				}
				t.Run(fmt.Sprintf("%s %s", f, apply), func(t *testing.T) {
					t.Parallel()
					w := k.watch(sample, apply, f)
					w.play(t)
					if !w.hasHappened() {
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

// faultsOf returns what can happen to the children of a sample: of each kind of children that make Pods, to the
// first.
func (k kind) faultsOf(t *testing.T, sample corpus.Sample) (list []fault) {
	world, kinds := k.world(player.DynamicApply, "v2"), map[string]bool{}
	world.Watch(func(c player.Write) {
		if c.Before != nil || c.After.GetKind() != "Pod" {
			return
		}
		if child := topOf(world, c.After); child != nil && !kinds[child.GetKind()] {
			kinds[child.GetKind()] = true
			list = append(list, faults(child, c.After)...)
		}
	}, nil, nil)
	for _, text := range sample.Objects() {
		require.NoError(t, world.Apply(text))
	}
	require.NoError(t, world.Play())
	for i := range list {
		list[i].isVain = !list[i].aim(world)
	}
	return slices.DeleteFunc(list, func(f fault) bool { return f.isVain })
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
	end      string // what the status says before it is mended
	// first is when Pods first showed it, and unsaid since when they show it and no condition says so, or zero.
	first, unsaid time.Time
	degraded      bool      // it has been told with Degraded
	changed       time.Time // when anything but a custom resource changed last, and spoke when that did
	spoke         time.Time
}

func (k kind) watch(sample corpus.Sample, apply player.Strategy, f fault) *watched {
	w := &watched{fault: f, k: k}
	var actions []player.Action
	if !f.later && f.Do == player.Fail {
		actions = append(actions, f.Action)
	}
	w.world = k.world(apply, "v2", actions...)
	w.world.Watch(func(c player.Write) {
		if w.world.IsOfParent(cmp.Or(c.After, c.Before)) {
			w.spoke = w.world.Now()
		} else {
			w.changed = w.world.Now()
		}
	}, nil, nil)
	for _, text := range sample.Objects() {
		if err := w.world.Apply(text); err != nil {
			w.failf("it is refused: %s", err)
		}
	}
	return w
}

// hasHappened reports whether there was anything to which it could happen.
func (w *watched) hasHappened() bool {
	if w.Do == "quota" || w.Do == "refuse" {
		return slices.ContainsFunc(w.world.Events(), func(event Object) bool {
			message, _, _ := unstructured.NestedString(event.Object, "message")
			return strings.Contains(message, w.words) || strings.Contains(message, "already allocated")
		})
	}
	return !w.isVain && len(w.vain) == 0 && (w.trouble == nil || !w.first.IsZero())
}

func (w *watched) failf(format string, of ...any) {
	w.problems = append(w.problems, fmt.Sprintf(format, of...))
}

// play plays it to its end, mends it, and plays on.
func (w *watched) play(t *testing.T) {
	switch {
	case w.later:
		w.untilPodsRun(t)
		w.isVain = !w.world.Do(w.Action)
	case w.Do != player.Fail:
		w.isVain = !w.world.Do(w.Action)
	}
	w.rest(w.look)
	w.vain = w.world.InVain()
	if w.first.IsZero() && w.trouble != nil {
		return
	}
	w.atRest()
	w.story, w.end = w.text(), w.cellOf()
	if w.isFinal() {
		return
	}
	w.world.Do(player.Action{Do: "mend"})
	if w.Do == "take-name" {
		_ = w.world.Delete(w.ref()) // it is somebody else's
	}
	w.rest(func(time.Time) {})
	w.isOver()
}

// untilPodsRun plays until everything is at rest, or until a Pod runs that is to end.
func (w *watched) untilPodsRun(t *testing.T) {
	for range 100 {
		for _, pod := range w.pods() {
			policy, _, _ := unstructured.NestedString(pod.Object, "spec", "restartPolicy")
			phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
			if policy != "" && policy != string(corev1.RestartPolicyAlways) && phase == string(corev1.PodRunning) {
				return
			}
		}
		if !w.world.Step() {
			break
		}
	}
	require.NoError(t, w.world.Play())
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
	if w.trouble == nil || !slices.ContainsFunc(pods, w.isShown) {
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
		w.failf("told: from %s to %s no condition says %q of a Pod: %s", w.unsaid.Format(time.TimeOnly), until.Format(time.TimeOnly), w.words, w.ready())
		w.unsaid = until
	}
}

func (w *watched) at() string { return w.world.Now().Format(time.TimeOnly) }

func (w *watched) isShown(object Object) bool {
	pod := new(corev1.Pod)
	return kube.Decode(object, pod) == nil && w.trouble.Shows(pod)
}

// pods returns the Pods of the target.
func (w *watched) pods() []Object {
	return slices.DeleteFunc(w.world.List("v1", "Pod"), func(pod Object) bool {
		top := topOf(w.world, pod)
		isMeant := top != nil && (kube.RefOf(top).String() == w.Target || kube.RefOf(pod).String() == w.Target || strings.HasPrefix(w.Target, "Image/"))
		return !isMeant
	})
}

// said reports whether a condition says it of one of the Pods, or of the object that makes them, and whether Degraded
// is True.
func (w *watched) said(pods []Object) (said, degraded bool) {
	parent := w.parent()
	_, target, _ := strings.Cut(w.Target, "/")
	names := []string{target}
	for _, pod := range pods {
		names = append(names, pod.GetName())
	}
	for _, c := range kube.ConditionsIn(parent.Object["status"]) {
		isNamed := slices.ContainsFunc(names, func(name string) bool { return strings.Contains(c.Message, name) || name == parent.GetName() })
		said = said || isNamed && w.says(c.Message)
		degraded = degraded || c.Type == operator.ConditionDegraded && c.Status == "True"
	}
	return said, degraded
}

// parent returns the custom resource of the kind.
func (w *watched) parent() Object {
	for _, parent := range w.world.Parents() {
		if parent.GetKind() == w.k.Parent.Kind {
			return parent
		}
	}
	return w.world.Parents()[0]
}

func (w *watched) ready() string {
	c := kube.ConditionOf(w.parent(), operator.ConditionReady)
	return fmt.Sprintf("Ready=%s %s: %s", c.Status, c.Reason, c.Message)
}

// atRest holds what has come of it to what a person needs.
func (w *watched) atRest() {
	parent := w.parent()
	ready, degraded := kube.ConditionOf(parent, operator.ConditionReady), kube.ConditionOf(parent, operator.ConditionDegraded)
	switch {
	case w.trouble == nil && ready.Status == "True":
		return // it got over it
	case w.trouble == nil && !w.says(ready.Message):
		w.failf("told: at the end it does not say %q: %s", w.words, w.ready())
	case w.trouble != nil && !slices.ContainsFunc(w.pods(), w.isShown):
		return
	case ready.Status == "True":
		w.failf("judged: it is Ready")
	}
	if degraded.Status != "True" {
		w.failf("judged: Degraded is %s at the end", degraded.Status)
	}
	if w.trouble == nil && w.later && len(w.pods()) == 0 {
		return // nobody but the status tells of Pods that are gone
	}
	if words := w.why(); !strings.Contains(strings.ToLower(words), strings.ToLower(w.words)) {
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
			return cause.Ref.Kind + "/" + cause.Ref.Name + " " + cause.Reason + ": " + cause.Message
		}
	}
	return ""
}

// isFinal reports whether the Pods have ended for good: no mending undoes that.
func (w *watched) isFinal() bool {
	for _, object := range []Object{w.world.Get(w.ref()), w.parent()} {
		if object != nil && (kube.ConditionOf(object, "Failed").Status == "True" || kube.ConditionOf(object, "Succeeded").Status == "False") {
			return true
		}
	}
	return slices.ContainsFunc(w.pods(), func(pod Object) bool {
		phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
		return phase == string(corev1.PodFailed)
	})
}

// isOver wants nothing of it to stay, and the conditions to say so soon.
func (w *watched) isOver() {
	parent := w.parent()
	if w.isFinal() { // its time was over
		return
	}
	for _, c := range kube.ConditionsIn(parent.Object["status"]) {
		isBad := (c.Type == operator.ConditionDegraded || c.Type == operator.ConditionStalled) && c.Status == "True"
		if isBad || w.says(c.Message) {
			w.failf("over: it is mended, and %s=%s says %s", c.Type, c.Status, c.Message)
		}
	}
	late := tellWithin
	if w.trouble != nil && w.trouble.IsLoop() {
		late += forgetWithin
	}
	if gap := w.spoke.Sub(w.changed); gap > late {
		w.failf("over: the last change of the status comes %s after the last of the cluster", gap)
	}
}

func (w *watched) ref() kube.Ref {
	for _, object := range w.world.Objects() {
		if ref := kube.RefOf(object); ref.String() == w.Target && !w.world.IsOfParent(object) {
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
