package build_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/hooks/build"
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// schedules is how many schedules TestPromisesHold tries:
// go test ./hooks/build -run TestPromisesHold -schedules 100000
var schedules = flag.Int("schedules", 100, "how many schedules to try")

// unreliable is a way to the hook on which status writes are lost and caches are
// late: an object is observed only some time after it was made.
type unreliable struct {
	testing.TB

	hook       simulate.Call
	lose       func() bool
	late       map[string]time.Duration // by field of the request
	since      map[string]time.Time
	lost, hid  int
	isReliable bool
}

func (u *unreliable) call(now time.Time, path string, body []byte) (int, []byte, error) {
	if path != "/build/sync" || u.isReliable {
		return u.hook(now, path, body)
	}
	var request, answer object
	require.NoError(u, json.Unmarshal(body, &request))
	hidden := u.hide(request, now)
	shown, err := json.Marshal(request)
	require.NoError(u, err)
	code, text, err := u.hook(now, path, shown)
	if err != nil || code != 200 {
		return code, text, err
	}
	require.NoError(u, json.Unmarshal(text, &answer))
	if u.lose() {
		u.lost++
		answer["status"], _ = request["parent"].(object)["status"].(object)
		if answer["status"].(object) == nil {
			answer["status"] = object{}
		}
		answer["resyncAfterSeconds"] = 1
	}
	// Metacontroller deletes none that it does not know of either.
	for _, job := range hidden {
		isThere := func(child any) bool { return child.(object)["metadata"].(object)["name"] == job }
		if children := answer["children"].([]any); !slices.ContainsFunc(children, isThere) {
			answer["children"] = append(children, object{"apiVersion": "batch/v1", "kind": "Job", "metadata": object{"name": job}})
		}
		answer["resyncAfterSeconds"] = 1
	}
	text, err = json.Marshal(answer)
	require.NoError(u, err)
	return code, text, nil
}

// hide leaves out what is too new to be observed, and returns the names of the
// Jobs among it.
func (u *unreliable) hide(request object, now time.Time) (names []string) {
	for field, kind := range map[string]string{"children": jobs, "related": pods} {
		objects := group(request, field, kind)
		for key, entry := range objects {
			metadata := entry.(object)["metadata"].(object)
			uid := fmt.Sprint(metadata["uid"])
			if _, known := u.since[uid]; !known {
				u.since[uid] = now
			}
			if now.Sub(u.since[uid]) < u.late[field] {
				u.hid++
				delete(objects, key)
				if kind == jobs {
					names = append(names, metadata["name"].(string))
				}
			}
		}
	}
	return names
}

// watched is a story in which every step keeps what a Build promises.
type watched struct {
	*story

	way     *unreliable
	named   string               // the schedule
	pods    map[types.UID]string // their Jobs
	built   map[string]bool      // Jobs of which a Pod has succeeded
	deleted map[string]bool      // Jobs that were deleted before their result was told
}

func watch(t *testing.T, named string, lose func() bool, lateJobs, latePods time.Duration, faults ...simulate.Fault) *watched {
	way := &unreliable{
		TB: t, hook: simulate.Direct(build.Controller()), lose: lose, since: map[string]time.Time{},
		late: map[string]time.Duration{"children": lateJobs, "related": latePods},
	}
	world := simulate.New(simulate.Options{Controllers: []metacontroller.Controller{build.Controller()}, Call: way.call, MaxSteps: 400, Faults: faults})
	return &watched{&story{t, world}, way, named, map[types.UID]string{}, map[string]bool{}, map[string]bool{}}
}

// step plays a step and looks at the Pods.
func (w *watched) step() {
	w.Helper()
	w.world.Step()
	w.look()
}

func (w *watched) look() {
	w.Helper()
	require.LessOrEqual(w, len(w.building()), 1, "%s: two builds at once: %v", w.named, w.building())
	for _, pod := range w.objects("Pod") {
		job := pod.GetOwnerReferences()[0].Name
		if _, known := w.pods[pod.GetUID()]; !known {
			require.False(w, w.built[job] && !w.deleted[job], "%s: %s is built again", w.named, job)
			w.pods[pod.GetUID()] = job
		}
		if phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase"); phase == "Succeeded" {
			w.built[job] = true
		}
	}
}

