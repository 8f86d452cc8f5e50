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

	"github.com/operetta-dev/operetta/operettatest"
)

// schedules is how many schedules TestPromisesHold tries:
// go test ./hooks/build -run TestPromisesHold -schedules 100000
var schedules = flag.Int("schedules", 100, "how many schedules to try")

// unreliable is a way to the hook on which status writes are lost and caches are
// late: an object is observed only some time after it was made.
type unreliable struct {
	testing.TB

	hook       operettatest.Call
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
	held    string               // the Job whose Pods are held as soon as it is there
	pods    map[types.UID]string // their Jobs
	built   map[string]bool      // Jobs of which a Pod has succeeded
	deleted map[string]bool      // Jobs that were deleted before their result was told
}

func watch(t *testing.T, held string, lose func() bool, lateJobs, latePods time.Duration) *watched {
	way := &unreliable{
		TB: t, lose: lose, since: map[string]time.Time{},
		late: map[string]time.Duration{"children": lateJobs, "related": latePods},
	}
	s := tell(t, operettatest.Options{MaxSteps: 400, Around: func(direct operettatest.Call) operettatest.Call {
		way.hook = direct
		return way.call
	}})
	return &watched{s, way, held, map[types.UID]string{}, map[string]bool{}, map[string]bool{}}
}

// step plays a step and looks at the Pods.
func (w *watched) step() {
	w.Helper()
	w.world.Step()
	if w.held != "" && w.world.Get(w.held) != nil {
		w.world.Do("hold " + w.held)
		w.held = ""
	}
	w.look()
}

func (w *watched) look() {
	w.Helper()
	require.LessOrEqual(w, len(w.building()), 1, "two builds at once")
	for _, pod := range w.world.Objects("Pod") {
		job := pod.GetOwnerReferences()[0].Name
		if _, known := w.pods[pod.GetUID()]; !known {
			require.False(w, w.built[job] && !w.deleted[job], "%s is built again", job)
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
func (w *watched) deleteJob(job operettatest.Object) {
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
	w.world.Delete("Job/" + job.GetName())
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
	w.world.Play()
	w.look()
	ready := w.world.Condition("Build/shop", "Ready")
	require.Equal(w, "True", ready.Status, "%s: %s", ready.Reason, ready.Message)
}

// TestPromisesHold plays random schedules of edits, deleted Jobs, lost status
// writes and late caches: never do two builds run at once, what was built is not
// built again, and in the end the newest revision is built.
func TestPromisesHold(t *testing.T) {
	lost, hidden, held := 0, 0, jobOf(t, "v0")
	count := uint64(*schedules)
	if testing.Short() {
		count /= 16
	}
	for seed := range count {
		random := rand.New(rand.NewPCG(seed, 1))
		policy := []string{"Replace", "Forbid"}[random.IntN(2)]
		t.Run(fmt.Sprintf("seed %d, %s", seed, policy), func(t *testing.T) {
			way := schedule(t, random, policy, held)
			lost, hidden = lost+way.lost, hidden+way.hid
		})
	}
	require.Positive(t, lost)
	require.Positive(t, hidden)
}

// schedule plays a random schedule.
func schedule(t *testing.T, random *rand.Rand, policy, held string) *unreliable {
	seconds := func() time.Duration { return time.Duration(random.IntN(4)) * time.Second }
	losing := random.IntN(3)
	w := watch(t, held, func() bool { return random.IntN(4) < losing }, seconds(), seconds())
	edit := func() {
		w.want(fmt.Sprintf("v%d", random.IntN(3)), "concurrencyPolicy: "+policy, "timeoutSeconds: 20")
	}
	edit()
	for range 15 {
		switch jobs := w.world.Objects("Job"); random.IntN(6) {
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
	return w.way
}

// TestLostStatusBreaksNoPromise loses one status write after another, and edits
// the spec right after it.
func TestLostStatusBreaksNoPromise(t *testing.T) {
	held := jobOf(t, "v1")
	for _, policy := range []string{"Replace", "Forbid"} {
		for nth := 1; nth <= 12; nth++ {
			t.Run(fmt.Sprintf("%s, status %d is lost", policy, nth), func(t *testing.T) {
				syncs := 0
				lose := func() bool { syncs++; return syncs == nth }
				w := watch(t, held, lose, 2*time.Second, 2*time.Second)
				w.want("v1", "concurrencyPolicy: "+policy, "timeoutSeconds: 20")
				for range 40 {
					if w.step(); w.way.lost > 0 {
						break
					}
				}
				w.want("v2", "concurrencyPolicy: "+policy)
				w.end()
				require.Equal(t, "v2 Succeeded", w.history()[0])
			})
		}
	}
}
