package dataservice

import (
	"regexp"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observedWorkload is the part of a Deployment, StatefulSet or DaemonSet that
// the hook reads.
type observedWorkload struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		CreationTimestamp metav1.Time `json:"creationTimestamp"`
		Generation        int64       `json:"generation"`
		Annotations       struct {
			Hash string `json:"operetta.dev/hash"`
		} `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Replicas            *int32                         `json:"replicas"`
		PodManagementPolicy appsv1.PodManagementPolicyType `json:"podManagementPolicy"`
		ServiceName         string                         `json:"serviceName"`
		Claims              []observedClaim                `json:"volumeClaimTemplates"`
		Retention           struct {
			WhenDeleted appsv1.PersistentVolumeClaimRetentionPolicyType `json:"whenDeleted"`
		} `json:"persistentVolumeClaimRetentionPolicy"`
	} `json:"spec"`
	Status operator.WorkloadStatus `json:"status"`
}

// observedClaim is the part of a volume claim template that the hook reads.
type observedClaim struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		StorageClassName *string `json:"storageClassName"`
		Resources        struct {
			Requests struct {
				Storage resource.Quantity `json:"storage"`
			} `json:"requests"`
		} `json:"resources"`
	} `json:"spec"`
}

// isOf reports whether it is the template of a claim.
func (c *observedClaim) isOf(claim *corev1.PersistentVolumeClaim) bool {
	own, other := c.Spec.StorageClassName, claim.Spec.StorageClassName
	isSameClass := own == nil && other == nil || own != nil && other != nil && *own == *other
	return isSameClass && c.Metadata.Name == claim.Name && c.Spec.Resources.Requests.Storage.Cmp(claim.Spec.Resources.Requests[corev1.ResourceStorage]) == 0
}

// madeHash is a hash as every child carries one.
var madeHash = regexp.MustCompile(`^[0-9a-f]{16}$`)

// isMade reports whether it is what an older spec has made of it. One that is not is mended at once.
func (w *observedWorkload) isMade() bool {
	return w != nil && madeHash.MatchString(w.Metadata.Annotations.Hash)
}

// rollout returns the progress of its rollout.
func (w *observedWorkload) rollout() operator.Rollout {
	return operator.RolloutOf(w.Kind, w.Metadata.Generation, w.Spec.Replicas, &w.Status)
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

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		operator.PodTimes
		podMeta
	} `json:"metadata"`
	Status operator.PodStatus `json:"status"`
}

// leftPod is the part of a Pod that a teardown reads. A damaged status must not disorder it.
type leftPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata podMeta `json:"metadata"`
}

// podMeta is the part of a Pod's metadata that the hook reads.
type podMeta struct {
	Labels struct {
		App       string `json:"app"`
		Component string `json:"d3os-product.com.d3os/component"`
	} `json:"labels"`
	OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
}

// owner returns the kind of object that controls the Pod, or "". A Pod that was orphaned,
// or only has the same label, is somebody else's.
func (m *podMeta) owner() string {
	for _, owner := range m.OwnerReferences {
		if owner.Controller != nil && *owner.Controller {
			return owner.Kind
		}
	}
	return ""
}

// observed is what exists of a product.
type observed struct {
	children  []metacontroller.Snapshot
	workloads []observedWorkload
	pods      []observedPod
}

func observe(request metacontroller.Observed) (observed, error) {
	observed := observed{children: childrenIn(request)}
	for _, kind := range []metacontroller.Resource{metacontroller.Deployment, metacontroller.StatefulSet, metacontroller.DaemonSet} {
		list, err := metacontroller.List[observedWorkload](request.Children, kind.APIVersion, kind.Kind)
		if err != nil {
			return observed, err
		}
		observed.workloads = append(observed.workloads, list...)
	}
	var err error
	observed.pods, err = metacontroller.List[observedPod](request.Related, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	return observed, err
}

// childrenIn returns the children of a request, kind by kind.
func childrenIn(request metacontroller.Observed) []metacontroller.Snapshot {
	var all []metacontroller.Snapshot
	for _, kind := range []metacontroller.Resource{metacontroller.Deployment, metacontroller.StatefulSet, metacontroller.DaemonSet, metacontroller.Service, metacontroller.ConfigMap} {
		all = append(all, request.Children.All(kind.APIVersion, kind.Kind)...)
	}
	return all
}

// workload returns the workload of a kind and name, or nil.
func (o observed) workload(kind WorkloadKind, name string) *observedWorkload {
	i := slices.IndexFunc(o.workloads, func(w observedWorkload) bool { return w.Kind == string(kind) && w.Name == name })
	if i < 0 {
		return nil
	}
	return &o.workloads[i]
}

// told returns what is said of one of the Pods of a workload, or nil.
func (o observed) told(u *unit, now time.Time) *operator.Told {
	var pods []operator.Pod
	for i := range o.pods {
		if pod := &o.pods[i]; pod.Metadata.Labels.Component == u.key && pod.Metadata.Labels.App == u.name {
			pods = append(pods, operator.Pod{Snapshot: pod.Snapshot, PodTimes: pod.Metadata.PodTimes, Status: &pod.Status})
		}
	}
	return operator.Tell(pods, now)
}
