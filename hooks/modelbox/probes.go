package modelbox

import (
	"cmp"
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/operetta-dev/operetta/operator"
)

// add adds TCP probes that the user did not write: readiness and liveness, and with either a
// startup probe, so that a model that loads for minutes is not killed. It grants no less time than
// what the user wrote.
func (p DefaultProbes) add(box *ModelBox, container *corev1.Container) {
	port, found := firstTCPPort(box)
	off := box.Spec.DefaultProbes != nil && !*box.Spec.DefaultProbes
	if off || !found || container.LivenessProbe != nil && container.ReadinessProbe != nil {
		return
	}
	probe := func(times ProbeTimes) *corev1.Probe {
		return &corev1.Probe{
			ProbeHandler:     corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(port)}},
			PeriodSeconds:    times.PeriodSeconds,
			FailureThreshold: times.FailureThreshold,
		}
	}
	startup := p.Startup
	attempts := math.Ceil(float64(granted(container)) / float64(startup.PeriodSeconds))
	startup.FailureThreshold = max(startup.FailureThreshold, int32(min(attempts, math.MaxInt32)))
	container.ReadinessProbe = cmp.Or(container.ReadinessProbe, probe(p.Readiness))
	container.LivenessProbe = cmp.Or(container.LivenessProbe, probe(p.Liveness))
	container.StartupProbe = cmp.Or(container.StartupProbe, probe(startup))
}

// granted returns how many seconds the probes let a container take to start: the longest that one
// of them waits and fails before something happens.
func granted(container *corev1.Container) int64 {
	return max(operator.ProbeSeconds(container.StartupProbe), operator.ProbeSeconds(container.LivenessProbe), operator.ProbeSeconds(container.ReadinessProbe))
}

// A Deployment's own progress deadline, and what scheduling and images have of it, in seconds.
const (
	defaultDeadline = 600
	beforeStart     = 300
)

// progressDeadline returns the deadline for a Pod, or nil where the Deployment's own is long enough:
// sidecars of the init containers start one after the other, and then all others together.
func progressDeadline(box *ModelBox, pod *corev1.PodSpec) *int32 {
	if box.Spec.ProgressDeadlineSeconds != nil {
		return box.Spec.ProgressDeadlineSeconds
	}
	var before, together int64
	for i := range pod.InitContainers {
		before += granted(&pod.InitContainers[i])
	}
	for i := range pod.Containers {
		together = max(together, granted(&pod.Containers[i]))
	}
	deadline := max(before+together, int64(minReadySeconds(box))) + beforeStart
	if deadline <= defaultDeadline {
		return nil
	}
	return new(int32(min(deadline, math.MaxInt32)))
}
