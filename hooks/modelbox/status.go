package modelbox

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// ReasonAddressPending means that all Pods are available, and a load balancer has no address yet.
const ReasonAddressPending = "AddressPending"

// summary returns how far the Deployment is, and what one of its Pods waits for. What is said of a
// template that is being replaced, such as its progress deadline, does not count. The duration is when
// to look again, or zero.
func summary(box *ModelBox, request metacontroller.Observed, observed observed, differs metacontroller.Difference) (operator.Summary, time.Duration, error) {
	d, rollout := observed.deployment, observed.deployment.Rollout()
	isOld := d == nil || slices.Contains(differs.Outdated, d.Ref()) || !rollout.IsObserved()
	if isOld {
		rollout.Deadline = ""
	}
	rollout.IsPaused = rollout.IsPaused && !box.Spec.Paused
	summary := rollout.Summary()
	switch {
	case isOld, summary.Reason == operator.ReasonPaused, summary.Reason == operator.ReasonReplicaFailure:
		return summary, 0, nil
	case box.Spec.Paused && summary.Reason == operator.ReasonRollingOut:
		summary.Reason = operator.ReasonPaused
		summary.Message += "; set spec.paused to false to go on"
		return summary, 0, nil
	}
	pods, err := podsOf(box, request)
	told := operator.Tell(pods, request.Now)
	if summary.State == operator.Done {
		pending, left := observed.withAddresses(summary.Telling(told), request.Now)
		return pending, left, err
	}
	if told == nil {
		summary.Message += operator.SeeWhy("modelbox", box, request)
	}
	return summary.Telling(told), 0, err
}

// addressGrace is how long a load balancer may take until a person should look.
const addressGrace = 10 * time.Minute

// withAddresses returns a summary that is not done while a load balancer has no address, and when to look again.
func (o observed) withAddresses(done operator.Summary, now time.Time) (operator.Summary, time.Duration) {
	for _, s := range o.services {
		if s.Spec.Type != ServiceLoadBalancer || len(s.Status.LoadBalancer.Ingress) > 0 {
			continue
		}
		message := done.Message + "; " + s.Ref() + " has no address yet: a load balancer has to give it one"
		pending := operator.Summary{State: operator.Progressing, Reason: ReasonAddressPending, Message: message}
		left := s.Metadata.CreationTimestamp.Add(addressGrace).Sub(now)
		if done.State == operator.Restarted || left <= 0 {
			pending.State = operator.Degraded
		}
		return pending, max(left, 0)
	}
	return done, 0
}

// IsProgressOf reports whether a status differs from an older one only in how far the rollout is.
func (s Status) IsProgressOf(old Status) bool {
	isPending := func(s Status) bool {
		ready := meta.FindStatusCondition(s.Conditions, operator.ConditionReady)
		return ready != nil && ready.Reason == ReasonAddressPending
	}
	return isPending(s) == isPending(old)
}

// progress copies the numbers and addresses that are observed.
func progress(box *ModelBox, observed observed) Status {
	status := Status{Selector: selectorLabel + "=" + box.Name}
	if d := observed.deployment; d != nil {
		status.Replicas = d.Status.Replicas
		status.ReadyReplicas = d.Status.ReadyReplicas
		status.UpdatedReplicas = d.Status.UpdatedReplicas
		status.AvailableReplicas = d.Status.AvailableReplicas
		status.Ready = fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, d.Rollout().Wanted)
	}
	service := observed.service(serviceName(box))
	if service == nil {
		return status
	}
	status.ServiceType = service.Spec.Type
	status.ClusterIP = service.Spec.ClusterIP
	if service.isHeadless() {
		status.ServiceType = ServiceHeadless
	}
	if len(service.Status.LoadBalancer.Ingress) > 0 {
		status.LoadBalancer = &service.Status.LoadBalancer
	}
	for _, port := range service.Spec.Ports {
		if port.NodePort != 0 {
			status.NodePorts = append(status.NodePorts, port)
		}
	}
	return status
}
