// Package bench holds no code: its tests measure the built program. They do so beside a
// server that does next to nothing, beside a hook for Node, and beside json.Valid, in turns
// and on loopback. make bench runs them and prints the ratios; docs/bench.txt keeps the
// last, and docs/performance.md has them.
package bench
