// Package operettatest tests any list of operators. A project keeps cases and
// samples as files, and one test runs all checks of them:
//
//	testdata/<kind>/<hook>/<case>.in.yaml    a request: a custom resource and what is observed
//	testdata/<kind>/<hook>/<case>.out.yaml   the answer, which -update writes and a reviewer reads
//	deploy/samples/*.yaml                    custom resources as users write them
//
//	func TestOperators(t *testing.T) { operettatest.Run(t, "..", hooks.All()...) }
//
//	func FuzzHooks(f *testing.F) { operettatest.Fuzz(f, "..", hooks.All()...) }
//
// For a test over time, [NewWorld] returns a cluster in memory, with an API
// server, Metacontroller and the built-in controllers, in which a test applies and
// deletes objects, injects faults and checks the result. What depends on
// one observation is a row in a table: [Ask] calls a hook about a custom resource
// and observed children, which [Deployment], [Pod] and the like make. [Cases] reads the
// cases for a test that asks about each with something changed.
//
// The package is for tests. It defines go test's flag -update, unless another
// package has done so before it. Of the environment it reads OPERETTA_TEST_KIND,
// the name of the one operator to test, and OPERETTA_TEST_THOROUGH, which repeats
// random checks more often; -short repeats them less often.
package operettatest
