package player

import (
	"slices"
	"strings"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

func TestParseAction(t *testing.T) {
	for text, want := range map[string]Action{
		"fail Deployment/web": {Do: Fail, Target: "Deployment/web"},
		"vanish Pod/web-0@3":  {At: 3, Do: Vanish, Target: "Pod/web-0"},
		"fail Image/registry.example.com:5000/team/web:2.0@4": {At: 4, Do: Fail, Target: "Image/registry.example.com:5000/team/web:2.0"},
		"fail Image/web@sha256:0123":                          {Do: Fail, Target: "Image/web@sha256:0123"},
		"restart@2":                                           {At: 2, Do: "restart"},
		"quota Pod@2":                                         {At: 2, Do: "quota", Target: "Pod"},
		`create@5 {"kind": "Pod"}`:                            {At: 5, Do: "create", Detail: `{"kind": "Pod"}`},
		`edit PodSet/cache@7 {"spec": {"size": 4}}`:           {At: 7, Do: "edit", Target: "PodSet/cache", Detail: `{"spec": {"size": 4}}`},
		"sync PodSet/cache crash@1":                           {Do: "sync", Target: "PodSet/cache", Detail: "crash@1"},
	} {
		is, err := ParseAction(text)
		require.NoError(t, err, text)
		require.Equal(t, want, is, text)
		require.Equal(t, text, is.String())
	}
	for _, bad := range []string{"", "web", "Deployment/", "/web", "a/b/c", "Pod/x@", "Pod/x@0", "Pod/x@y"} {
		_, err := ParseAction("fail " + bad)
		require.Error(t, err, bad)
		require.Contains(t, err.Error(), "write KIND/NAME", bad)
	}
	for bad, says := range map[string]string{
		"explode Pod/x": "it begins with fail, ", "due Job/x": "due is for CronJob, not for a Job",
		"take-name Ingress/x": "take-name is for ConfigMap, ", "edit Pod/x": "has no patch", "sync Toy/x burn": "write crash@N",
	} {
		_, err := ParseAction(bad)
		require.ErrorContains(t, err, says, bad)
	}
}

// TestEachVerb is parsed as its form says, and done where there is what it is for.
func TestEachVerb(t *testing.T) {
	for _, verb := range ActionKinds() {
		require.NotEmpty(t, verb.Does, verb.Name)
		require.NotNil(t, kindOfAction(verb.Name))
		_, err := ParseAction(verb.Name)
		require.Equal(t, strings.HasPrefix(verb.Form, anObject), err != nil, verb.Name)
		for _, detail := range verb.Details {
			require.NotEmpty(t, detail.Does, detail.Name)
			target := append(slices.Clone(detail.Kinds), "Pod")[0]
			if strings.HasPrefix(verb.Form, anObject) {
				target += "/x"
			}
			_, err := ParseAction(strings.Join([]string{verb.Name, target, detail.Name}, " "))
			require.NoError(t, err)
		}
	}
}

func TestVanishedChildComesBack(t *testing.T) {
	w := plain(t, configMaps, configMap("c", "1"), Action{Do: Vanish, Target: "ConfigMap/c"})
	require.Equal(t, []string{"created by the hook", "deleted by a person", "created by the hook"}, told(w, "ConfigMap/c"))
	require.Empty(t, w.InVain())
}

func TestFaultMeansTheChildOfTheParentsKindAndName(t *testing.T) {
	toys := child("other.example.com/v1", "Toy", "toys", metacontroller.InPlace)
	w := plain(t, toys, object("other.example.com/v1", "Toy", "t", nil), Action{Do: Vanish, Target: "Toy/t"})
	require.Equal(t, []string{"created by the hook", "deleted by a person", "created by the hook"}, told(w, "Toy/t"))
	require.NotNil(t, w.Get(toyRef), "it has the same kind and name, in another group")
}

func TestFlapComesAndGoes(t *testing.T) {
	w := plain(t, deployments, deployment("web", "x:1", 1), Action{Do: Flap, Target: "Deployment/web"})
	require.Equal(t, []string{
		"created by the hook", "0/1 ready, 0 updated", "0/1 ready", "1/1 ready", "0/1 ready", "1/1 ready", "0/1 ready", "1/1 ready",
	}, told(w, "Deployment/web"))
}

func TestFaultAtAStep(t *testing.T) {
	w := plain(t, deployments, deployment("web", "x:1", 1), Action{At: 3, Do: Vanish, Target: "Deployment/web"})
	require.Equal(t, []string{"created by the hook", "0/1 ready, 0 updated", "deleted by a person", "created by the hook"},
		told(w, "Deployment/web")[:4])
	require.Equal(t, "1/1 ready", kube.Progress(w.Get(ref("apps/v1", "Deployment", "web"))))

	w = plain(t, deployments, deployment("web", "x:1", 1), Action{At: 100, Do: Fail, Target: "Deployment/web"})
	require.Equal(t, "0/1 ready", kube.Progress(w.Get(ref("apps/v1", "Deployment", "web"))), "a step that never comes is that after the last")
}

func TestFaultsWithoutAnObjectAreInVain(t *testing.T) {
	w := plain(t, configMaps, configMap("c", "1"),
		Action{Do: Fail, Target: "Deployment/none"}, Action{Do: Vanish, Target: "ConfigMap/none"})
	require.Equal(t, []Vain{
		{Action{Do: Fail, Target: "Deployment/none"}, "there is no Deployment, but objects of the kinds Toy, ConfigMap"},
		{Action{Do: Vanish, Target: "ConfigMap/none"}, "there is no such object, but ConfigMap/c"},
	}, w.InVain())
}
