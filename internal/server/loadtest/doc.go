// Package loadtest holds no code: its tests send the built binary more than it
// can take, with the flags, the environment and the memory limit that deploy/
// gives it, and see that it refuses and lives on. They stay on loopback, and run
// with make load, which is a part of make test.
package loadtest
