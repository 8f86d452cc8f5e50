// Package player plays in memory what happens to custom resources in a cluster, until
// nothing changes any more. It is for previews, for demonstrations and for tests of the
// hooks, which it calls through a [Call].
//
// A [World] has three parts, each a package below this one that knows nothing of the
// inside of the others: apiserver stores objects and tells of each write, composite is
// Metacontroller, and controllers are those that come with Kubernetes. The doc comment
// of each says what it models and what it does not.
//
// This package is the player: it has the clock, which each step moves by a second, and
// which jumps to the next timer where nothing is left to do; in a step, Metacontroller
// syncs once whatever is to be synced, and then every built-in controller reconciles. It
// applies what people apply, does what an [Action] says at its step, and makes a list of what
// happened. With [Options.Late] nothing happens by itself: an action says what happens next,
// and what of it goes wrong.
package player
