package player

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEndpoints of a Service are ports of ready Pods that listen on them.
func TestEndpoints(t *testing.T) {
	listens := func(ports ...any) map[string]any {
		spec := podSpec("x:1", "Always")
		spec["containers"].([]any)[0].(map[string]any)["ports"] = ports
		return spec
	}
	declared := map[string]any{"name": "http", "containerPort": 3000}
	leads := func(port map[string]any) map[string]any {
		s := service("ClusterIP", port)
		s["spec"].(map[string]any)["selector"] = map[string]any{"a": "b"}
		return s
	}
	for name, c := range map[string]struct {
		pod, service map[string]any
		want         []string
	}{
		"a number that it declares":    {listens(declared), leads(map[string]any{"port": 80, "targetPort": 3000}), []string{"80 -> Pod/p:3000"}},
		"its name":                     {listens(declared), leads(map[string]any{"port": 80, "targetPort": "http"}), []string{"80 -> Pod/p:3000"}},
		"no number, which is the port": {listens(declared), leads(map[string]any{"port": 80}), nil},
		"another name":                 {listens(declared), leads(map[string]any{"port": 80, "targetPort": "web"}), nil},
		"another protocol":             {listens(declared), leads(map[string]any{"port": 3000, "protocol": "UDP"}), nil},
		"a Pod that declares none":     {listens(), leads(map[string]any{"port": 80}), []string{"80 -> Pod/p:80"}},
		"a name in one that has none":  {listens(), leads(map[string]any{"port": 80, "targetPort": "http"}), nil},
		"a Service without a selector": {listens(declared), service("ClusterIP", map[string]any{"port": 3000}), nil},
		"a headless Service": {listens(declared), func() map[string]any {
			s := leads(map[string]any{"port": 3000})
			s["spec"].(map[string]any)["clusterIP"] = "None"
			return s
		}(), []string{"3000 -> Pod/p:3000"}},
	} {
		t.Run(name, func(t *testing.T) {
			y := newToy(pods, services)
			pod := object("v1", "Pod", "p", map[string]any{"spec": c.pod})
			pod["metadata"].(map[string]any)["labels"] = map[string]any{"a": "b"}
			y.sync = func(request) any { return answer(true, pod, c.service) }
			w := y.world(t)
			w.Step()
			require.Empty(t, w.Endpoints(ref("v1", "Service", "s")), "the Pod is not ready yet")
			require.NoError(t, w.Play())
			require.Equal(t, c.want, w.Endpoints(ref("v1", "Service", "s")))
			if c.want != nil {
				do(t, w, "fail Pod/p")
				require.Empty(t, w.Endpoints(ref("v1", "Service", "s")))
			}
		})
	}
}
