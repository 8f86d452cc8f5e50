package dataservice

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observedMeta is the part of any child's metadata that the hook reads.
type observedMeta struct {
	Generation int64          `json:"generation"`
	Labels     observedLabels `json:"labels"`
}

type observedLabels struct {
	App       string `json:"app"`
	Component string `json:"d3os-product.com.d3os/component"`
	Revision  string `json:"controller-revision-hash"`
}

// observedWorkload is the part of a Deployment, StatefulSet or DaemonSet that
// the hook reads.
type observedWorkload struct {
	metacontroller.Snapshot `json:"-"`

	Metadata observedMeta `json:"metadata"`
	Spec     struct {
		Replicas            *int32                         `json:"replicas"`
		PodManagementPolicy appsv1.PodManagementPolicyType `json:"podManagementPolicy"`
		Retention           struct {
			WhenDeleted appsv1.PersistentVolumeClaimRetentionPolicyType `json:"whenDeleted"`
		} `json:"persistentVolumeClaimRetentionPolicy"`
	} `json:"spec"`
	Status struct {
		operator.WorkloadStatus

		UpdateRevision string `json:"updateRevision"`
	} `json:"status"`
}

// rollout returns how far its own controller is.
func (w *observedWorkload) rollout() operator.Rollout {
	return operator.RolloutOf(w.Kind, w.Metadata.Generation, w.Spec.Replicas, &w.Status.WorkloadStatus)
}

// isReady reports whether its own controller has done all that was asked of it.
// A DaemonSet on no node serves nobody.
func (w *observedWorkload) isReady() bool {
	r := w.rollout()
	if w.Kind == metacontroller.DaemonSet.Kind && r.Wanted == 0 {
		return false
	}
	return r.IsObserved() && r.Ready >= r.Wanted && r.Updated >= r.Wanted && r.Existing == r.Wanted
}

// serves reports whether it has as many ready Pods as wanted, old ones included.
func (w *observedWorkload) serves() bool {
	r := w.rollout()
	return r.Ready >= r.Wanted
}

// stalled tells why its controller has given up on a rollout, or nothing.
func (w *observedWorkload) stalled() string {
	if deadline := w.rollout().Deadline; deadline != "" {
		return fmt.Sprintf("%s: %s", w.Ref(), deadline)
	}
	return ""
}

// observedService is the part of a Service that the hook reads.
type observedService struct {
	metacontroller.Snapshot `json:"-"`

	Metadata observedMeta `json:"metadata"`
	Spec     struct {
		Ports []struct {
			NodePort int32 `json:"nodePort"`
		} `json:"ports"`
	} `json:"spec"`
}

// observedConfigMap is the part of a ConfigMap that the hook reads.
type observedConfigMap struct {
	metacontroller.Snapshot `json:"-"`

	Metadata observedMeta `json:"metadata"`
}

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata observedPodMeta    `json:"metadata"`
	Status   operator.PodStatus `json:"status"`
}

// observedPodMeta is the part of a Pod's metadata that tells whose it is.
type observedPodMeta struct {
	Labels          observedLabels          `json:"labels"`
	OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
}

// observedLeftover is all that a teardown wants of a Pod.
type observedLeftover struct {
	metacontroller.Snapshot `json:"-"`

	Metadata observedPodMeta `json:"metadata"`
}

// isOwned reports whether the Pod belongs to a workload of the product. One that
// somebody has orphaned, or merely labelled alike, is theirs.
func (p *observedPod) isOwned() bool {
	return p.Metadata.Labels.Component != "" && p.ownerKind() != ""
}

// ownerKind returns the kind of object that controls the Pod.
func (p *observedPod) ownerKind() string {
	for _, owner := range p.Metadata.OwnerReferences {
		if owner.Controller != nil && *owner.Controller {
			return owner.Kind
		}
	}
	return ""
}

// observedChild is any child.
type observedChild struct {
	metacontroller.Snapshot

	// label is the component that its label tells, see owners.
	label string
}

// observed is what is there of a product.
type observed struct {
	children  []observedChild
	workloads []observedWorkload
	services  []observedService
	pods      []observedPod
}

