// Package loadtest holds no code: its tests overload the built binary. They have the flags,
// the environment and the memory limit of deploy/, and check that it refuses requests and
// survives. They stay on loopback, and run with make load, which is a part of make test.
package loadtest
