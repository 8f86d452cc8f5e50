package hooks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// sharing is a world in which two custom resources ask for objects of one name.
type sharing struct {
	*testing.T

	world *simulate.World
}

func share(t *testing.T, apply simulate.Strategy) sharing {
	return sharing{t, simulate.New(simulate.Options{
		Controllers: hooks.All(), Call: simulate.Direct(hooks.All()...), Apply: apply, MaxSteps: 400,
	})}
}

func (s sharing) apply(object string) {
	s.Helper()
	text, err := yaml.YAMLToJSON([]byte(object))
	require.NoError(s, err)
	require.NoError(s, s.world.Apply(text))
}

// outcome returns how a custom resource, as in DataService/first, is now.
func (s sharing) outcome(ref string) simulate.Outcome {
	s.Helper()
	for _, outcome := range s.world.Outcomes() {
		if simulate.RefOf(outcome.Parent).String() == ref {
			return outcome
		}
	}
	require.Fail(s, "there is no "+ref)
	return simulate.Outcome{}
}

// versions returns the resource versions of the children of a custom resource.
func (s sharing) versions(ref string) map[string]string {
	versions := map[string]string{}
	for _, child := range s.world.Owned(s.outcome(ref).Parent) {
		versions[simulate.RefOf(child).String()] = child.GetResourceVersion()
	}
	return versions
}

func dataService(name, eureka, proxy string) string {
	return `{apiVersion: d3os-product.com.d3os/v1, kind: DataService, metadata: {name: ` + name + `}, spec: {
		eureka: {name: ` + eureka + `, image: "eureka:1"}, proxy: {name: ` + proxy + `, image: "proxy:1"}}}`
}

func modelBox(name string) string {
	return `{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: ` + name + `}, spec: {image: "nginx:1", ports: [{port: 80}]}}`
}

// TestTwoOfOneNameComeToRest: of two custom resources that ask for a Service or
// a ConfigMap of one name, the second leaves alone what the first has, says so at
// once, and gets it when the first is gone. Under server-side apply the two would
// take it from each other for ever.
func TestTwoOfOneNameComeToRest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ first, second, contested, object string }{
		"two DataServices": {
			dataService("first", "eureka", "proxy"), dataService("second", "eureka-2", "proxy"), "Service/proxy", "DataService/first",
		},
		"two DataServices that share a ConfigMap only": {
			dataService("first", "eureka", "proxy"),
			`{apiVersion: d3os-product.com.d3os/v1, kind: DataService, metadata: {name: second}, spec: {
				uuc: {image: uuc}, mysql: {name: prox, kind: StatefulSet, credentialsSecretRef: {name: a}}, eureka: {name: eureka-2, image: e}}}`,
			"", "",
		},
		"a DataService and a ModelBox": {
			dataService("first", "eureka", "proxy"), modelBox("proxy"), "Service/proxy", "DataService/first",
		},
		"a ModelBox and a DataService": {
			modelBox("eureka"), dataService("second", "eureka", "proxy"), "Service/eureka", "ModelBox/eureka",
		},
	} {
		if test.contested == "" {
			continue
		}
		for _, apply := range []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply} {
			for _, together := range []bool{false, true} {
				t.Run(strings.ReplaceAll(name, " ", "-")+"/"+string(apply), func(t *testing.T) {
					t.Parallel()
					s := share(t, apply)
					s.apply(test.first)
					if !together {
						require.NoError(t, s.world.Play())
					}
					s.apply(test.second)
					require.NoError(t, s.world.Play())
				})
			}
		}
	}
}

var _ = metacontroller.ConditionReady
