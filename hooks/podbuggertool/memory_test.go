package podbuggertool_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/operettatest"
)

// relabel changes the label by which a Pod matches.
func (s story) relabel(name, app string) {
	s.t.Helper()
	s.Edit("Pod/"+name, "{metadata: {labels: {app: "+app+"}}}")
}

// TestPodThatLeavesAndReturnsIsNotTriedAgain takes a Pod whose Job has failed out
// of the match and back, and loses the status of each sync in turn.
func TestPodThatLeavesAndReturnsIsNotTriedAgain(t *testing.T) {
	failed := firstJob(t, story.toolAndPod)
	for lost := range 12 { // more than there are syncs from the first change of the label on
		t.Run(fmt.Sprintf("status %d is lost", lost), func(t *testing.T) {
			var call operettatest.Call
			s := newStory(t, operettatest.Options{Fail: []string{"Job/" + failed}, Around: func(direct operettatest.Call) operettatest.Call {
				call = direct
				return func(now time.Time, path string, body []byte) (int, []byte, error) { return call(now, path, body) }
			}})
			s.toolAndPod()
			s.plays()
			require.Equal(t, int32(1), s.status("toolbox").Failed)

			call = operettatest.LoseStatus(call, lost, lost)
			s.relabel("web", "other")
			s.plays()
			require.Empty(t, s.Names("Job"), "it goes, for nothing tells whether the Pod is there")
			require.Equal(t, int32(0), s.status("toolbox").Matched)

			s.relabel("web", "shop")
			s.plays()
			require.Equal(t, 1, s.jobsEver())
			require.Equal(t, int32(1), s.status("toolbox").Failed)
			require.Empty(t, s.Objects("Role"))

			s.tool("toolbox", `{selector: {matchLabels: {app: shop}}, image: "busybox:2"}`)
			s.plays()
			require.Equal(t, 2, s.jobsEver(), "another recipe is another try")
			require.Equal(t, []string{"web: toolbox=busybox:2"}, s.containers())
		})
	}
}

// plays plays until nothing changes. A status that is lost when all is at rest
// already is written by the next sync, which Play takes for a change.
func (s story) plays() {
	s.t.Helper()
	if s.TryPlay() != nil {
		s.Play()
	}
}
