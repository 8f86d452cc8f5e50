package operettatest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/operator"
)

// watched is a world with a fault, and what has been seen of it.
type watched struct {
	fault

	k        kind
	world    *player.World
	problems []string
	isVain   bool // it could not be done
	vain     []player.Vain
	told     string
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
	w.atRest(t)
	w.told, w.end = w.text(), w.cellOf()
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
