// Package composite models Metacontroller's CompositeController, version 4.17. It hears of
// objects by watches of an API server, claims children, calls hooks, and applies what they
// ask for.
//
// Metacontroller is played in full as far as a CompositeController with
// generateSelector and ignoreStatusChanges has it: requests of both hook versions,
// the strict reading of answers, claiming with adoption and release, both update
// methods that operators may declare, the three-way merge of dynamic apply and the
// memory of server-side apply, finalizers, customize with its cache, timed resyncs and
// retries. A sync reads from the cache that its watches fill; before it adopts, or
// writes finalizers and status, it reads the object from the API server as the real
// one does.
//
// It hears of each write at once, unless [Options.Late] is set: then
// [Metacontroller.Deliver] tells it of the next one, and a [Fault] says what goes
// wrong in a sync. Its syncs never run at the same time. DecoratorControllers, rolling
// updates, revisions, hooks by ETag, and Metacontroller's own configuration and metrics
// are not modelled.
package composite
