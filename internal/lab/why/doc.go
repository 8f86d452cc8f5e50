// Package why tells why a custom resource is not Ready, from objects that somebody has read: a
// dump of kubectl, or a recorded request.
//
// What the operator decides is the hook's own answer to these objects. This package walks from
// the custom resource down to what it owns, collects what is wrong with each object in the words
// of whoever reported it (the kubelet, the scheduler, a controller, an event), and puts first what
// the others follow from. It never guesses: what the objects do not tell is not seen.
package why
