package why_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/lab/dump"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/lab/why"
	"github.com/operetta-dev/operetta/metacontroller"
)

// TestKindsThatMakePods: Pods are read for whatever makes them, whether the hook reads them or not.
func TestKindsThatMakePods(t *testing.T) {
	for child, want := range map[metacontroller.Resource][]metacontroller.Resource{
		metacontroller.Deployment:  {metacontroller.ReplicaSet, metacontroller.Pod},
		metacontroller.ReplicaSet:  {metacontroller.Pod},
		metacontroller.StatefulSet: {metacontroller.Pod},
		metacontroller.DaemonSet:   {metacontroller.Pod},
		metacontroller.Job:         {metacontroller.Pod},
		metacontroller.CronJob:     {metacontroller.Job, metacontroller.Pod},
	} {
		kinds := why.Kinds(metacontroller.Controllers{{Children: []metacontroller.Child{{Resource: child}}}})
		require.Subset(t, kinds, want, child.Kind)
	}
	require.NotContains(t, why.Kinds(metacontroller.Controllers{{Children: []metacontroller.Child{{Resource: metacontroller.Service}}}}), metacontroller.Pod)
}

// withoutPods returns an operator whose hook does not read Pods.
func withoutPods(t *testing.T, kind string) metacontroller.Controllers {
	controller := controllerOf(t, kind)
	controller.Related, controller.Customize = nil, metacontroller.Hook{}
	return metacontroller.Controllers{controller}
}

// TestPodsThatTheHookDoesNotRead are causes, too; where they were not read, that is said.
func TestPodsThatTheHookDoesNotRead(t *testing.T) {
	for _, kind := range []string{"build", "modelbox", "dataservice"} {
		s := begin(t, kind)
		failing(player.Fail)(s)
		explain := func(text []byte) why.Answer {
			d, err := dump.Read(bytes.NewReader(text))
			require.NoError(t, err)
			for subject := range why.FromDump(d, dump.Options{Controllers: withoutPods(t, kind), Call: direct, Now: s.Now()}, why.Selection{Kind: kind}) {
				return subject.Explain()
			}
			return why.Answer{}
		}
		s.requireFirst(explain(s.dump()), "Pod/"+s.pod().GetName(), "exit code 1")

		s.dropped = map[string]bool{}
		for _, pod := range s.List("v1", "Pod") {
			s.dropped["Pod/"+pod.GetName()] = true
		}
		require.Contains(t, explain(s.dump()).NotSeen, "Pod", kind)
	}
}
