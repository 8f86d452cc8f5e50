// Package rediscache runs Redis in a StatefulSet, with a ConfigMap and a headless Service.
// A RedisCache is Ready when all its Pods are updated and available.
package rediscache

import (
	"example.com/acme/operators/deploy"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Controller declares the operator.
func Controller() metacontroller.Controller {
	return metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "acme.example.com/v1alpha1", Kind: "RedisCache", Plural: "rediscaches"},
		CRD:    deploy.CRD("rediscache"), // what it refuses, the hooks refuse
		Children: []metacontroller.Child{
			{Resource: metacontroller.ConfigMap, Update: metacontroller.InPlace, SharedName: true},
			{Resource: metacontroller.StatefulSet, Update: metacontroller.InPlace},
			{Resource: metacontroller.Service, Update: metacontroller.InPlace, SharedName: true},
		},
		Invariants: invariants(),
		Sync:       metacontroller.Sync(sync),
		Customize:  metacontroller.Customize(customize),
	}
}

// customize selects what has the names of the ConfigMap and the Service: another
// controller may have it.
func customize(parent *RedisCache) ([]metacontroller.Rule, error) {
	return append(metacontroller.ByName(metacontroller.Service, parent.Namespace, parent.Name),
		metacontroller.ByName(metacontroller.ConfigMap, parent.Namespace, parent.Name)...), nil
}
