package controllers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/metacontroller"
)

type replica struct {
	object      kube.Object
	phase       string
	ready       bool
	terminating bool
	due         time.Time // when a ready one is, or was, ready for minReadySeconds
	available   bool
}

func (r replica) name() string { return r.object.GetName() }

func (r replica) isFinished() bool { return r.phase == "Succeeded" || r.phase == "Failed" }

// replicas returns the Pods of an owner, as far as they are in the cache.
func (b *Builtin) replicas(owner types.UID, minReady int32) []replica {
	var list []replica
	for _, object := range b.ownedPods(owner) {
		if kube.RefOf(object).Is(metacontroller.Pod) && kube.ControllerUID(object) == owner {
			r := replicaOf(object)
			r.due = r.due.Add(time.Duration(minReady) * time.Second)
			r.available = r.ready && !b.server.Now().Before(r.due)
			list = append(list, r)
		}
	}
	return list
}

func replicaOf(object kube.Object) replica {
	r := replica{object: object, terminating: object.GetDeletionTimestamp() != nil}
	status, _ := object.Object["status"].(map[string]any)
	r.phase, _ = status["phase"].(string)
	condition := kube.ConditionOf(object, string(corev1.PodReady))
	r.ready = condition.Status == string(corev1.ConditionTrue) && !r.terminating
	r.due = condition.Since
	return r
}

func count(list []replica, is func(replica) bool) (n int32) {
	for _, r := range list {
		if is(r) {
			n++
		}
	}
	return n
}

func isReady(r replica) bool { return r.ready }

func isAvailable(r replica) bool { return r.available }

// live returns the replicas that are neither terminating nor finished.
func live(list []replica) []replica {
	return slices.DeleteFunc(slices.Clone(list), func(r replica) bool { return r.terminating || r.isFinished() })
}

// byDeletionOrder sorts replicas as they are deleted: not ready before ready, then the younger.
func byDeletionOrder(list []replica) []replica {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b replica) int {
		if a.ready != b.ready {
			return map[bool]int{false: -1, true: 1}[a.ready]
		}
		made := func(r replica) int64 { return r.object.GetCreationTimestamp().Unix() }
		return cmp.Or(cmp.Compare(made(b), made(a)), strings.Compare(b.name(), a.name()))
	})
	return list
}

// awaitAvailable queues the owner for when the next ready Pod becomes available.
func (b *Builtin) awaitAvailable(ref kube.Ref, list []replica) {
	for _, r := range list {
		if r.ready && !r.available {
			b.at(ref, r.due)
		}
	}
}

func (b *Builtin) deletePods(list []replica) {
	for _, r := range list {
		b.delete(r.object)
	}
}

func (b *Builtin) delete(object kube.Object) {
	_ = b.server.Delete(apiserver.ByKubernetes, kube.RefOf(object), object.GetUID())
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
