// Package testenv reads from the environment and from go test's flags which kinds to test,
// and how often to repeat randomized tests.
package testenv

import (
	"hash/fnv"
	"os"
	"testing"
)

// Kind returns the one kind to test, for `make unit KIND=podset`, or an empty string for
// all. It reads the environment each time: go test does not notice a variable that is
// read before the tests begin, and would reuse the cached result of another kind.
func Kind() string { return os.Getenv("OPERETTA_TEST_KIND") }

// Selected reports whether a kind is to be tested.
func Selected(kind string) bool { return Kind() == "" || Kind() == kind }

// Thorough reports whether every repetition is wanted, as in `make thorough`. Without it
// randomized tests are repeated often enough to find nearly every error.
func Thorough() bool { return os.Getenv("OPERETTA_TEST_THOROUGH") != "" }

// Inner reports whether this is `make unit` without a kind, which repeats least: each law
// checks each case once, and randomized tests are repeated less often.
func Inner() bool { return testing.Short() && Kind() == "" && !Thorough() }

// Sampled reports whether one of many similar cases is tested: all of them by `make
// thorough`, otherwise one in oneOf, the same ones in every run.
func Sampled(name string, oneOf uint32) bool {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name))
	return Thorough() || hash.Sum32()%oneOf == 0
}

// Often is Sampled in `make unit` without a kind, and true for one kind or without -short.
func Often(name string, oneOf uint32) bool {
	return !testing.Short() || Kind() != "" || Sampled(name, oneOf)
}
