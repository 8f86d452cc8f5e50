// Package diff tells from a dump what a build of operators would change in that cluster.
// For each custom resource it asks the hooks with the request of Metacontroller, and lets
// the model of Metacontroller and the API server apply the answer. Each object that would
// be another one gets one verdict.
//
// Both sides of a comparison are as that model stores them, so that defaults, quantities and the
// bookkeeping of Metacontroller and of kubectl are no differences. Values of Secrets are never in a
// report. What the dump lacks is told as not seen, and changes that an older build reports about
// the same dump are told apart.
package diff
