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

// rollout returns the progress of its rollout.
func (w *observedWorkload) rollout() operator.Rollout {
	return operator.RolloutOf(w.Kind, w.Metadata.Generation, w.Spec.Replicas, &w.Status.WorkloadStatus)
}

// isReady reports whether its rollout is complete. A DaemonSet on no node is
// not ready, because it serves nobody.
func (w *observedWorkload) isReady() bool {
	r := w.rollout()
	if w.Kind == metacontroller.DaemonSet.Kind && r.Wanted == 0 {
		return false
	}
	return r.IsObserved() && r.Ready >= r.Wanted && r.Updated >= r.Wanted && r.Existing == r.Wanted
}

// serves reports whether it has as many ready Pods as wanted, old ones
// included.
func (w *observedWorkload) serves() bool {
	r := w.rollout()
	return r.Ready >= r.Wanted
}

// stalled returns the message of a rollout past its deadline, or "".
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

// observedPodMeta is the part of a Pod's metadata that shows its owner.
type observedPodMeta struct {
	Labels          observedLabels          `json:"labels"`
	OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
}

// observedLeftover is the part of a Pod that a teardown reads.
type observedLeftover struct {
	metacontroller.Snapshot `json:"-"`

	Metadata observedPodMeta `json:"metadata"`
}

// isOwned reports whether the Pod belongs to a workload of the product. A Pod
// that was orphaned, or only has the same label, is somebody else's.
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

	// label is the component according to its label, see owners.
	label string
}

// observed is what exists of a product.
type observed struct {
	children  []observedChild
	workloads []observedWorkload
	services  []observedService
	pods      []observedPod
}

func observe(request metacontroller.Observed) (observed, error) {
	var observed observed
	for _, kind := range []metacontroller.Resource{metacontroller.Deployment, metacontroller.StatefulSet, metacontroller.DaemonSet} {
		list, err := metacontroller.List[observedWorkload](request.Children, kind.APIVersion, kind.Kind)
		if err != nil {
			return observed, err
		}
		observed.workloads = append(observed.workloads, list...)
	}
	var err error
	if observed.services, err = metacontroller.List[observedService](request.Children, metacontroller.Service.APIVersion, metacontroller.Service.Kind); err != nil {
		return observed, err
	}
	configMaps, err := metacontroller.List[observedConfigMap](request.Children, metacontroller.ConfigMap.APIVersion, metacontroller.ConfigMap.Kind)
	if err != nil {
		return observed, err
	}
	for _, w := range observed.workloads {
		observed.children = append(observed.children, observedChild{w.Snapshot, w.Metadata.Labels.Component})
	}
	for _, s := range observed.services {
		observed.children = append(observed.children, observedChild{s.Snapshot, s.Metadata.Labels.Component})
	}
	for _, m := range configMaps {
		observed.children = append(observed.children, observedChild{m.Snapshot, m.Metadata.Labels.Component})
	}
	observed.pods, err = metacontroller.List[observedPod](request.Related, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	return observed, err
}

// observeLeftovers is observe for a teardown, which damaged objects must not
// stop or reorder: a child is identified by its name and kind, even if it
// cannot be decoded. A Pod without a component's label, which this teardown
// cannot delete, is left out.
func observeLeftovers(request metacontroller.Observed) observed {
	var observed observed
	for _, kind := range []metacontroller.Resource{metacontroller.Deployment, metacontroller.StatefulSet, metacontroller.DaemonSet, metacontroller.Service, metacontroller.ConfigMap} {
		for _, child := range request.Children.All(kind.APIVersion, kind.Kind) {
			observed.children = append(observed.children, observedChild{child, child.Label(componentLabel)})
		}
	}
	observed.workloads = metacontroller.ListReadable[observedWorkload](request.Children, metacontroller.StatefulSet.APIVersion, metacontroller.StatefulSet.Kind)
	for _, pod := range metacontroller.ListReadable[observedLeftover](request.Related, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind) {
		observed.pods = append(observed.pods, observedPod{Snapshot: pod.Snapshot, Metadata: pod.Metadata})
	}
	return observed
}

// workload returns the workload of a kind and name, or nil.
func (o observed) workload(kind WorkloadKind, name string) *observedWorkload {
	i := slices.IndexFunc(o.workloads, func(w observedWorkload) bool { return w.Kind == string(kind) && w.Name == name })
	if i < 0 {
		return nil
	}
	return &o.workloads[i]
}

// waitingReason says why a Pod of a workload is not ready, or returns "".
func (o observed) waitingReason(key, app string) string {
	for i := range o.pods {
		pod := &o.pods[i]
		if pod.Metadata.Labels.Component == key && pod.Metadata.Labels.App == app && !pod.Terminating && !pod.Status.IsReady() {
			return pod.Name + ": " + pod.Status.Activity()
		}
	}
	return ""
}

// leftBehind returns a Pod of an older template that its StatefulSet never
// replaces, or nil: with OrderedReady each Pod has to be ready before one is
// updated, and this one never will be.
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
