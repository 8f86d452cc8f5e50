package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// mode is how Metacontroller runs.
type mode struct{ strategy, hookVersion string }

func (m mode) String() string { return m.strategy + "/" + m.hookVersion }

// modes are all of them; the last two differ from the first two in the keys of a
// request only.
var modes = []mode{
	{"dynamic-apply", "v2"}, {"server-side-apply", "v2"}, {"dynamic-apply", "v1"}, {"server-side-apply", "v1"},
}

// liveTest is a test that runs in some of the modes.
type liveTest struct {
	name string
	in   []mode
	test func(*world)
}

// together are the tests that run at the same time, each in its namespace: they
// wait most of the time. Those that take longest come first.
var together = []liveTest{
	{"Samples", modes, testSamples},
	{"HooksThatFail", modes[:1], testHooksThatFail},
	{"Why", modes[:2], testWhy},
	{"ImagesThatFail", modes[:1], testImagesThatFail},
	{"ForeignObject", modes[:1], testForeignObject},
	{"TwoProductsInOneNamespace", modes[:2], testTwoProductsInOneNamespace},
	{"TenantCannotForgeAChild", modes[:2], testTenantCannotForgeAChild},
	{"KeptChildIsNotWritten", modes[:2], testKeptChildIsNotWritten},
	{"AdoptedDeploymentIsNotUpdated", modes[:2], testAdoptedDeploymentIsNotUpdated},
	{"Drift", modes[:2], testDrift},
	{"PodSetScalesAndRolls", modes[:2], testPodSetScalesAndRolls},
	{"BuildRunsTheNewestRevisionOnce", modes[:2], testBuildRunsTheNewestRevisionOnce},
	{"Cascades", modes[:2], testCascades},
	{"FinishedMyJobIsNotRunAgain", modes[:2], testFinishedMyJobIsNotRunAgain},
	{"EveryFieldIsQuiet", modes[:2], testEveryFieldIsQuiet},
}

// alone are the tests that end a program that all need.
var alone = []liveTest{
	{"ServerIsKilledInTheMiddleOfARoll", modes[:1], testServerIsKilledInTheMiddleOfARoll},
	{"MetacontrollerIsKilled", modes[:2], testMetacontrollerIsKilled},
}

// TestModes runs the tests in each mode.
func TestModes(t *testing.T) {
	for _, m := range modes {
		t.Run(m.String(), func(t *testing.T) {
			hooks, url := newProxy(t)
			r := start(t, m, url)
			r.hooks = hooks
			t.Run("together", func(t *testing.T) {
				for _, c := range selected(together, m) {
					t.Run(c.name, func(t *testing.T) {
						t.Parallel()
						c.test(newWorld(t, r))
					})
				}
			})
			others := selected(alone, m)
			if len(others) == 0 {
				return
			}
			// Without the proxy, which would answer while the hooks do not.
			require.NoError(t, operetta.Connect(operetta.HookURL, m.hookVersion))
			for _, c := range others {
				t.Run(c.name, func(t *testing.T) { c.test(newWorld(t, r)) })
			}
		})
	}
}

// selected returns the tests that run in a mode.
func selected(tests []liveTest, m mode) (list []liveTest) {
	for _, c := range tests {
		for _, in := range c.in {
			if in == m {
				list = append(list, c)
			}
		}
	}
	return list
}

// run is a Metacontroller that runs in a mode.
type run struct {
	mode  mode
	hooks *proxy // in front of the hooks, or nil
}

// start starts Metacontroller for the time of a test.
func start(t *testing.T, m mode, hookURL string) *run {
	t.Helper()
	return startWith(t, m, func() { require.NoError(t, operetta.Connect(hookURL, m.hookVersion)) })
}

// startWith is start with a function that applies the CompositeControllers.
func startWith(t *testing.T, m mode, connect func()) *run {
	t.Helper()
	if metacontroller == "" {
		skipped.Add(1)
		t.Skip("metacontroller is not on the PATH")
	}
	connect()
	require.NoError(t, operetta.StartMetacontroller(t.Context(), metacontroller, m.strategy))
	t.Cleanup(func() { require.NoError(t, operetta.End(cluster.Metacontroller)) })
	return &run{mode: m}
}
