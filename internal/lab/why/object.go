package why

import (
	"fmt"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// terminationGrace is how long a deletion may take before it is a cause: longer than the default
// grace period of a Pod.
const terminationGrace = time.Minute

// addObject adds what is wrong with an object below the custom resource.
func (w *walk) addObject(object Object, links []Link) {
	switch ref := kube.RefOf(object); {
	case object.GetDeletionTimestamp() != nil:
		w.addTerminating(object, links)
	case ref.Is(metacontroller.Pod):
		w.addPod(object, links)
	case ref.Is(metacontroller.PersistentVolumeClaim):
		w.addClaim(object, links, false)
	case ref.Is(metacontroller.Job):
		w.addJob(object, links)
	case ref.Is(metacontroller.Service):
		w.addService(object, links)
	case ref.Is(metacontroller.Deployment), ref.Is(metacontroller.ReplicaSet), ref.Is(metacontroller.StatefulSet), ref.Is(metacontroller.DaemonSet):
		w.addWorkload(object, links)
	default:
		w.addOther(object, links)
	}
}

// addTerminating adds an object that is being deleted and holds up what comes after it.
func (w *walk) addTerminating(object Object, links []Link) {
	since := object.GetDeletionTimestamp().Time
	if seconds := object.GetDeletionGracePeriodSeconds(); seconds != nil {
		since = since.Add(-time.Duration(*seconds) * time.Second) // the API server adds them
	}
	c := Cause{Source: "metadata.deletionTimestamp", Reason: "Terminating", Message: "it is being deleted", Since: at(since), rank: progressing}
	if finalizers := object.GetFinalizers(); len(finalizers) > 0 {
		c.Source, c.Message = "metadata.finalizers", heldBy(finalizers)
		c.Next = []string{"nothing by itself: the program that set the finalizer removes it"}
	}
	isLate := w.options.Now.Sub(since) > terminationGrace
	if object.GetKind() == "Pod" && len(object.GetFinalizers()) == 0 {
		told := podOf(object).told(w.options.Now)
		c.Message, isLate = told.Text, told.State == operator.Degraded
	}
	if isLate {
		c.rank = failing
		if node, found := w.lostNode(object); found {
			w.addNode(node, links)
		}
	}
	w.add(object, links, c)
}

func heldBy(finalizers []string) string {
	return "it is being deleted: the finalizers " + strings.Join(finalizers, ", ") + " hold it"
}

// addWorkload adds what the controller of a workload reports, and what nobody has created.
func (w *walk) addWorkload(object Object, links []Link) {
	status := object.Object["status"]
	if c := kube.ConditionIn(status, "ReplicaFailure"); c.Status == "True" {
		w.add(object, links, Cause{Source: "condition ReplicaFailure", Reason: c.Reason, Message: c.Message, Since: at(c.Since), rank: failing, Next: retriesPods, Look: w.eventsOf(kube.RefOf(object))})
		return
	}
	rollout, _ := kube.RolloutOf(object)
	isBehind, wanted, existing := !rollout.IsObserved(), rollout.Wanted, rollout.Existing
	failed := w.warning(object, func(e event) bool { return strings.HasPrefix(e.reason, "Failed") })
	isPaused, _, _ := unstructured.NestedBool(object.Object, "spec", "paused")
	switch {
	case failed != nil && (existing < wanted || isBehind):
		w.add(object, links, Cause{Source: "event", Reason: failed.reason, Message: failed.message, Since: at(failed.first), rank: failing, Next: retriesPods, Look: w.eventsOf(kube.RefOf(object))})
	case isPaused:
		w.add(object, links, Cause{Source: "spec.paused", Reason: "DeploymentPaused", Message: "its rollout is paused", Since: at(kube.ConditionIn(status, "Progressing").Since), rank: failing,
			Next: []string{"nothing by itself: kubectl rollout resume goes on"}})
	case isOfDeployment(object): // which says the rest
	case isBehind:
		w.add(object, links, Cause{Source: "status.observedGeneration", Reason: "NotObserved", rank: progressing,
			Message: fmt.Sprintf("the controller of %ss has not observed generation %d", object.GetKind(), object.GetGeneration()), Since: at(object.GetCreationTimestamp().Time)})
	case existing < wanted:
		w.add(object, links, Cause{Source: "status.replicas", Reason: "Creating", Message: fmt.Sprintf("%d of %d Pods exist", existing, wanted), Since: at(object.GetCreationTimestamp().Time), rank: progressing})
	case object.GetKind() == "DaemonSet" && wanted == 0:
		w.add(object, links, Cause{Source: "status.desiredNumberScheduled", Reason: "NoNode", Message: "no node takes its Pods", Since: at(object.GetCreationTimestamp().Time), rank: failing})
	}
	if c := kube.ConditionIn(status, "Progressing"); c.Status == "False" {
		w.add(object, links, Cause{Source: "condition Progressing", Reason: c.Reason, Message: c.Message, Since: at(c.Since), rank: stalled})
	}
}

func isOfDeployment(object Object) bool {
	owner, _ := kube.ControllerOf(object)
	return owner.Is(metacontroller.Deployment)
}

var retriesPods = []string{"its controller tries again, with exponential back-off"}

// addJob adds how a Job has failed, or that it is held back.
func (w *walk) addJob(object Object, links []Link) {
	status := object.Object["status"]
	isSuspended, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend")
	failed := kube.ConditionIn(status, "Failed")
	if failed.Status != "True" {
		failed = kube.ConditionIn(status, "FailureTarget")
	}
	event := w.warning(object, func(e event) bool { return e.reason == "FailedCreate" })
	switch {
	case kube.ConditionIn(status, "Complete").Status == "True":
	case failed.Status == "True" && event != nil && number(object, "status", "failed") == 0: // it never had a Pod
		w.add(object, links, Cause{Source: "event", Reason: event.reason, Message: event.message, Since: at(event.first), rank: failing, Look: w.eventsOf(kube.RefOf(object)),
			Next: []string{"nothing by itself: the Job does not start another Pod"}})
	case failed.Status == "True":
		w.add(object, links, Cause{Source: "condition Failed", Reason: failed.Reason, Message: failed.Message, Since: at(failed.Since), rank: failing,
			Next: []string{"nothing by itself: the Job does not start another Pod"}})
	case isSuspended:
		w.add(object, links, Cause{Source: "spec.suspend", Reason: "Suspended", Message: "the Job is suspended", Since: at(kube.ConditionIn(status, "Suspended").Since), rank: failing,
			Next: []string{"nothing by itself: spec.suspend has to be false"}})
	case event != nil && number(object, "status", "active") == 0:
		w.add(object, links, Cause{Source: "event", Reason: event.reason, Message: event.message, Since: at(event.first), rank: failing, Next: retriesPods, Look: w.eventsOf(kube.RefOf(object))})
	case len(w.below(object)) == 0:
		w.add(object, links, Cause{Source: "status", Reason: "NoPod", Message: "the Job has no Pod yet", Since: at(object.GetCreationTimestamp().Time), rank: progressing})
	}
}

// addClaim adds a claim without a volume. A Pod may say that it waits for nothing else.
func (w *walk) addClaim(claim Object, links []Link, isWaitedFor bool) {
	phase, _, _ := unstructured.NestedString(claim.Object, "status", "phase")
	if phase == "Bound" {
		return
	}
	c := Cause{Source: "status.phase", Reason: "Unbound", Message: "the claim has no volume", Since: at(claim.GetCreationTimestamp().Time), rank: progressing}
	if isWaitedFor {
		c.rank = failing
	}
	if e := w.newest(claim, func(e event) bool {
		return e.isWarning || e.reason == "FailedBinding" || e.reason == "ExternalProvisioning"
	}); e != nil {
		c.Source, c.Reason, c.Message, c.rank = "event", e.reason, e.message, failing
	}
	c.Next = []string{"the volume controller tries again, with exponential back-off"}
	w.add(claim, links, c)
}

// addService adds a load balancer without an address.
func (w *walk) addService(service Object, links []Link) {
	kind, _, _ := unstructured.NestedString(service.Object, "spec", "type")
	if ingress, _, _ := unstructured.NestedSlice(service.Object, "status", "loadBalancer", "ingress"); kind != "LoadBalancer" || len(ingress) > 0 {
		return
	}
	c := Cause{Source: "status.loadBalancer", Reason: "NoAddress", Message: "the load balancer has no address", Since: at(service.GetCreationTimestamp().Time), rank: beside}
	if e := w.warning(service, anyEvent); e != nil {
		c.Source, c.Reason, c.Message = "event", e.reason, e.message
	}
	w.add(service, links, c)
}

// addOther adds what the conditions of an object of any other kind say.
func (w *walk) addOther(object Object, links []Link) {
	for _, c := range kube.ConditionsIn(object.Object["status"]) {
		if isReadiness(c.Type) && c.Status != "True" {
			rank := failing
			if c.Status == "Unknown" {
				rank = progressing
			}
			w.add(object, links, Cause{Source: "condition " + c.Type + "=" + c.Status, Reason: c.Reason, Message: c.Message, Since: at(c.Since), rank: rank})
			return
		}
	}
	if e := w.warning(object, anyEvent); e != nil {
		w.add(object, links, Cause{Source: "event", Reason: e.reason, Message: e.message, Since: at(e.first), rank: beside})
	}
}

// isReadiness reports whether a condition of this type is True when all is well.
func isReadiness(conditionType string) bool {
	switch conditionType {
	case "Ready", "Available", "Established", "Accepted":
		return true
	}
	return false
}

func number(object Object, path ...string) int64 {
	n, _, _ := unstructured.NestedInt64(object.Object, path...)
	return n
}

// link returns an object as it stands on the way to the custom resource.
func (w *walk) link(object Object) Link {
	return Link{Kind: object.GetKind(), Name: object.GetName(), State: kube.Words(object)}
}
