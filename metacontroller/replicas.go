package metacontroller

import (
	"slices"
	"strconv"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// withReplicas returns a desired workload as it is sent: with the observed number of replicas where
// the hook leaves the number out and Metacontroller has applied one before. Metacontroller would
// remove the field, and the API server default it to 1, whatever an autoscaler has made of it. The
// hash was made before, and never has the number.
func withReplicas(observed *Snapshot, wire []byte) []byte {
	if observed.APIVersion != Deployment.APIVersion || !slices.Contains([]string{Deployment.Kind, StatefulSet.Kind, ReplicaSet.Kind}, observed.Kind) {
		return wire
	}
	start, end := rawjson.Find(wire, "spec")
	spec := wire[start:end]
	if !rawjson.IsObject(spec) || rawjson.Lookup(spec, "replicas") != nil || !observed.HasApplied("spec", "replicas") {
		return wire
	}
	replicas, err := strconv.ParseInt(string(rawjson.Lookup(observed.spec, "replicas")), 10, 32)
	if err != nil || replicas < 0 {
		return wire
	}
	member := strconv.AppendInt([]byte(`"replicas":`), replicas, 10)
	if spec[1] != '}' {
		member = append(member, ',')
	}
	return slices.Concat(wire[:start+1], member, wire[start+1:])
}
