// Package loadtest holds no code: its tests send the built binary more than it
// can take, with the flags, the environment and the memory limit that deploy/
// gives it, and see that it refuses and lives on. They run on loopback and not
// under the race detector, whose memory is not that of the binary.
package loadtest
