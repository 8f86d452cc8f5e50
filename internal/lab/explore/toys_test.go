package explore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// toy is a custom resource whose operator asks for whatever a test wants.
type toy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Image    string                 `json:"image,omitempty"`
		Template corev1.PodTemplateSpec `json:"template,omitempty"`
	} `json:"spec"`
	Status toyStatus `json:"status"`
}

type toyStatus struct {
	operator.Status `json:",inline"`
}

const toyCRD = `{"metadata":{"name":"toys.toys.example.com"},"spec":{"scope":"Namespaced","versions":[{"name":"v1","subresources":{"status":{}},
	"schema":{"openAPIV3Schema":{"type":"object","properties":{
		"spec":{"type":"object","properties":{"image":IMAGE,"template":TEMPLATE}},
		"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`

// toys returns an operator with these children, whose Ready says how its Deployment is.
func toys(image, template string, children func(*toy) []metacontroller.Object, kinds ...metacontroller.Child) metacontroller.Controller {
	type result = metacontroller.Result[toyStatus]
	return metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "toys.example.com/v1", Kind: "Toy", Plural: "toys"},
		Children: kinds, CRD: metacontroller.NewCRD([]byte(strings.NewReplacer("IMAGE", image, "TEMPLATE", template).Replace(toyCRD))),
		Sync: metacontroller.Sync(func(parent *toy, observed metacontroller.Observed) (result, error) {
			wanted := children(parent)
			differs, err := observed.Compare(wanted)
			if err != nil {
				return result{}, err
			}
			workload, err := metacontroller.Get[operator.Workload](observed.Children, "apps/v1", "Deployment", parent.Name)
			if err != nil {
				return result{}, err
			}
			report := operator.NewReport(parent, parent.Status.Status, observed, differs)
			report.SetSummary(report.With(workload.Rollout().Summary()))
			return operator.Answer(report, parent.Status, toyStatus{}, wanted), nil
		}),
	}
}

func toyScenario(apply player.Strategy, controller metacontroller.Controller, spec string, versions ...string) *Scenario {
	object := func(spec string) []byte {
		return []byte(`{"apiVersion":"toys.example.com/v1","kind":"Toy","metadata":{"name":"t"},"spec":` + spec + `}`)
	}
	s := &Scenario{Controllers: []metacontroller.Controller{controller}, Apply: apply, Objects: [][]byte{object(spec)}}
	for _, version := range versions {
		s.Versions = append(s.Versions, object(version))
	}
	return s
}

// firstBroken returns what the first of some schedules breaks, or nil.
func firstBroken(t *testing.T, s *Scenario, schedules uint64) *Violation {
	for seed := range schedules {
		run, _, err := s.Chance(seed + 1)
		require.NoError(t, err)
		if run.Broken != nil {
			return run.Broken
		}
	}
	return nil
}
