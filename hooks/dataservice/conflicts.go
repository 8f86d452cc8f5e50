package dataservice

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// maxObjectBytes is the size limit of a child as Metacontroller applies it,
// with some room for what is added after it is measured.
const maxObjectBytes = metacontroller.MaxAppliedBytes - 10<<10

// smallBytes is how much user text fits in any encoding: a byte takes up to six
// in JSON, and the rest of a child at most 8 KiB.
const smallBytes = 32 << 10

// refusal is why a component cannot be applied. The zero value says that it can.
type refusal struct{ reason, message string }

// refuse returns why the objects of a component cannot be applied.
func (p *part) refuse(workload metacontroller.Object, all []metacontroller.Object) (refusal, error) {
	if message := p.immutable(workload); message != "" {
		return refusal{reasonImmutable, message}, nil
	}
	if message := p.said.wrong(); message != "" {
		return refusal{reasonInvalid, "spec." + p.key + "." + message}, nil
	}
	if message := cmp.Or(p.unknownPort(), p.unknownVolume()); message != "" {
		return refusal{reasonUnknownName, message}, nil
	}
	message, err := tooLarge(p.unit, all)
	if message == "" {
		return refusal{}, err
	}
	return refusal{reasonTooLarge, message}, err
}

// tooLarge says which field of the spec makes an object of a component too
// large, or returns "".
func tooLarge(u *unit, all []metacontroller.Object) (string, error) {
	written := 0
	for _, content := range u.said.Config {
		written += len(content)
	}
	for name, value := range u.said.Env {
		written += len(name) + len(value)
	}
	said := reflect.ValueOf(u.said.Pod)
	if written <= smallBytes && said.IsZero() {
		return "", nil
	}
	for _, object := range all {
		size, err := metacontroller.AppliedSize(object)
		if err != nil {
			return "", fmt.Errorf("%s cannot be encoded: %w", refOf(object), err)
		}
		if size <= maxObjectBytes {
			continue
		}
		field := "env"
		if _, isConfigMap := object.(*corev1.ConfigMap); isConfigMap {
			field = "config"
		} else if !said.IsZero() {
			field = "env, envVars, args, podAnnotations or volumes"
		}
		return fmt.Sprintf("%s would have %d bytes of at most %d: make spec.%s.%s smaller", refOf(object), size, maxObjectBytes, u.key, field), nil
	}
	return "", nil
}

// keepReplicas leaves the number of replicas of a workload to others where the spec has none.
// Of what must never run twice they may only stop the one Pod.
func keepReplicas(u *unit, workload metacontroller.Object, observed *observedWorkload) error {
	if u.said.Replica != nil || observed == nil || !u.isSingle || observed.Spec.Replicas == nil || *observed.Spec.Replicas <= 1 {
		return nil
	}
	return operator.SetReplicas(workload, 1)
}

// keepPolicy copies the pod management policy of an observed StatefulSet, which
// is immutable.
func keepPolicy(workload metacontroller.Object, observed *observedWorkload) {
	if set, isSet := workload.(*appsv1.StatefulSet); isSet && observed != nil && observed.Spec.PodManagementPolicy != "" {
		set.Spec.PodManagementPolicy = observed.Spec.PodManagementPolicy
	}
}

// immutable says that an observed StatefulSet cannot become the desired one, or returns "". The CRD
// refuses such a change, but not by way of another kind while the old StatefulSet is still there.
func (p *part) immutable(workload metacontroller.Object) string {
	set, isSet := workload.(*appsv1.StatefulSet)
	observed := p.workload
	if !isSet || !observed.isMade() || !slices.Contains(p.differs.NotUpdated, observed.Ref()) {
		return ""
	}
	claims := set.Spec.VolumeClaimTemplates
	isSame := observed.Spec.ServiceName == set.Spec.ServiceName && len(observed.Spec.Claims) == len(claims)
	for i := 0; isSame && i < len(claims); i++ {
		isSame = observed.Spec.Claims[i].isOf(&claims[i])
	}
	if isSame {
		return ""
	}
	return observed.Ref() + " has other storage, which cannot be changed: restore storage, by way of kind ThirdParty where that is refused, or delete the StatefulSet, whose volumes stay"
}

// podOwner is the kind of object that owns the Pods of a workload.
var podOwner = map[WorkloadKind]string{Deployment: "ReplicaSet", StatefulSet: "StatefulSet", DaemonSet: "DaemonSet"}

// rival returns what a component that must never run twice has to wait for: a workload
// of another kind, or a Pod of that. The Service would select both.
func (o observed) rival(u *unit, workload *observedWorkload) string {
	for _, other := range o.workloads {
		if u.isSingle && other.Name == u.name && other.Kind != string(u.kind) {
			return other.Ref()
		}
	}
	for i := range o.pods {
		pod := &o.pods[i]
		owner := pod.Metadata.owner()
		if u.isSingle && workload == nil && pod.Metadata.Labels.App == u.name && owner != "" && owner != podOwner[u.kind] {
			return pod.Ref()
		}
	}
	return ""
}
