package controllers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

type replica struct {
	object      apiserver.Object
	phase       string
	ready       bool
	since       time.Time // of the Ready condition's last transition
	terminating bool
}

func (r replica) name() string { return r.object.GetName() }

func (r replica) isFinished() bool { return r.phase == "Succeeded" || r.phase == "Failed" }

func (r replica) isAvailable(now time.Time, minReady int32) bool {
	return r.ready && !now.Before(r.since.Add(time.Duration(minReady)*time.Second))
}

func (b *Builtin) replicas(owner types.UID) []replica {
	var list []replica
	for _, object := range b.ownedPods(owner) {
		if apiserver.RefOf(object).Is(metacontroller.Pod) && apiserver.ControllerUID(object) == owner {
			list = append(list, replicaOf(object))
		}
	}
	return list
}

func replicaOf(object apiserver.Object) replica {
	r := replica{object: object, terminating: object.GetDeletionTimestamp() != nil}
	status, _ := object.Object["status"].(map[string]any)
	r.phase, _ = status["phase"].(string)
	conditions, _ := status["conditions"].([]any)
	for _, c := range conditions {
		if condition, _ := c.(map[string]any); condition["type"] == string(corev1.PodReady) {
			r.ready = condition["status"] == string(corev1.ConditionTrue) && !r.terminating
			text, _ := condition["lastTransitionTime"].(string)
			r.since, _ = time.Parse(time.RFC3339, text)
		}
	}
	return r
}

func count(list []replica, is func(replica) bool) int32 {
	var n int32
	for _, r := range list {
		if is(r) {
			n++
		}
	}
	return n
}

func live(list []replica) []replica {
	return slices.DeleteFunc(slices.Clone(list), func(r replica) bool { return r.terminating || r.isFinished() })
}

// byDeletionOrder sorts replicas as they are deleted: not ready before ready,
// then the younger.
func byDeletionOrder(list []replica) []replica {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b replica) int {
		if a.ready != b.ready {
			if b.ready {
				return -1
			}
			return 1
		}
		made := func(r replica) int64 { return r.object.GetCreationTimestamp().Unix() }
		return cmp.Or(cmp.Compare(made(b), made(a)), strings.Compare(b.name(), a.name()))
	})
	return list
}

func (b *Builtin) awaitAvailable(ref apiserver.Ref, list []replica, minReady int32) {
	for _, r := range list {
		if r.ready && !r.isAvailable(b.server.Now(), minReady) {
			b.at(ref, r.since.Add(time.Duration(minReady)*time.Second))
		}
	}
}

func (b *Builtin) deletePod(r replica) { b.delete(r.object) }

func (b *Builtin) delete(object apiserver.Object) {
	_ = b.server.Delete(apiserver.ByKubernetes, apiserver.RefOf(object), object.GetUID())
}

func templateHash(template *corev1.PodTemplateSpec) string {
	text, err := json.Marshal(template)
	if err != nil {
		panic(err) // it was JSON when it came
	}
	hash := fnv.New32a()
	_, _ = hash.Write(text)
	return rand.SafeEncodeString(fmt.Sprint(hash.Sum32()))
}

func share(value *intstr.IntOrString, all int32, roundUp bool) int32 {
	if value == nil {
		return 0
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(value, int(all), roundUp)
	if err != nil {
		return 0
	}
	return int32(n)
}
