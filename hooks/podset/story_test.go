package podset_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks/podset"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// story is a PodSet in a world, told step by step.
type story struct {
	*testing.T

	world *simulate.World
	// most is the largest number of Pods that were ever there at once, those
	// that were being deleted left out; fewestReady the least that were ready.
	most, fewestReady int
}

func tell(t *testing.T, faults ...simulate.Fault) *story {
	call := simulate.Direct(podset.Controller())
	s := &story{T: t}
	s.world = simulate.New(simulate.Options{
		Controllers: []metacontroller.Controller{podset.Controller()},
		Faults:      faults,
		MaxSteps:    1000,
		Call: func(now time.Time, path string, body []byte) (int, []byte, error) {
			s.count()
			return call(now, path, body)
		},
	})
	return s
}

// count looks at the world in the middle of things.
func (s *story) count() {
	ready := len(s.pods(isReady))
	s.most = max(s.most, len(s.pods(nil)))
	s.fewestReady = min(s.fewestReady, ready)
}

// edit applies a spec and plays until all is quiet.
func (s *story) edit(spec string) {
	s.Helper()
	s.apply(spec)
	s.play()
}

func (s *story) apply(spec string) {
	s.Helper()
	object, err := yaml.YAMLToJSON(fmt.Appendf(nil, "apiVersion: apps.jicki.cn/v1alpha1\nkind: PodSet\nmetadata: {name: web}\nspec: %s\n", spec))
	require.NoError(s, err)
	require.NoError(s, s.world.Apply(object))
	s.most, s.fewestReady = 0, len(s.pods(isReady))
}

func (s *story) play() {
	s.Helper()
	require.NoError(s, s.world.Play())
}

func isReady(pod simulate.Object) bool { return simulate.Condition(pod, "Ready").Status == "True" }

