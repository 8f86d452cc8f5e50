package modelbox

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// observed is what the hook reads of the children. A Deployment that does not
// exist is nil.
type observed struct {
	deployment *operator.Workload
	services   []observedService
}

// service returns the Service of a name, or nil.
func (o observed) service(name string) *observedService {
	i := slices.IndexFunc(o.services, func(s observedService) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &o.services[i]
}

// observedService is the part of a Service that the hook reads.
type observedService struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		CreationTimestamp metav1.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	Spec struct {
		Type      ServiceType `json:"type"`
		ClusterIP string      `json:"clusterIP"`
		Ports     []NodePort  `json:"ports"`
	} `json:"spec"`
	Status struct {
		LoadBalancer LoadBalancer `json:"loadBalancer"`
	} `json:"status"`
}

// isHeadless reports whether the Service has no address of its own.
func (s *observedService) isHeadless() bool { return s.Spec.ClusterIP == corev1.ClusterIPNone }

func observe(box *ModelBox, request metacontroller.Observed) (observed, error) {
	var o observed
	var err error
	if o.deployment, err = metacontroller.Get[operator.Workload](
		request.Children, metacontroller.Deployment.APIVersion, metacontroller.Deployment.Kind, box.Name); err != nil {
		return o, err
	}
	o.services, err = metacontroller.List[observedService](request.Children, metacontroller.Service.APIVersion, metacontroller.Service.Kind)
	return o, err
}

// observedPod is the part of a Pod that the hook reads.
type observedPod struct {
	metacontroller.Snapshot `json:"-"`

	Metadata struct {
		operator.PodTimes

		Labels struct {
			Hash string `json:"pod-template-hash"`
		} `json:"labels"`
		OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
	} `json:"metadata"`
	Status operator.PodStatus `json:"status"`
}

// isOf reports whether the Pod is one of the Deployment's. Others may have its label, too.
func (p *observedPod) isOf(deployment string) bool {
	return slices.ContainsFunc(p.Metadata.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Controller != nil && *o.Controller && o.Kind == metacontroller.ReplicaSet.Kind && o.Name == deployment+"-"+p.Metadata.Labels.Hash
	})
}

// podsOf returns the Pods of the Deployment.
func podsOf(box *ModelBox, request metacontroller.Observed) ([]operator.Pod, error) {
	observed, err := metacontroller.List[observedPod](request.Related, metacontroller.Pod.APIVersion, metacontroller.Pod.Kind)
	var pods []operator.Pod
	for i := range observed {
		if p := &observed[i]; p.isOf(box.Name) {
			pods = append(pods, operator.Pod{Snapshot: p.Snapshot, PodTimes: p.Metadata.PodTimes, Status: &p.Status})
		}
	}
	return pods, err
}
