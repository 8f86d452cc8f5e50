package hooks_test

import (
	"slices"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/hooks/invariants"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/testenv"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// sharing is a world in which two custom resources ask for objects of one name.
type sharing struct {
	*testing.T

	world *player.World
}

func share(t *testing.T, apply player.Strategy, controllers ...metacontroller.Controller) sharing {
	return sharing{t, player.New(player.Options{
		Controllers: controllers, Simulation: invariants.All(), Call: player.Direct(controllers...), Apply: apply, MaxSteps: 100,
	})}
}

// apply applies a custom resource.
func (s sharing) apply(object string) kube.Ref {
	s.Helper()
	text, err := yaml.YAMLToJSON([]byte(object))
	require.NoError(s, err)
	parsed, err := kube.ParseObject(text)
	require.NoError(s, err)
	require.NoError(s, s.world.Apply(text))
	parsed.SetNamespace("default")
	return kube.RefOf(parsed)
}

// play plays until nothing is written any more.
func (s sharing) play() {
	s.Helper()
	require.NoError(s, s.world.Play())
}

// outcome returns how a custom resource is now.
func (s sharing) outcome(ref kube.Ref) player.Outcome {
	s.Helper()
	for _, outcome := range s.world.Outcomes() {
		if kube.RefOf(outcome.Parent) == ref {
			return outcome
		}
	}
	require.Fail(s, "there is no "+ref.String())
	return player.Outcome{}
}

// versions returns the resource versions of the children of a custom resource.
func (s sharing) versions(ref kube.Ref) map[string]string {
	versions := map[string]string{}
	for _, child := range s.world.Owned(s.outcome(ref).Parent) {
		versions[kube.RefOf(child).String()] = child.GetResourceVersion()
	}
	return versions
}

func dataService(name, eureka, proxy string) string {
	return `{apiVersion: d3os-product.com.d3os/v1, kind: DataService, metadata: {name: ` + name + `}, spec: {
		eureka: {name: ` + eureka + `, image: "eureka:1"}, proxy: {name: ` + proxy + `, image: "proxy:1"}}}`
}

// dataServiceWithAdapter returns one with a component of two ConfigMaps: one of its
// name, and one with -py behind it.
func dataServiceWithAdapter(name, adapter string) string {
	return `{apiVersion: d3os-product.com.d3os/v1, kind: DataService, metadata: {name: ` + name + `}, spec: {
		mysql: {kind: ThirdParty, thirdParty: {url: "mysql://db.example.com:3306", authType: basic, credentialsSecretRef: {name: db}}},
		eureka: {thirdParty: {url: "http://eureka.example.com:8761"}},
		trd-adapter: {name: ` + adapter + `, image: "trd:1"}}}`
}

func modelBox(name string) string {
	return `{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: ` + name + `}, spec: {image: "nginx:1", ports: [{port: 80}]}}`
}

// TestTwoOfOneNameComeToRest: of two custom resources that ask for a Service or
// a ConfigMap of one name, the second leaves alone what the first has, says so at
// once, and gets it when the first is gone. Under server-side apply the two would
// take it from each other for ever.
func TestTwoOfOneNameComeToRest(t *testing.T) {
	if !testenv.Selected("dataservice") && !testenv.Selected("modelbox") {
		t.Skip("it is about other kinds")
	}
	t.Parallel()
	for name, test := range map[string]struct{ first, second, taken string }{
		"two DataServices": {
			dataService("first", "eureka", "proxy"), dataService("second", "eureka-2", "proxy"), "Service/proxy belongs to DataService/first",
		},
		"two DataServices with one ConfigMap": {
			dataService("first", "eureka", "adapter-py"), dataServiceWithAdapter("second", "adapter"), "ConfigMap/adapter-py belongs to DataService/first",
		},
		"a DataService and a ModelBox": {
			dataService("first", "eureka", "proxy"), modelBox("proxy"), "Service/proxy belongs to DataService/first",
		},
		"a DataService and a further Service of a ModelBox": {
			dataService("first", "eureka", "proxy"),
			`{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: web}, spec: {image: "nginx:1", services: [{name: proxy, ports: [{port: 80}]}]}}`,
			"Service/proxy belongs to DataService/first",
		},
		"a ModelBox and a DataService": {
			modelBox("eureka"), dataService("second", "eureka", "proxy"), "Service/eureka belongs to ModelBox/eureka",
		},
	} {
		for _, apply := range []player.Strategy{player.DynamicApply, player.ServerSideApply} {
			if !testenv.Often(name+string(apply), 3) {
				continue
			}
			t.Run(name+"/"+string(apply), func(t *testing.T) {
				t.Parallel()
				s := share(t, apply, hooks.All()...)
				first := s.apply(test.first)
				s.play()
				require.Equal(t, "True", s.outcome(first).Ready)
				before := s.versions(first)

				second := s.apply(test.second)
				for range 20 { // gates open one after the other
					s.world.Step()
				}
				blocked := s.outcome(second)
				require.Equal(t, operator.ReasonChildBlocked, blocked.Reason, blocked.Message)
				require.Contains(t, blocked.Message, test.taken)
				require.Equal(t, "True", kube.ConditionOf(blocked.Parent, operator.ConditionStalled).Status)
				s.play()
				require.Equal(t, operator.ReasonChildBlocked, s.outcome(second).Reason)
				require.Equal(t, before, s.versions(first), "what the first has was written to")
				require.Equal(t, "True", s.outcome(first).Ready)

				require.NoError(t, s.world.Delete(first))
				s.play()
				require.Equal(t, "True", s.outcome(second).Ready, s.outcome(second).Message)
			})
		}
	}
}

// TestTwoThatComeTogetherComeToRest: which of the two gets what is a matter of
// chance then, and both may be blocked.
func TestTwoThatComeTogetherComeToRest(t *testing.T) {
	t.Parallel()
	for name, objects := range map[string][]string{
		"DataServices":               {dataService("first", "eureka", "proxy"), dataService("second", "eureka", "proxy")},
		"a DataService and ModelBox": {modelBox("eureka"), dataService("second", "eureka", "proxy")},
	} {
		for _, apply := range []player.Strategy{player.DynamicApply, player.ServerSideApply} {
			if !testenv.Often(name+string(apply), 3) {
				continue
			}
			t.Run(name+"/"+string(apply), func(t *testing.T) {
				t.Parallel()
				s := share(t, apply, hooks.All()...)
				for _, object := range objects {
					s.apply(object)
				}
				s.play()
			})
		}
	}
}

// TestTheftNeverEnds shows what the others are about: hooks that do not look who
// has a name never come to rest under server-side apply.
func TestTheftNeverEnds(t *testing.T) {
	if !testenv.Selected("dataservice") && !testenv.Selected("modelbox") {
		t.Skip("it is about other kinds")
	}
	if testenv.Inner() {
		t.Skip("it is about the tests beside it, in make cover")
	}
	t.Parallel()
	controllers := hooks.All()
	for i := range controllers {
		controllers[i].Children = slices.Clone(controllers[i].Children)
		for j := range controllers[i].Children {
			controllers[i].Children[j].SharedName = false
		}
	}
	for _, other := range []string{dataService("second", "eureka-2", "proxy"), modelBox("proxy")} {
		s := share(t, player.ServerSideApply, controllers...)
		s.apply(dataService("first", "eureka", "proxy"))
		s.play()
		s.apply(other)
		require.ErrorContains(t, s.world.Play(), "no fixed point")
	}
}

// TestWhatCanBeTakenIsContested wants a reason for each kind of child why another
// custom resource cannot take one: where there is none, hooks have to look who has
// the name.
func TestWhatCanBeTakenIsContested(t *testing.T) {
	const immutable = "the API server refuses the other's: "
	reasons := map[string]string{
		"Deployment":     immutable + "its selector names the custom resource",
		"StatefulSet":    immutable + "its selector names the custom resource",
		"DaemonSet":      immutable + "its selector names the custom resource",
		"Pod":            immutable + "the restartPolicy of a PodSet's is Always, and that of a MyJob's is not",
		"Job":            immutable + "its template cannot be changed",
		"ServiceAccount": "only PodBuggerTools have some, and their names are those of the tools",
		"Role":           "only PodBuggerTools have some, and their names are those of the tools",
		"RoleBinding":    "only PodBuggerTools have some, and their names are those of the tools",
	}
	for _, controller := range hooks.All() {
		for _, child := range controller.Children {
			require.Equal(t, reasons[child.Kind] == "", child.SharedName, "%s of %s", child.Kind, controller.Name())
		}
	}
}

// TestPodOfAnotherIsRefused lets a PodSet and a MyJob ask for one Pod.
func TestPodOfAnotherIsRefused(t *testing.T) {
	t.Parallel()
	set := `{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: web}, spec: {size: 1, template: {spec: {containers: [{name: a, image: "b:1"}]}}}}`
	job := `{apiVersion: myjob.github.com/v1beta1, kind: MyJob, metadata: {name: web-0}, spec: {template: {spec: {containers: [{name: a, image: "b:1"}]}}}}`
	for _, apply := range []player.Strategy{player.DynamicApply, player.ServerSideApply} {
		s := share(t, apply, hooks.All()...)
		first := s.apply(set)
		s.play()
		before := s.versions(first)
		second := s.apply(job)
		s.play()
		require.Equal(t, before, s.versions(first))
		require.Equal(t, operator.ReasonChildBlocked, s.outcome(second).Reason)
	}
}
