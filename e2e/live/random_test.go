package live

import (
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// testKilledAtRandom kills the server, Metacontroller and the API server at random moments
// while custom resources are edited, for OPERETTA_TEST_KILL, which is a time as in 10m, or some
// seconds. Nothing is lost: what no edit is about is the same object afterwards, and all
// become Ready.
func testKilledAtRandom(w *world) {
	length := 15 * time.Second
	if text := os.Getenv("OPERETTA_TEST_KILL"); text != "" {
		var err error
		length, err = time.ParseDuration(text)
		require.NoError(w, err)
	}
	seed := uint64(time.Now().UnixNano())
	w.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	pause := func() { time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond) }
	edit := func(pods, replicas int) {
		w.apply(podSet(fmt.Sprintf("size: %d", pods)))
		w.apply(modelBox(fmt.Sprintf(`image: "nginx:1", replicas: %d, ports: [{port: 80}]`, replicas)))
	}
	all := []string{"modelbox/box", "podset/set", "dataservice/small"}
	const owned = "deployments,statefulsets,daemonsets,services,configmaps,persistentvolumeclaims"
	w.apply(smallProduct)
	edit(3, 1)
	w.ready(all...)
	before, offset := w.uids(owned), auditEnd(w)

	kills := map[string]int{}
	for end := time.Now().Add(length); time.Now().Before(end); pause() {
		edit(1+random.IntN(10), 1+random.IntN(4))
		pause()
		switch random.IntN(3) {
		case 0:
			kills["server"]++
			require.NoError(w, operetta.Kill(cluster.OperettaServer))
			pause()
			require.NoError(w, operetta.StartServer(w.Context()))
		case 1:
			kills["Metacontroller"]++
			require.NoError(w, operetta.Kill(cluster.Metacontroller))
			pause()
			require.NoError(w, operetta.StartMetacontroller(w.Context(), metacontroller, w.mode.strategy))
		case 2:
			kills["API server"]++
			require.NoError(w, operetta.RestartAPIServer(w.Context()))
		}
	}
	w.Logf("killed: %v", kills)

	edit(4, 2)
	w.eventually("the last edits are in force", func() error {
		for _, name := range all { // what has failed is tried again after up to 16 minutes
			w.kubectl("annotate", "--overwrite", name, fmt.Sprintf("example.com/touched=%d", time.Now().UnixNano()))
		}
		if pods, boxes := at(w.get("podset", "set"), "status", "ready"), at(w.get("modelbox", "box"), "status", "ready"); pods != "4/4" || boxes != "2/2" {
			return fmt.Errorf("ready are %v Pods of the PodSet and %v of the ModelBox", pods, boxes)
		}
		return nil
	})
	w.ready(all...)
	require.Equal(w, before, w.uids(owned))
	list, _ := w.requests(offset)
	for _, r := range writes(list) {
		require.False(w, r.Verb == "delete" && r.ObjectRef.Resource != "pods", "%s", r)
	}
}
