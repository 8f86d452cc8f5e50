package operettatest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/cluster/controllers"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
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

// says reports whether a sentence says it: of what only Events tell, the command that shows them is enough.
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
					advise(t, hintOf(w.problems))
					require.Empty(t, w.problems, "%s", w.told)
				})
			}
		}
	})
}

// hintOf says what to do about the first of some problems.
func hintOf(problems []string) string {
	for _, problem := range problems {
		switch kind, _, _ := strings.Cut(problem, ":"); kind {
		case "judged", "held":
			return "set the summary's state: Degraded where a person may have to act, Failed where the work has ended, and Done only where nothing is wrong"
		case "over":
			return "compute the summary from what the request shows, and keep no trouble in the status that has passed"
		case "true of all":
			return "name in the message the object that is the cause, as Pod/NAME, so that operetta why finds it"
		}
	}
	return "add what operator.Tell says of the Pods to the summary, with Telling"
}

// readsPods reports whether requests may show Pods.
func (k kind) readsPods() bool {
	_, isChild := k.Child("v1", "Pod")
	return isChild || slices.ContainsFunc(k.Related, func(r metacontroller.Related) bool { return r.Resource == metacontroller.Pod })
}

// faultsOf returns what can happen to the children of a sample: of each kind of children that make Pods, to the
// first.
func (k kind) faultsOf(t *testing.T, sample corpus.Sample) []fault {
	var list []fault
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
	var meant []fault
	for _, f := range list {
		if f.aim(world) {
			meant = append(meant, f)
		}
	}
	return meant
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
