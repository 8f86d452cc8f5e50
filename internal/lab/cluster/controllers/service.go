package controllers

import (
	"fmt"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
)

func (b *Builtin) service(ref kube.Ref) {
	s := load[corev1.Service](b, ref)
	if s == nil || s.Spec.Type != corev1.ServiceTypeLoadBalancer || len(s.Status.LoadBalancer.Ingress) > 0 ||
		b.struck("fail", b.server.Get(ref)) {
		return
	}
	s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: b.address(), IPMode: new(corev1.LoadBalancerIPModeVIP)}}
	b.report(ref, &s.Status)
}

// address returns an address outside of the cluster.
func (b *Builtin) address() string {
	b.serial++
	return fmt.Sprintf("203.0.113.%d", 1+b.serial%250)
}

// ingress gives an Ingress of any class its address.
func (b *Builtin) ingress(ref kube.Ref) {
	i := load[networkingv1.Ingress](b, ref)
	if i == nil || len(i.Status.LoadBalancer.Ingress) > 0 || b.struck("fail", b.server.Get(ref)) {
		return
	}
	i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: b.address()}}
	b.report(ref, &i.Status)
}

func (b *Builtin) volume(ref kube.Ref) {
	v := load[corev1.PersistentVolume](b, ref)
	if v == nil || v.Status.Phase != "" {
		return
	}
	v.Status.Phase = corev1.VolumeAvailable
	b.report(ref, &v.Status)
}

func (b *Builtin) claim(ref kube.Ref) {
	c := load[corev1.PersistentVolumeClaim](b, ref)
	if c == nil || c.Status.Phase == corev1.ClaimBound || b.struck("fail", b.server.Get(ref)) {
		return
	}
	bound := b.server.Get(ref).DeepCopy()
	bound.Object["spec"].(map[string]any)["volumeName"] = "pvc-" + string(c.UID)
	c.Status.Phase = corev1.ClaimBound
	c.Status.AccessModes = c.Spec.AccessModes
	c.Status.Capacity = c.Spec.Resources.Requests
	bound.Object["status"] = kube.Encode(&c.Status).Object
	b.server.Replace(apiserver.ByKubernetes, bound)
}
