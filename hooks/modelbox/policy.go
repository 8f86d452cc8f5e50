package modelbox

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/operetta-dev/operetta/operator"
)

// Policy is what whoever installs the operator decides. Another Policy is rolled out to
// the ModelBoxes that it changes.
type Policy struct {
	// ResourceClasses are the sizes of the classes small, medium and large.
	ResourceClasses map[ResourceClass]Size `json:"resourceClasses"`
	// DefaultProbes time the probes that a ModelBox with a TCP port gets.
	DefaultProbes DefaultProbes `json:"defaultProbes"`
	// WatchPods says when the hook reads the Pods, to say what they wait for.
	WatchPods operator.WatchPods `json:"watchPods"`
}

// Size is what a container requests, and its limits.
type Size struct {
	Requests corev1.ResourceList `json:"requests,omitempty"`
	Limits   corev1.ResourceList `json:"limits,omitempty"`
}

// DefaultProbes are the default probes.
type DefaultProbes struct {
	Readiness ProbeTimes `json:"readiness"`
	Liveness  ProbeTimes `json:"liveness"`
	Startup   ProbeTimes `json:"startup"`
}

// ProbeTimes say how often a probe is tried.
type ProbeTimes struct {
	// PeriodSeconds is the time between two attempts, in seconds.
	PeriodSeconds int32 `json:"periodSeconds"`
	// FailureThreshold is after how many failures in a row the probe has failed.
	FailureThreshold int32 `json:"failureThreshold"`
}

// DefaultPolicy returns the Policy of [Controller].
func DefaultPolicy() Policy {
	return Policy{
		ResourceClasses: map[ResourceClass]Size{
			ClassSmall:  size("250m", "256Mi", "500m", "512Mi"),
			ClassMedium: size("500m", "1Gi", "1", "2Gi"),
			ClassLarge:  size("2", "4Gi", "4", "8Gi"),
		},
		DefaultProbes: DefaultProbes{Readiness: ProbeTimes{10, 3}, Liveness: ProbeTimes{10, 3}, Startup: ProbeTimes{5, 60}},
		WatchPods:     operator.WatchAlways,
	}
}

func size(cpu, memory, cpuLimit, memoryLimit string) Size {
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
	}
	return Size{Requests: list(cpu, memory), Limits: list(cpuLimit, memoryLimit)}
}

// Validate returns what is wrong with a Policy: the API server would refuse each
// Deployment.
func (p Policy) Validate() error {
	for _, class := range slices.Sorted(maps.Keys(DefaultPolicy().ResourceClasses)) {
		if _, found := p.ResourceClasses[class]; !found {
			return fmt.Errorf("resourceClasses.%s is missing: write its requests and limits", class)
		}
	}
	for _, class := range slices.Sorted(maps.Keys(p.ResourceClasses)) {
		if _, known := DefaultPolicy().ResourceClasses[class]; !known {
			return fmt.Errorf("resourceClasses.%s: there is no such class: write small, medium or large", class)
		}
		if err := p.ResourceClasses[class].validate(); err != nil {
			return fmt.Errorf("resourceClasses.%s.%w", class, err)
		}
	}
	for name, times := range map[string]ProbeTimes{"readiness": p.DefaultProbes.Readiness, "liveness": p.DefaultProbes.Liveness, "startup": p.DefaultProbes.Startup} {
		if times.PeriodSeconds < 1 || times.FailureThreshold < 1 {
			return fmt.Errorf("defaultProbes.%s: write a periodSeconds and a failureThreshold of at least 1", name)
		}
	}
	return p.WatchPods.Validate()
}

// validate refuses what no container can have. The names of resources are the API server's
// to judge.
func (s Size) validate() error {
	for field, list := range map[string]corev1.ResourceList{"requests": s.Requests, "limits": s.Limits} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if amount := list[name]; amount.Sign() < 0 {
				return fmt.Errorf("%s.%s: %s is negative: write 0 or more", field, name, amount.String())
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Requests)) {
		request := s.Requests[name]
		if limit, limited := s.Limits[name]; limited && request.Cmp(limit) > 0 {
			return fmt.Errorf("requests.%s: %s is more than the limit of %s", name, request.String(), limit.String())
		}
	}
	return nil
}
