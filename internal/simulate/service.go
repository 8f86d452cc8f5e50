package simulate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// service gives a LoadBalancer its address. A cloud that fails gives none.
func (k *kubernetes) service(ref Ref) {
	s := load[corev1.Service](k, ref)
	if s == nil || s.Spec.Type != corev1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) > 0 ||
		k.faults.strikes(k.server, Fail, k.server.Get(ref)) {
		return
	}
	k.serial++
	mode := corev1.LoadBalancerIPModeVIP
	s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{
		{IP: fmt.Sprintf("203.0.113.%d", 1+k.serial%250), IPMode: &mode},
	}
	k.report(ref, &s.Status)
}

// claim binds a claim to a volume.
func (k *kubernetes) claim(ref Ref) {
	c := load[corev1.PersistentVolumeClaim](k, ref)
	if c == nil || c.Status.Phase == corev1.ClaimBound || k.faults.strikes(k.server, Fail, k.server.Get(ref)) {
		return
	}
	bound := k.server.Get(ref).DeepCopy()
	bound.Object["spec"].(map[string]any)["volumeName"] = "pvc-" + string(c.UID)
	c.Status.Phase = corev1.ClaimBound
	c.Status.AccessModes = c.Spec.AccessModes
	c.Status.Capacity = c.Spec.Resources.Requests
	bound.Object["status"] = apiserver.Encode(&c.Status).Object
	k.server.Replace(apiserver.ByKubernetes, bound)
}
