package operettatest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/dump/dumptest"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/why"
	"github.com/operetta-dev/operetta/operator"
)

// atRest holds what has come of it to what a person needs.
func (w *watched) atRest(t *testing.T) {
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
	if words := w.why(t); !strings.Contains(strings.ToLower(words), strings.ToLower(w.words)) {
		w.failf("true of all: the first cause of why is %q", words)
	}
}

// why returns the first cause that the command names.
func (w *watched) why(t *testing.T) string {
	d, err := dump.Read(bytes.NewReader(dumptest.List(t, slices.Concat(w.world.Objects(), w.world.Events()))))
	require.NoError(t, err)
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
