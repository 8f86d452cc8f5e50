package operettatest_test

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// toyCRD is the CustomResourceDefinition of a Web.
const toyCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.toys.example.com}
spec:
  group: toys.example.com
  names: {kind: Web, listKind: WebList, plural: webs, singular: web}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [image]
            properties:
              replicas: {type: integer, format: int32, minimum: 0, maximum: 100, default: 1}
              image: {type: string, minLength: 1}
              serial: {type: integer, format: int64, minimum: 0, maximum: 9223372036854775000}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// toy is a Web, which keeps a Deployment.
type toy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Image    string `json:"image"`
		Replicas int32  `json:"replicas"`
		Serial   int64  `json:"serial"`
	} `json:"spec"`
	Status toyStatus `json:"status"`
}

type toyStatus struct {
	operator.Status `json:",inline"`
}

var webCRD = metacontroller.NewCRD([]byte(toyCRD))

// webController declares the operator of Webs.
func webController() metacontroller.Controller {
	return metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "toys.example.com/v1", Kind: "Web", Plural: "webs"},
		CRD:    webCRD,
		Children: []metacontroller.Child{{
			Resource: metacontroller.Resource{APIVersion: "apps/v1", Kind: "Deployment", Plural: "deployments"},
			Update:   metacontroller.InPlace,
		}},
		Sync: metacontroller.Sync(syncToy),
	}
}

func syncToy(web *toy, seen metacontroller.Observed) (metacontroller.Result[toyStatus], error) {
	observed, err := metacontroller.Get[operator.Workload](seen.Children, "apps/v1", "Deployment", web.Name)
	if err != nil {
		return metacontroller.Result[toyStatus]{}, err
	}
	return answerToy(web, seen, deployment(web), func() operator.Summary { return observed.Rollout().Summary() })
}

// answerToy asks for one child, and judges it once it is as it is asked for.
func answerToy(parent *toy, seen metacontroller.Observed, child metacontroller.Object, judge func() operator.Summary) (metacontroller.Result[toyStatus], error) {
	wanted := []metacontroller.Object{child}
	differs, err := seen.Compare(wanted)
	if err != nil {
		return metacontroller.Result[toyStatus]{}, err
	}
	report := operator.NewReport(parent, parent.Status.Status, seen, differs)
	report.SetSummary(report.With(judge()))
	return operator.Answer(report, parent.Status, toyStatus{}, wanted), nil
}

// isThere is the summary of a child that need not do anything.
func isThere() operator.Summary {
	return operator.Summary{State: operator.Done, Reason: "Available", Message: "it is there"}
}

func deployment(web *toy) *appsv1.Deployment {
	labels := map[string]string{"web": web.Name}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: web.Name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &web.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: map[string]string{"serial": strconv.FormatInt(web.Spec.Serial, 10)}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: web.Spec.Image}}},
			},
		},
	}
}
