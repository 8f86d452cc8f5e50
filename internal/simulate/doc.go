// Package simulate plays in memory what happens to custom resources in a
// cluster, until nothing changes any more: for previews, for demonstrations and
// for tests of the hooks, which it calls through a [Call].
//
// A [World] has three parts. Each step moves all of them once, and the clock by
// a second; where nothing is left to do, the clock jumps to the next timer.
//
// Metacontroller 4.17 is played in full as far as a CompositeController with
// generateSelector and ignoreStatusChanges has it: requests of both hook
// versions, the strict reading of answers, claiming with adoption and release,
// both update methods, the three-way merge of dynamic apply, finalizers,
// customize with its cache, timed resyncs and retries. Its cache is never
// stale, each parent is synced once per step, and nothing is lost, unless
// [Options.Late] is set: then it hears of changes by one watch for each kind,
// and an [Action] says what happens next, and what of it goes wrong. The built-in
// controllers are late then, too, and hear of Pods by a watch of their own.
//
// Of the API server there are identities, generations, optimistic locking,
// finalizers, graceful deletion of Pods, background deletion, the defaults of
// the built-in kinds, the allocation of addresses and node ports, and the
// refusals that workloads meet: immutable fields, selectors that do not match,
// ports that are taken, names and labels that are malformed. Custom resources
// are stored as they are written: the schemas of their CRDs, with defaults,
// pruning and validation, are not modelled. Neither are quotas, admission
// webhooks, permissions, foreground deletion, the finalizer that protects
// claims, and most of the validation of built-in kinds.
//
// Server-side apply is modelled simply. There is one applier, Metacontroller,
// and it applies with force. It owns the fields that it has applied and that
// nobody else has changed since; one that it does not apply any more goes, and
// gets its default where it has one. Lists are merged by the keys of the
// built-in kinds. managedFields names only these fields, and is absent under
// dynamic apply.
//
// Of the controllers there are those of Deployments, StatefulSets, DaemonSets
// and Jobs, and the garbage collector. One node has room for all Pods, which are
// scheduled, run, and become ready or done in one step each. Volumes bind and
// load balancers get their address in one step. Images, commands, probes and
// schedules have no effect, and a [Fault] decides what fails. The one exception
// is a Pod that runs `kubectl debug`, which adds an ephemeral container to
// another.
package simulate
