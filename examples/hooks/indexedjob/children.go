package indexedjob

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// podName returns the name of the Pod of an index.
func podName(job *IndexedJob, index int) string { return job.Name + "-" + strconv.Itoa(index) }

// kept returns the Pods that exist.
func (o observed) kept() []metacontroller.Object {
	kept := make([]metacontroller.Object, 0, len(o))
	for _, index := range slices.Sorted(maps.Keys(o)) {
		kept = append(kept, metacontroller.Keep(o[index].Snapshot))
	}
	return kept
}

// nextPods returns the Pods of the lowest indexes that have none, as many as may run besides
// those that do.
func nextPods(job *IndexedJob, o observed) []metacontroller.Object {
	var fresh []metacontroller.Object
	active, _, _ := o.count()
	for index := 0; index < int(orOne(job.Spec.Completions)) && active < orOne(job.Spec.Parallelism); index++ {
		if o[index] == nil {
			fresh = append(fresh, pod(job, index))
			active++
		}
	}
	return fresh
}

// pod returns the Pod of an index.
func pod(job *IndexedJob, index int) *corev1.Pod {
	template := job.Spec.Template.DeepCopy()
	for i := range template.Spec.Containers {
		container := &template.Spec.Containers[i]
		container.Env = append(container.Env, corev1.EnvVar{Name: "JOB_INDEX", Value: strconv.Itoa(index)})
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: podName(job, index), Labels: template.Labels, Annotations: template.Annotations},
		Spec:       template.Spec,
	}
}

// orOne returns a number, with the default of the CRD.
func orOne(number *int32) int32 {
	if number == nil {
		return 1
	}
	return *number
}