// deleteJob deletes a Job by hand, unless the status does not tell of it yet: one
// that is made, deleted and forgotten, because the status was lost, cannot be
// told from one that was never made.
func (w *watched) deleteJob(job simulate.Object) {
	active, _, _ := unstructured.NestedSlice(w.parent().Object, "status", "active")
	isActive := slices.ContainsFunc(active, func(entry any) bool { return entry.(object)["uid"] == string(job.GetUID()) })
	conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
	hasEnded := slices.ContainsFunc(conditions, func(c any) bool {
		return c.(object)["type"] == "Complete" || c.(object)["type"] == "Failed"
	})
	if !isActive && !hasEnded {
		return
	}
	list, _, _ := unstructured.NestedSlice(w.parent().Object, "status", "history")
	isTold := slices.ContainsFunc(list, func(entry any) bool {
		return "shop-"+entry.(object)["hash"].(string) == job.GetName()
	})
	w.deleted[job.GetName()] = w.deleted[job.GetName()] || !isTold
	require.NoError(w, w.world.Delete(simulate.RefOf(job)))
}

// end plays to the end: no status is lost any more, and at last the caches are
// in time.
func (w *watched) end() {
	w.Helper()
	w.way.lose = func() bool { return false }
	for i := range 60 {
		w.way.isReliable = i > 40
		w.step()
	}
	require.NoError(w, w.world.Play(), w.named)
	w.look()
	ready := simulate.Condition(w.parent(), "Ready")
	require.Equal(w, "True", ready.Status, "%s: %s: %s", w.named, ready.Reason, ready.Message)
}

// TestPromisesHold plays random schedules of edits, deleted Jobs, lost status
// writes and late caches: never do two builds run at once, what was built is not
// built again, and in the end the newest revision is built.
func TestPromisesHold(t *testing.T) {
	lost, hidden, held := 0, 0, hold(t, "v0")
	count := uint64(*schedules)
	if testing.Short() {
		count /= 8
	}
	for seed := range count {
		random := rand.New(rand.NewPCG(seed, 1))
		seconds := func() time.Duration { return time.Duration(random.IntN(4)) * time.Second }
		losing := random.IntN(3)
		policy := []string{"Replace", "Forbid"}[random.IntN(2)]
		named := fmt.Sprintf("seed %d, %s", seed, policy)
		w := watch(t, named, func() bool { return random.IntN(4) < losing }, seconds(), seconds(), held)
		edit := func() {
			w.want(fmt.Sprintf("v%d", random.IntN(3)), "concurrencyPolicy: "+policy, "timeoutSeconds: 20")
		}
		edit()
		for range 15 {
			switch jobs := w.objects("Job"); random.IntN(6) {
			case 0, 1:
				edit()
			case 2:
				if len(jobs) > 0 {
					w.deleteJob(jobs[random.IntN(len(jobs))])
				}
			default:
				for range 1 + random.IntN(8) {
					w.step()
				}
			}
		}
		w.want("v1", "concurrencyPolicy: "+policy)
		w.end()
		lost, hidden = lost+w.way.lost, hidden+w.way.hid
	}
	require.Positive(t, lost)
	require.Positive(t, hidden)
}

// TestLostStatusBreaksNoPromise loses one status write after another, and edits
// the spec right after it.
func TestLostStatusBreaksNoPromise(t *testing.T) {
	held := hold(t, "v1")
	for _, policy := range []string{"Replace", "Forbid"} {
		for nth := 1; nth <= 12; nth++ {
			syncs := 0
			lose := func() bool { syncs++; return syncs == nth }
			w := watch(t, fmt.Sprintf("%s, status %d is lost", policy, nth), lose, 2*time.Second, 2*time.Second, held)
			w.want("v1", "concurrencyPolicy: "+policy, "timeoutSeconds: 20")
			for range 40 {
				if w.step(); w.way.lost > 0 {
					break
				}
			}
			w.want("v2", "concurrencyPolicy: "+policy)
			w.end()
			require.Equal(t, "v2 Succeeded", w.history()[0])
		}
	}
}
