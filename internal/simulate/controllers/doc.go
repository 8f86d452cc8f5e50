// Package controllers models the controllers that come with Kubernetes, the scheduler,
// the kubelets and the garbage collector. They read an API server's objects and
// write to it as those do.
//
// There are the controllers of Deployments, ReplicaSets, StatefulSets, DaemonSets and
// Jobs; the Pods of a Deployment's ReplicaSets are its own. One node has room for all
// Pods, which are scheduled, run, and become ready or done in one step each. Volumes bind and load balancers get their address in one step. What
// Metacontroller writes in a step is reconciled in the next one. The controllers can
// be late: then they hear of Pods by a watch, but for what they have done themselves.
//
// Images, commands, probes and schedules have no effect: [Options.Struck] decides what fails,
// and a [Program] what a Pod does to the cluster when it runs to its end. There are no
// CronJobs, autoscalers, disruption budgets and EndpointSlices.
package controllers
