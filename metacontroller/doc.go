// Package metacontroller speaks the webhook protocol of Metacontroller's
// CompositeController, and nothing else. It knows no custom resource and no HTTP.
//
// An operator declares a [Controller]: its parent, the kinds of its children
// with their update methods, and its hooks. A hook is a pure function from a
// parent and what was [Observed] of its children to a [Result]; [Sync],
// [Finalize] and [Customize] wrap such a function so that [Controller.Call]
// can feed it the bytes of a request and check the bytes of its answer.
//
// Three properties of the protocol shape everything here. An observed child
// that a successful answer leaves out is deleted, so whatever cannot be read
// or computed is an error and never a shorter list. An answer is compared with
// the live objects as text, so children are written in the form in which the
// API server returns them. And an answer that differs from call to call is a
// hot loop, so there is no clock but Observed.Now, and no order but by name.
//
// The behaviour of Metacontroller that is relied on is that of 4.17.
package metacontroller