// pods returns the names of the Pods that are not being deleted and have not
// failed.
func (s *story) pods(which func(simulate.Object) bool) []string {
	var names []string
	for _, object := range s.world.Objects() {
		phase, _, err := unstructured.NestedString(object.Object, "status", "phase")
		require.NoError(s, err)
		if object.GetKind() == "Pod" && object.GetDeletionTimestamp() == nil && phase != "Failed" && (which == nil || which(object)) {
			names = append(names, object.GetName())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	return names
}

func (s *story) uids() map[string]string {
	uids := map[string]string{}
	for _, name := range s.pods(nil) {
		uids[name] = string(s.world.Get(simulate.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: name}).GetUID())
	}
	return uids
}

func (s *story) requireReady(status, reason string) {
	s.Helper()
	outcome := s.world.Outcomes()[0]
	require.Equal(s, status+" "+reason, outcome.Ready+" "+outcome.Reason, outcome.Message)
}

func template(image string) string {
	return "template: {spec: {containers: [{name: main, image: " + image + "}]}}"
}

func TestSurvivorsStayThroughScaling(t *testing.T) {
	s := tell(t)
	s.edit("{size: 0}")
	s.requireReady("True", "Ready")
	s.edit("{size: 5}")
	require.Equal(t, []string{"web-0", "web-1", "web-2", "web-3", "web-4"}, s.pods(isReady))
	five := s.uids()
	s.edit("{size: 3}")
	require.Equal(t, []string{"web-0", "web-1", "web-2"}, s.pods(isReady))
	s.edit("{size: 5}")
	require.Equal(t, []string{"web-0", "web-1", "web-2", "web-3", "web-4"}, s.pods(isReady))
	again := s.uids()
	for i, name := range s.pods(nil) {
		require.Equal(t, i < 3, five[name] == again[name], name)
	}
	require.Equal(t, 5, s.most)
	s.requireReady("True", "Ready")
}

func TestEvictedPodIsReplacedWithoutOneTooMany(t *testing.T) {
	s := tell(t, simulate.Fault{What: simulate.Evict, Kind: "Pod", Name: "web-1"})
	s.edit("{size: 3}")
	require.Empty(t, s.world.UnmetFaults())
	require.Equal(t, []string{"web-0", "web-2", "web-3"}, s.pods(isReady))
	require.Equal(t, 3, s.most)
	require.Nil(t, s.world.Get(simulate.Ref{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "web-1"}), "the evicted Pod is left behind")
	s.requireReady("True", "Ready")
}

func TestDeletedPodIsReplaced(t *testing.T) {
	s := tell(t, simulate.Fault{What: simulate.Vanish, Kind: "Pod", Name: "web-1"})
	s.edit("{size: 3}")
	require.Equal(t, []string{"web-0", "web-2", "web-3"}, s.pods(isReady), "the number of a Pod that is being deleted is not free")
	require.Equal(t, 3, s.most)
	s.requireReady("True", "Ready")
}

func TestRollKeepsToItsBudget(t *testing.T) {
	for maxUnavailable, fewestReady := range map[string]int{"1": 4, "2": 3, "50%": 3, "39%": 4, "10%": 4, "100%": 0} {
		s := tell(t)
		s.edit("{size: 5, " + template("one") + "}")
		s.edit("{size: 5, maxUnavailable: " + maxUnavailable + ", " + template("two") + "}")
		require.Len(t, s.pods(isReady), 5)
		require.Len(t, s.pods(ofImage("two")), 5)
		require.Equal(t, fewestReady, s.fewestReady, maxUnavailable)
		require.Equal(t, 5, s.most, maxUnavailable)
		s.requireReady("True", "Ready")
	}
}

func ofImage(image string) func(simulate.Object) bool {
	return func(pod simulate.Object) bool {
		containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
		return containers[0].(map[string]any)["image"] == image
	}
}

func TestBadTemplateStopsTheRollAndCanBeTakenBack(t *testing.T) {
	s := tell(t, simulate.Fault{What: simulate.Fail, Kind: "Pod", Name: "web-3"})
	s.edit("{size: 3, " + template("good") + "}")
	before := s.uids()
	s.edit("{size: 3, " + template("bad") + "}")
	s.requireReady("False", "ProgressDeadlineExceeded")
	require.Equal(t, 2, s.fewestReady)
	require.Len(t, s.pods(ofImage("good")), 2)
	require.Equal(t, "True ProgressDeadlineExceeded", s.condition("Stalled"))

	s.edit("{size: 3, " + template("good") + "}")
	s.requireReady("True", "Ready")
	require.Equal(t, " ", s.condition("Stalled"), "nothing is stalled any more")
	require.Len(t, s.pods(ofImage("good")), 3)
	require.Equal(t, 2, s.fewestReady)
	kept := 0
	for name, uid := range s.uids() {
		if before[name] == uid {
			kept++
		}
	}
	require.Equal(t, 2, kept, "going back touches none of those that had stayed")
}

func TestGoodTemplateMendsWhatWasBadFromTheStart(t *testing.T) {
	var faults []simulate.Fault
	for _, name := range []string{"web-0", "web-1", "web-2"} {
		faults = append(faults, simulate.Fault{What: simulate.Fail, Kind: "Pod", Name: name})
	}
	s := tell(t, faults...)
	s.edit("{size: 3, " + template("bad") + "}")
	s.requireReady("False", "ProgressDeadlineExceeded")
	require.Equal(t, "True ProgressDeadlineExceeded", s.condition("Stalled"))
	s.edit("{size: 3, " + template("good") + "}")
	require.Equal(t, []string{"web-3", "web-4", "web-5"}, s.pods(isReady))
	require.Equal(t, 3, s.most)
	s.requireReady("True", "Ready")
}

func (s *story) condition(conditionType string) string {
	condition := simulate.Condition(s.world.Outcomes()[0].Parent, conditionType)
	return condition.Status + " " + condition.Reason
}

func TestNewTemplateWhileItStillStarts(t *testing.T) {
	s := tell(t)
	s.apply("{size: 4, " + template("one") + "}")
	s.world.Step()
	s.world.Step()
	require.NotEmpty(t, s.pods(nil))
	s.edit("{size: 2, " + template("two") + "}")
	require.Len(t, s.pods(isReady), 2)
	require.Len(t, s.pods(ofImage("two")), 2)
	s.requireReady("True", "Ready")
}

func TestThousandPods(t *testing.T) {
	size := 1000
	if testing.Short() {
		size = 300 // make cover takes a thousand
	}
	s := tell(t)
	s.edit(fmt.Sprintf("{size: %d}", size))
	require.Len(t, s.pods(isReady), size)
	s.edit("{size: 10}")
	require.Len(t, s.pods(isReady), 10)
}
