package explore

import (
	"slices"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/simulation"
)

// keep calls what watches the invariants of a kind at each write.
func (r *Run) keep(kind string, watch func(simulation.Write) string) {
	r.World.Watch(func(w player.Write) {
		write := simulation.Write{
			Before: w.Before, After: w.After, By: string(w.By), Now: r.World.Now(), List: r.World.List,
			Cached: func(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
				return r.World.Heard(kube.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name})
			},
			IsDesired: func(parent, child *unstructured.Unstructured) bool {
				return r.asked[kube.RefOf(parent)][kube.RefOf(child)]
			},
		}
		if broken := watch(write); broken != "" {
			r.violated("the invariants of "+kind, broken)
		}
	}, nil, nil)
}

// mayEnd reports whether a kind runs to completion: it may then have succeeded,
// or have given up, where a new custom resource would end differently.
func mayEnd(history []simulation.History, kind string) bool {
	return slices.ContainsFunc(history, func(h simulation.History) bool { return h.Kind == kind })
}
