// Package apiserver models the part of a Kubernetes API server that operators notice. It
// stores objects, notifies watches of each write, and refuses what a real one refuses.
//
// It has identities, generations, optimistic locking, finalizers, graceful deletion
// of Pods, deletion with a cascade, the defaults of the built-in kinds, the
// allocation of cluster IPs and node ports, and the refusals that workloads meet:
// immutable fields, selectors that do not match, ports that are taken, malformed
// names and labels. A custom resource is held to its CustomResourceDefinition by
// package crd; without one it is stored as it is written. The module e2e/defaults
// compares the defaults of the built-in kinds with those of k8s.io/kubernetes.
//
// Server-side apply merges by the library of the API server. There is one applier,
// Metacontroller, and it applies with force. It owns the fields that it has applied
// and that nobody else has changed since; a field that it no longer applies is
// removed, and gets its default where it has one. The types of the built-in kinds
// say by what the items of a list are told apart; the lists of a custom resource are
// owned as a whole. managedFields names only the applier's fields, and is absent
// under dynamic apply.
//
// There are no namespaces to delete, permissions, admission webhooks or priorities,
// no protection of claims that are in use, and most of the validation of built-in
// kinds is left out. Its refusals are those of [Server.SetRefusal].
package apiserver
