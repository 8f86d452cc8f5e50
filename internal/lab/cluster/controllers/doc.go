// Package controllers models the controllers that come with Kubernetes, the scheduler,
// the kubelets and the garbage collector. They read an API server's objects and
// write to it as those do.
//
// Every kind that package metacontroller declares is acted on as far as it has a status; the
// Pods of a Deployment's ReplicaSets are the Deployment's. One node has room for all Pods,
// which are scheduled, run, and become ready or done in one step each. Volumes bind, and load
// balancers and Ingresses get their address, in one step. What Metacontroller writes in a step
// is reconciled in the next one. The controllers can be late: then they hear of Pods by a
// watch, but for what they have done themselves.
//
// Images, commands and schedules have no effect, and of probes only a port that the container
// does not have: [Options.Struck] decides what fails, and a [Program] what a Pod does to the
// cluster when it runs to its end. What an autoscaler measures, and when a CronJob is due, is
// said with [Builtin.SetMetric] and [Builtin.SetDue]. There are no EndpointSlices of Services,
// but [Builtin.Endpoints].
package controllers
