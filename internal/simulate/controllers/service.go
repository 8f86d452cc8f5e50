package controllers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

func (b *Builtin) service(ref apiserver.Ref) {
	s := load[corev1.Service](b, ref)
	if s == nil || s.Spec.Type != corev1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) > 0 ||
		b.struck("fail", b.server.Get(ref)) {
		return
	}
	b.serial++
	s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{
		{IP: fmt.Sprintf("203.0.113.%d", 1+b.serial%250), IPMode: new(corev1.LoadBalancerIPModeVIP)},
	}
	b.report(ref, &s.Status)
}

func (b *Builtin) claim(ref apiserver.Ref) {
	c := load[corev1.PersistentVolumeClaim](b, ref)
	if c == nil || c.Status.Phase == corev1.ClaimBound || b.struck("fail", b.server.Get(ref)) {
		return
	}
	bound := b.server.Get(ref).DeepCopy()
	bound.Object["spec"].(map[string]any)["volumeName"] = "pvc-" + string(c.UID)
	c.Status.Phase = corev1.ClaimBound
	c.Status.AccessModes = c.Spec.AccessModes
	c.Status.Capacity = c.Spec.Resources.Requests
	bound.Object["status"] = apiserver.Encode(&c.Status).Object
	b.server.Replace(apiserver.ByKubernetes, bound)
}
