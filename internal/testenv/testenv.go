// Package testenv tells tests which kinds to test and how often to repeat what is
// decided by chance, from the environment and from go test's own flags.
package testenv

import (
	"hash/fnv"
	"os"
	"testing"
)

// Kind returns the one kind to test, for `make unit KIND=podset`, or nothing for
// all. It reads the environment each time: go test does not see a variable that is
// read before the tests begin, and would take the result of one kind for that of
// another.
func Kind() string { return os.Getenv("OPERETTA_TEST_KIND") }

// Selected reports whether a kind, by the name of its operator, is to be tested.
func Selected(kind string) bool { return Kind() == "" || Kind() == kind }

// Thorough reports whether every repetition is asked for, as `make thorough` does.
// Without it each case is repeated often enough to find nearly always what chance
// decides.
func Thorough() bool { return os.Getenv("OPERETTA_TEST_THOROUGH") != "" }

// Inner reports whether this is the inner loop of all kinds, which repeats least:
// each case is under each law once, and what chance decides is tried less often.
func Inner() bool { return testing.Short() && Kind() == "" && !Thorough() }

// Sampled reports whether one of many alike is tried: all of them by `make
// thorough`, and one of so many without, the same in every run.
func Sampled(name string, oneOf uint32) bool {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	return Thorough() || hash.Sum32()%oneOf == 0
}

// Often is Sampled for tests of cases: one of so many in the inner loop, and all of
// them in that of one kind and without -short.
func Often(name string, oneOf uint32) bool {
	return !testing.Short() || Kind() != "" || Sampled(name, oneOf)
}
