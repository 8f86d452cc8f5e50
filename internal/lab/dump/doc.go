// Package dump makes of what kubectl get -o json prints the requests that Metacontroller
// would send. They come one custom resource after the other, each with its own children and
// the objects that its customize hook selects.
//
// It never guesses. A kind of which the dump has no object may be empty in the cluster, or kubectl
// was not asked for it: nothing tells the two apart. Such a kind is not seen, see [Dump.Sees], unless
// the reader is told that kubectl was asked for it.
//
// Objects are kept as text, and decoded when they are looked at: a dump may have 10,000 custom
// resources. No clock is read: [Dump.Newest] is the time at which hooks are asked.
package dump
