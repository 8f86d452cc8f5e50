package picture

import (
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
)

func TestConditionState(t *testing.T) {
	for _, test := range []struct {
		condition, status string
		want              level
	}{
		{"Ready", "True", good}, {"Ready", "False", working}, {"Ready", "Unknown", working}, {"Progressing", "True", set}, {"Progressing", "False", unset},
		{"Stalled", "True", bad}, {"Degraded", "True", bad}, {"Failed", "True", bad}, {"Degraded", "False", unset}, {"Succeeded", "Unknown", unset},
	} {
		require.Equal(t, test.want, conditionState(test.condition, kube.Condition{Status: test.status}).level, test)
	}
	s := conditionState("Ready", kube.Condition{Status: "False", Reason: "Creating", Message: "being created:\n Pod/a"})
	require.Equal(t, "False Creating: being created: Pod/a", s.whole())
}

func TestWordsThatFit(t *testing.T) {
	ready := state{text: "False PodsNotReady", more: "0 of 3 Pods are ready"}
	for _, test := range []struct {
		state
		room int
		want string
	}{
		{ready, 300, "False PodsNotReady: 0 of 3 Pods are ready"}, {ready, 150, "False PodsNotReady"}, {ready, 90, "PodsNotReady"},
		{ready, 55, "PodsNo…"}, {ready, 32, "False"}, {ready, 20, ""}, {ready, -3, ""},
		{state{text: "running, not ready"}, 60, "running,…"}, {state{text: "ready"}, 40, "ready"}, {state{text: "ready"}, 20, ""}, {state{}, 100, ""},
	} {
		require.Equal(t, test.want, wordsThatFit(test.state, test.room), test)
	}
}

func TestNamesAreCutInTheirMiddle(t *testing.T) {
	require.Equal(t, "Pod/web-0", cutMiddle("Pod/web-0", fontSize, 100))
	for _, end := range []string{"44445", "44446"} {
		short := cutMiddle("Pod/a-name-that-is-far-too-long-697699b5cc-"+end, fontSize, 200)
		require.Regexp(t, "^Pod/a-.*….*-"+end+"$", short)
		require.LessOrEqual(t, pixels(short, fontSize), 200)
	}
	require.LessOrEqual(t, pixels(cutMiddle("Pod/漢字漢字漢字漢字漢字漢字漢字漢字漢字", fontSize, 100), fontSize), 100)
}

// TestWhatHappensFromOutsideHasRoom: what finds none in three rows has its mark alone.
func TestWhatHappensFromOutsideHasRoom(t *testing.T) {
	times := at(0, 1, 2, 3, 4, 5, 6, 7)
	d := &drawing{axis: newAxis(times, maxName+margin, width-margin, tail)}
	var list []outside
	for _, time := range times {
		list = append(list, outside{time, "flap Deployment/a-name-of-some-length is over"})
	}
	labels, rows := d.place(list)
	require.Equal(t, maxRows, rows)
	ends, told := make([]int, maxRows), 0
	for _, l := range labels {
		if l.text == "" {
			continue
		}
		told++
		from, to := l.textX, l.textX+pixels(l.text, fontSize)
		if l.anchor == "end" {
			from, to = l.textX-pixels(l.text, fontSize), l.textX
		}
		require.Greater(t, from, ends[l.row], "%+v overlaps", l)
		require.Less(t, to, width)
		ends[l.row] = to
	}
	require.Equal(t, 3, told)
	require.Equal(t, "end", labels[7].anchor, "near the edge the words come before the mark")

	labels, rows = d.place([]outside{{0, "apply PodSet/cache"}, {7 * time.Second, "evict Pod/cache-1"}})
	require.Equal(t, 1, rows)
	require.Equal(t, label{x: d.axis.at[0], textX: d.axis.at[0] + 10, text: "apply PodSet/cache"}, labels[0])
}
