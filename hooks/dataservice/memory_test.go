package dataservice_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// forgetful answers as the hook does, and asks each time again with the status of
// the request before, as if the last write of it had been lost.
type forgetful struct {
	*testing.T

	direct operettatest.Call
	before any // the status of the last request
	asked  int
}

func (f *forgetful) call(now time.Time, path string, body []byte) (int, []byte, error) {
	hook := metacontroller.HookName(path[strings.LastIndex(path, "/")+1:])
	if hook == metacontroller.CustomizeHook {
		return f.direct(now, path, body)
	}
	newer, answer, err := ask("", hook, now, body)
	require.NoError(f, err)
	var request object
	require.NoError(f, json.Unmarshal(body, &request))
	status := request["parent"].(object)["status"]
	if f.before != nil {
		f.requireSame(newer, request)
	}
	f.before = status
	return http.StatusOK, answer.Body, nil
}

// requireSame asks with the older status: what the answer to the newer one wants
// or keeps is wanted or kept.
func (f *forgetful) requireSame(newer asked, request object) {
	request["parent"].(object)["status"] = f.before
	encoded, err := json.Marshal(request)
	require.NoError(f, err)
	older, _, err := ask("", newer.hook, newer.now, encoded)
	require.NoError(f, err)
	for _, ref := range newer.answered {
		require.Contains(f, older.answered, ref, "without the last status")
	}
	f.asked++
}

// TestStatusIsMemoryOnlyOnceItIsShown loses the last status before every request
// of some lives: no child goes for it, and none that was to come does not.
func TestStatusIsMemoryOnlyOnceItIsShown(t *testing.T) {
	t.Parallel()
	withoutStorage := unset("mysql.storage")
	elsewhere := set("mysql", map[string]any{"kind": "ThirdParty", "thirdParty": map[string]any{
		"url": "mysql://db.example.com", "authType": "basic", "credentialsSecretRef": map[string]any{"name": "db"},
	}})
	for name, edits := range map[string][][]func(map[string]any){
		"renamed twice":         {{}, {set("proxy.name", "p1")}, {set("proxy.name", "p2")}, {}},
		"names that are passed": {{}, {set("web.name", "front"), set("proxy.name", "web")}, {}},
		"another kind":          {{withoutStorage, set("mysql.kind", "Deployment")}, {withoutStorage}, {withoutStorage, set("mysql.kind", "Deployment")}},
		"elsewhere and back":    {{}, {elsewhere}, {}},
		"node ports":            {{}, {set("eureka.nodePort", int64(30160)), set("web.nodePort", int64(30161))}, {unset("web.nodePort")}},
		"taken out":             {{}, {unset("proxy"), set("web.name", "front")}, {}},
	} {
		if testing.Short() && name != "renamed twice" {
			continue // make cover takes all
		}
		t.Run(name, func(t *testing.T) {
			f := &forgetful{T: t}
			s := tell(t, operettatest.Options{Around: func(direct operettatest.Call) operettatest.Call {
				f.direct = direct
				return f.call
			}})
			for i, changes := range edits {
				s.apply(s.sample(changes...))
				for range 4 * (i % 2) {
					s.world.Step() // so that the next edit comes in the middle of this one
				}
				if i%2 == 0 {
					s.world.Play()
				}
			}
			s.world.Play()
			require.Equal(t, "Ready", s.phase(), s.condition("Ready"))
			s.world.Delete(product)
			s.world.Play()
			require.Empty(t, s.world.Parents())
			require.Greater(t, f.asked, 20)
		})
	}
}

// TestGoldensNeedNoStatusThatWasLost drops the last write of the status of every
// golden: the children are as the answer left them, and the next request shows the
// status of before.
func TestGoldensNeedNoStatusThatWasLost(t *testing.T) {
	t.Parallel()
	for _, a := range goldenRequests(t) {
		_, answer, err := ask(a.name, a.hook, a.now, a.request)
		require.NoError(t, err)
		left := withoutWhatGoes(t, a)
		lost, _, err := ask(a.name, a.hook, a.now, left)
		require.NoError(t, err)
		written, _, err := ask(a.name, a.hook, a.now, withStatusOf(t, left, answer))
		require.NoError(t, err)
		for _, ref := range written.answered {
			require.Contains(t, lost.answered, ref, a.name)
		}
		if a.hook == metacontroller.FinalizeHook {
			continue // the next stage goes
		}
		for _, ref := range a.answered {
			require.Contains(t, lost.answered, ref, a.name)
		}
	}
}

// withoutWhatGoes returns a request without the children that its answer leaves
// out.
func withoutWhatGoes(t *testing.T, a asked) []byte {
	var request object
	require.NoError(t, json.Unmarshal(a.request, &request))
	answered := strings.Join(a.answered, " ") + " "
	for _, group := range request["children"].(object) {
		for key, child := range group.(object) {
			if !strings.Contains(answered, refIn(child.(object))+" ") {
				delete(group.(object), key)
			}
		}
	}
	encoded, err := json.Marshal(request)
	require.NoError(t, err)
	return encoded
}
