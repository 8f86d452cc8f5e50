// Package dataservice runs a whole product from one resource. It has two kinds of
// middleware, a registry, business services, gateways and a web front, each a workload with
// a Service and its configuration.
//
// The product is a table (see table.go); the rest of the package knows no
// component by name. A component is created when all those that it comes after
// are ready, and updated when those are updated and ready. A gate holds back creation and
// updates only: what has been started is never taken away because a gate closed again, and
// what is missing of it comes back. Components that are taken out go in the reverse order.
// What an older spec asked for as another kind, or here instead of elsewhere, is kept
// until what took its place is ready, and all that depends on it too.
//
// Teardown is the reverse, one stage when the one before is gone with its Pods.
// The claims of a StatefulSet stay, unless the spec asks for their deletion, and
// then they go with the DataService only.
//
// Ready is True when every component is, as the newest spec asks for.
package dataservice

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/deploy"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Controller declares the operator.
func Controller() metacontroller.Controller {
	return metacontroller.Configured(DefaultPolicy(), declare)
}

func declare(policy Policy) metacontroller.Controller {
	return metacontroller.Controller{
		Parent:  metacontroller.Resource{APIVersion: "d3os-product.com.d3os/v1", Kind: "DataService", Plural: "dataservices"},
		CRD:     deploy.CRD("dataservice"),
		Reasons: []string{reasonReady, reasonStarting, reasonNotReady, reasonTooLarge, reasonUnknownName, reasonInvalid, reasonImmutable, string(PhaseDeleting)},
		Children: []metacontroller.Child{
			{Resource: metacontroller.Deployment, Update: metacontroller.InPlace, DecodeAs: reflect.TypeFor[observedWorkload]()},
			{Resource: metacontroller.StatefulSet, Update: metacontroller.InPlace, DecodeAs: reflect.TypeFor[observedWorkload]()},
			{Resource: metacontroller.DaemonSet, Update: metacontroller.InPlace, DecodeAs: reflect.TypeFor[observedWorkload]()},
			{Resource: metacontroller.Service, Update: metacontroller.InPlace, SharedName: true},
			{Resource: metacontroller.ConfigMap, Update: metacontroller.InPlace, SharedName: true},
		},
		Related:         []metacontroller.Related{{Resource: metacontroller.Pod, Informs: true}},
		OrderedTeardown: true,
		Sync:            metacontroller.Sync(policy.sync),
		Finalize:        metacontroller.Finalize(finalize),
		Customize:       metacontroller.Customize(policy.customize),
	}
}

// What is written on children and Pods. Both labels and the name of the workload
// select its Pods; selectors are immutable, so they never change.
const (
	productLabel         = "dataservice"
	appLabel             = "app"
	componentLabel       = "d3os-product.com.d3os/component"
	configHashAnnotation = "d3os-product.com.d3os/config-hash"
)

// customize selects the product's Pods: they show why a component is not ready, and when a
// component that is replaced, removed or torn down has none left. Only an edit and a deletion
// need the latter, and both are a newer generation. Until the DataService is Ready it also selects
// the objects with the names of desired Services and ConfigMaps, which another controller may
// own. Workloads need no such check: their selectors are immutable and name the DataService,
// so the API server refuses to change those of another.
func (p Policy) customize(ds *DataService) (rules []metacontroller.Rule, err error) {
	isReady, isDeleted := ds.Status.IsReadyAt(ds.Generation), !ds.DeletionTimestamp.IsZero()
	if isDeleted || ds.Generation > 1 && !isReady || p.WatchPods.Includes(isReady) {
		rules = append(rules, metacontroller.Rule{
			APIVersion:    metacontroller.Pod.APIVersion,
			Resource:      metacontroller.Pod.Plural,
			Namespace:     ds.Namespace,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{productLabel: ds.Name}},
		})
	}
	if isReady || isDeleted {
		return rules, nil
	}
	product, _ := p.resolve(ds) // sync reports what is wrong with the spec
	services, configMaps := product.contested()
	rules = append(rules, metacontroller.ByName(metacontroller.Service, ds.Namespace, services...)...)
	return append(rules, metacontroller.ByName(metacontroller.ConfigMap, ds.Namespace, configMaps...)...), nil
}

// contested returns the names of the desired Services and ConfigMaps.
func (p *product) contested() (services, configMaps []string) {
	for _, u := range p.units {
		if !u.runsHere() {
			continue
		}
		services = append(services, u.name)
		for _, config := range u.wantedConfigs() {
			configMaps = append(configMaps, u.name+config.suffix)
		}
	}
	return services, configMaps
}
