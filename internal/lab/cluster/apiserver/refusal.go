package apiserver

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Refusal is why a server does not admit objects of a kind, unless a person creates them.
type Refusal string

// The refusals.
const (
	// OverQuota is that a ResourceQuota is used up.
	OverQuota Refusal = "quota"
	// BySecurity is that the namespace enforces the Pod Security Standard restricted, and a Pod
	// violates it.
	BySecurity Refusal = "pod-security"
	// NoAccount is that a Pod's ServiceAccount does not exist.
	NoAccount Refusal = "service-account"
	// ByWebhook is that an admission webhook denies it.
	ByWebhook Refusal = "webhook"
	// PortTaken is that somebody else has the node port that a Service asks for.
	PortTaken Refusal = "node-port"
)

type refusal struct {
	kind string
	how  Refusal
}

// SetRefusal makes the server refuse objects of a kind, besides those that it refuses already.
func (s *Server) SetRefusal(kind string, how Refusal) {
	if r := (refusal{kind, how}); !slices.Contains(s.refusing, r) {
		s.refusing = append(s.refusing, r)
	}
}

// EndRefusals ends some.
func (s *Server) EndRefusals(ends func(kind string, how Refusal) bool) {
	s.refusing = slices.DeleteFunc(s.refusing, func(r refusal) bool { return ends(r.kind, r.how) })
}

// HasRefused reports whether an object of a kind has ever been refused so.
func (s *Server) HasRefused(kind string, how Refusal) bool { return s.refused[refusal{kind, how}] }

// refuses returns why a new object is refused, as a real server does, or nil. A mutating plugin comes
// before a validating one, and those before quotas (k8s.io/kubernetes, pkg/kubeapiserver/options/plugins.go).
func (s *Server) refuses(kind Kind, object kube.Object) error {
	for _, how := range []Refusal{NoAccount, BySecurity, ByWebhook, OverQuota} {
		r := refusal{object.GetKind(), how}
		if !slices.Contains(s.refusing, r) {
			continue
		}
		if err := s.refusalOf(kind, object, how); err != nil {
			s.refused[r] = true
			return err
		}
	}
	return nil
}

// isTaken reports whether somebody else has whichever node port a Service asks for.
func (s *Server) isTaken() bool {
	r := refusal{"Service", PortTaken}
	if !slices.Contains(s.refusing, r) {
		return false
	}
	s.refused[r] = true
	return true
}

func (s *Server) refusalOf(kind Kind, object kube.Object, how Refusal) error {
	forbidden := func(name string, words error) error {
		return apierrors.NewForbidden(kind.GroupResource(), name, words)
	}
	switch how {
	case ByWebhook:
		return deniedByWebhook("validate.example.com", "the label team is missing")
	case PortTaken: // its admission knows the ports
	case OverQuota:
		return forbidden(object.GetName(), s.overQuota(kind, object))
	case NoAccount:
		if words := s.noAccount(object); words != nil {
			return forbidden(askedName(object), words)
		}
	case BySecurity:
		if words := violated(object); words != nil {
			return forbidden(object.GetName(), words)
		}
	}
	return nil
}

// askedName returns the name before one is generated, which only a mutating plugin sees.
func askedName(pod kube.Object) string {
	owner, _ := kube.ControllerOf(pod)
	for _, kind := range []metacontroller.Resource{metacontroller.ReplicaSet, metacontroller.Job, metacontroller.DaemonSet} {
		if owner.Is(kind) {
			return pod.GetName()[:strings.LastIndex(pod.GetName(), "-")+1]
		}
	}
	return pod.GetName()
}

// overQuota has the words of pkg/admission/plugin/resourcequota/controller.go in k8s.io/apiserver.
func (s *Server) overQuota(kind Kind, object kube.Object) error {
	resource, used := kind.GroupResource(), 0
	for _, other := range s.List(object.GetAPIVersion(), object.GetKind()) {
		if other.GetNamespace() == object.GetNamespace() {
			used++
		}
	}
	counted := resource.String()
	if object.GetAPIVersion() != "v1" || object.GetKind() == "ServiceAccount" {
		counted = "count/" + counted
	}
	return fmt.Errorf("exceeded quota: compute, requested: %s=1, used: %s=%d, limited: %s=%d", counted, counted, used, counted, used)
}

// deniedByWebhook has the words of pkg/admission/plugin/webhook/errors/statuserror.go in k8s.io/apiserver.
func deniedByWebhook(webhook, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Message: fmt.Sprintf("admission webhook %q denied the request: %s", webhook, message),
	}}
}

// noAccount has the words of plugin/pkg/admission/serviceaccount/admission.go in k8s.io/kubernetes.
func (s *Server) noAccount(pod kube.Object) error {
	var typed corev1.Pod
	if err := kube.Decode(pod, &typed); err != nil {
		return err
	}
	ref := kube.Ref{APIVersion: "v1", Kind: "ServiceAccount", Namespace: pod.GetNamespace(), Name: cmp.Or(typed.Spec.ServiceAccountName, "default")}
	if s.Get(ref) != nil {
		return nil
	}
	return fmt.Errorf("error looking up service account %s: %w", ref.Key(), apierrors.NewNotFound(corev1.Resource("serviceaccount"), ref.Name))
}

// violated returns what the Pod Security Standard restricted says of a Pod, as admission/admission.go in
// k8s.io/pod-security-admission does.
func violated(pod kube.Object) error {
	var typed corev1.Pod
	if err := kube.Decode(pod, &typed); err != nil {
		return err
	}
	defaultPodSpec(&typed.Spec)
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return err
	}
	enforced := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	result := policy.AggregateCheckResults(evaluator.EvaluatePod(enforced, &typed.ObjectMeta, &typed.Spec))
	if result.Allowed {
		return nil
	}
	return fmt.Errorf("violates PodSecurity %q: %s", enforced.String(), result.ForbiddenDetail())
}
