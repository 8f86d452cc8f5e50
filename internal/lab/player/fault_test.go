package player

import (
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
)

func TestParseFault(t *testing.T) {
	fault, err := ParseFault(Fail, "Deployment/web")
	require.NoError(t, err)
	require.Equal(t, Fault{What: Fail, Kind: "Deployment", Name: "web"}, fault)
	fault, err = ParseFault(Vanish, "Pod/web-0@3")
	require.NoError(t, err)
	require.Equal(t, Fault{What: Vanish, Kind: "Pod", Name: "web-0", Step: 3}, fault)
	require.Equal(t, "Pod/web-0@3", fault.String())
	fault, err = ParseFault(Fail, "Image/registry.example.com:5000/team/web:2.0@4")
	require.NoError(t, err)
	require.Equal(t, Fault{What: Fail, Kind: "Image", Name: "registry.example.com:5000/team/web:2.0", Step: 4}, fault)
	for _, bad := range []string{"", "web", "Deployment/", "/web", "a/b/c", "Pod/x@", "Pod/x@0", "Pod/x@y"} {
		_, err := ParseFault(Fail, bad)
		require.Error(t, err, bad)
		require.Contains(t, err.Error(), "write KIND/NAME", bad)
	}
}

func TestVanishedChildComesBack(t *testing.T) {
	w := plain(t, configMaps, configMap("c", "1"), Fault{What: Vanish, Kind: "ConfigMap", Name: "c"})
	require.Equal(t, []string{"created by the hook", "deleted by deleted by hand", "created by the hook"}, told(w, "ConfigMap/c"))
	require.Empty(t, w.UnmetFaults())
}

func TestFaultMeansTheChildOfTheParentsKindAndName(t *testing.T) {
	toys := child("other.example.com/v1", "Toy", "toys", metacontroller.InPlace)
	w := plain(t, toys, object("other.example.com/v1", "Toy", "t", nil), Fault{What: Vanish, Kind: "Toy", Name: "t"})
	require.Equal(t, []string{"created by the hook", "deleted by deleted by hand", "created by the hook"}, told(w, "Toy/t"))
	require.NotNil(t, w.Get(toyRef), "it has the same kind and name, in another group")
}

func TestFlapComesAndGoes(t *testing.T) {
	w := plain(t, deployments, deployment("web", "x:1", 1), Fault{What: Flap, Kind: "Deployment", Name: "web"})
	require.Equal(t, []string{
		"created by the hook", "0/1 ready, 0 updated", "0/1 ready", "1/1 ready", "0/1 ready", "1/1 ready", "0/1 ready", "1/1 ready",
	}, told(w, "Deployment/web"))
}

func TestFaultAtAStep(t *testing.T) {
	w := plain(t, deployments, deployment("web", "x:1", 1), Fault{What: Vanish, Kind: "Deployment", Name: "web", Step: 3})
	require.Equal(t, []string{"created by the hook", "0/1 ready, 0 updated", "deleted by deleted by hand", "created by the hook"},
		told(w, "Deployment/web")[:4])
	require.Equal(t, "1/1 ready", kube.Progress(w.Get(ref("apps/v1", "Deployment", "web"))))

	w = plain(t, deployments, deployment("web", "x:1", 1), Fault{What: Fail, Kind: "Deployment", Name: "web", Step: 100})
	require.Equal(t, "0/1 ready", kube.Progress(w.Get(ref("apps/v1", "Deployment", "web"))), "a step that never comes is that after the last")
}

func TestUnmetFaults(t *testing.T) {
	w := plain(t, configMaps, configMap("c", "1"),
		Fault{What: Fail, Kind: "Deployment", Name: "none"}, Fault{What: Vanish, Kind: "ConfigMap", Name: "none"})
	require.Equal(t, []string{"Deployment/none", "ConfigMap/none"}, w.UnmetFaults())
}