func observe(seen metacontroller.Observed) (observed, error) {
	var there observed
	for _, kind := range []metacontroller.Resource{metacontroller.Deployment, metacontroller.StatefulSet, metacontroller.DaemonSet} {
		list, err := metacontroller.List[observedWorkload](seen.Children, kind.APIVersion, kind.Kind)
		if err != nil {
			return there, err
		}
		there.workloads = append(there.workloads, list...)
	}
	var err error
	if there.services, err = metacontroller.List[observedService](seen.Children, metacontroller.Service.APIVersion, metacontroller.Service.Kind); err != nil {
		return there, err
	}
	configMaps, err := metacontroller.List[observedConfigMap](seen.Children, metacontroller.ConfigMap.APIVersion, metacontroller.ConfigMap.Kind)
	if err != nil {
		return there, err
	}
	for _, w := range there.workloads {
		there.children = append(there.children, observedChild{w.Snapshot, w.Metadata.Labels.Component})
	}
	for _, s := range there.services {
		there.children = append(there.children, observedChild{s.Snapshot, s.Metadata.Labels.Component})
	}
	for _, m := range configMaps {
		there.children = append(there.children, observedChild{m.Snapshot, m.Metadata.Labels.Component})
	}
	there.pods, err = metacontroller.List[observedPod](seen.Related, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	return there, err
}

// observeLeftovers is observe for a teardown, which nothing damaged may stop or
// disorder: a child is known by its identity, whatever else of it can be read. A
// Pod without a label of its component, which nothing here could make go, is left
// out.
func observeLeftovers(seen metacontroller.Observed) observed {
	var there observed
	for _, kind := range []metacontroller.Resource{metacontroller.Deployment, metacontroller.StatefulSet, metacontroller.DaemonSet, metacontroller.Service, metacontroller.ConfigMap} {
		for _, child := range seen.Children.All(kind.APIVersion, kind.Kind) {
			there.children = append(there.children, observedChild{child, child.Label(componentLabel)})
		}
	}
	there.workloads = metacontroller.ListReadable[observedWorkload](seen.Children, metacontroller.StatefulSet.APIVersion, metacontroller.StatefulSet.Kind)
	for _, pod := range metacontroller.ListReadable[observedLeftover](seen.Related, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind) {
		there.pods = append(there.pods, observedPod{Snapshot: pod.Snapshot, Metadata: pod.Metadata})
	}
	return there
}

// workload returns the workload of a kind and name, or nil.
func (o observed) workload(kind WorkloadKind, name string) *observedWorkload {
	i := slices.IndexFunc(o.workloads, func(w observedWorkload) bool { return w.Kind == string(kind) && w.Name == name })
	if i < 0 {
		return nil
	}
	return &o.workloads[i]
}

// waitingReason tells what a Pod of a workload is at that is not ready, or nothing.
func (o observed) waitingReason(key, app string) string {
	for i := range o.pods {
		pod := &o.pods[i]
		if pod.Metadata.Labels.Component == key && pod.Metadata.Labels.App == app && !pod.Terminating && !pod.Status.IsReady() {
			return pod.Name + ": " + pod.Status.Activity()
		}
	}
	return ""
}

// leftBehind returns a Pod of an older template that its StatefulSet does not
// replace, or nil: in order, each Pod has to be ready before one is updated, and
// this one never will be.
func (o observed) leftBehind(w *observedWorkload) *observedPod {
	if w.Kind != metacontroller.StatefulSet.Kind || w.Spec.PodManagementPolicy != appsv1.OrderedReadyPodManagement || !w.rollout().IsObserved() {
		return nil
	}
	i := slices.IndexFunc(o.pods, func(pod observedPod) bool {
		return pod.Metadata.Labels.App == w.Name && pod.ownerKind() == w.Kind && !pod.Terminating && !pod.Status.IsReady() &&
			pod.Metadata.Labels.Revision != w.Status.UpdateRevision
	})
	if i < 0 {
		return nil
	}
	return &o.pods[i]
}
