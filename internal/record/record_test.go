package record

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// box is a toy: it asks for a ConfigMap with what its spec says.
type box struct {
	Spec   map[string]any `json:"spec"`
	Status map[string]any `json:"status"`
}

var definition = metacontroller.NewCRD([]byte(`{spec: {versions: [{name: v1, schema: {openAPIV3Schema: {type: object, properties: {
	spec: {type: object, properties: {text: {type: string}, "n": {type: integer}}},
	status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}]}}`))

func toy() metacontroller.Controller { return toyThat(func(*box) {}) }

// toyThat returns the toy with something that its hook does first.
func toyThat(does func(*box)) metacontroller.Controller {
	configMaps := metacontroller.Resource{APIVersion: "v1", Kind: "ConfigMap", Plural: "configmaps"}
	secrets := metacontroller.Resource{APIVersion: "v1", Kind: "Secret", Plural: "secrets"}
	return metacontroller.Controller{
		CRD:      definition,
		Parent:   metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Box", Plural: "boxes"},
		Children: []metacontroller.Child{{Resource: configMaps, Update: metacontroller.InPlace}},
		Related:  []metacontroller.Related{{Resource: secrets}},
		Sync: metacontroller.Sync(func(b *box, seen metacontroller.Observed) (metacontroller.Result[map[string]any], error) {
			does(b)
			made := configMap(fmt.Sprint(b.Spec["text"]))
			differs, err := seen.Compare([]metacontroller.Object{made})
			return metacontroller.Result[map[string]any]{
				Status: map[string]any{"outdated": differs.Outdated}, Children: []metacontroller.Object{made},
			}, err
		}),
		Customize: metacontroller.Customize(func(*box) ([]metacontroller.Rule, error) {
			return []metacontroller.Rule{{APIVersion: "v1", Resource: "secrets"}}, nil
		}),
	}
}

func configMap(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Data: map[string]string{"text": text},
	}
}

// exchange returns what a server would hand over.
func exchange(t *testing.T, request string) Exchange { return exchangeOf(t, toy(), request) }

func exchangeOf(t *testing.T, c metacontroller.Controller, request string) Exchange {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	answer, err := c.Call(metacontroller.SyncHook, now, []byte(request))
	require.NoError(t, err)
	return Exchange{c, metacontroller.SyncHook, now, []byte(request), answer.Body}
}

func request(spec, children, related string) string {
	return `{"controller":{"secret":"of-the-controller"},"parent":{"apiVersion":"example.com/v1","kind":"Box","metadata":{"name":"a","namespace":"default","generation":3,"resourceVersion":"1"},"spec":` +
		spec + `},"children":{"ConfigMap.v1":` + children + `},"related":{"Secret.v1":` + related + `},"finalizing":false}`
}

// written returns all that was written, by path.
func written(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), path)
		content, err := os.ReadFile(path)
		relative, _ := filepath.Rel(dir, path)
		files[relative] = string(content)
		return err
	}))
	return files
}

// logged is a log that may be read while it is written.
type logged struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *logged) Write(line []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

func start(t *testing.T, dir string) (*Recorder, *logged) {
	log := &logged{}
	r, err := New(dir, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	return r, log
}

// TestRecordingIsACorpus reads what was written as the golden cases are read, and
// gets the answers that were written.
func TestRecordingIsACorpus(t *testing.T) {
	made := configMap("the password=HIDE")
	require.NoError(t, metacontroller.Stamp(made))
	hash := made.Annotations[metacontroller.HashAnnotation]
	child := `{"default/a":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","annotations":{"operetta.dev/hash":"` + hash + `"}},"data":{"text":"the password=HIDE"}}}`
	dir := filepath.Join(t.TempDir(), "new")
	r, _ := start(t, dir)
	r.Record(exchange(t, request(`{"text":"the password=HIDE"}`, child, "{}")))
	// The same but for what says nothing, one with another secret and one with
	// another outcome.
	r.Record(exchange(t, strings.Replace(request(`{"text":"the password=HIDE"}`, child, "{}"), `"resourceVersion":"1"`, `"resourceVersion":"2","managedFields":[]`, 1)))
	r.Record(exchange(t, request(`{"text":"other"}`, child, "{}")))
	r.Record(exchange(t, request(`{"text":"third"}`, child, "{}")))
	r.Close()
	cases, err := corpus.Read(dir, []metacontroller.Controller{toy()})
	require.NoError(t, err)
	require.Len(t, cases, 2)
	outdated := 0
	for _, c := range cases {
		require.Regexp(t, `^box/sync/a-g3-[0-9a-f]{16}$`, c.Name)
		got, err := c.Print()
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join(dir, c.Name+".out.yaml"))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		if strings.Contains(string(got), "- ConfigMap/a") {
			outdated++
		}
	}
	require.Equal(t, 1, outdated, "what was as wanted is still, though its content was replaced")
	for path, text := range written(t, dir) {
		require.NotContains(t, text, "HIDE", path)
		require.NotContains(t, text, hash, "a hash of a secret tells it to who tries")
		require.NotContains(t, text, "of-the-controller", path)
		if strings.HasSuffix(path, ".in.yaml") {
			require.True(t, strings.HasPrefix(text, "# Recorded: sync of default/a at generation 3.\n"), text)
			require.Contains(t, text, `now: "2026-05-04T03:02:01Z"`)
		}
	}
}

func TestRecorderDropsRatherThanWaits(t *testing.T) {
	gate := make(chan struct{})
	slow := toyThat(func(b *box) {
		if b.Spec["text"] != "x" { // as it is in a masked request
			<-gate
		}
	})
	r, log := start(t, t.TempDir())
	e := exchangeOf(t, slow, request(`{"text":"x"}`, "{}", "{}"))
	big := e
	big.Request = make([]byte, maxExchange+1)
	r.Record(big)
	require.Contains(t, log.String(), "reason=large")
	begin := time.Now()
	for range maxQueued + 20 {
		r.Record(e)
	}
	require.Less(t, time.Since(begin), time.Minute, "serving does not wait for the recorder")
	close(gate)
	r.Close()
	r.Record(e) // a late one, after the server has let go
	require.Contains(t, log.String(), "dropped_large=1")
	require.GreaterOrEqual(t, r.dropped[dropBusy], 19)
	require.Zero(t, r.waiting)
	r.Close()
}

// TestQueueIsLimitedInBytes holds the writer up and counts what waits.
func TestQueueIsLimitedInBytes(t *testing.T) {
	gate := make(chan struct{})
	slow := toyThat(func(b *box) {
		if b.Spec["text"] != "x" {
			<-gate
		}
	})
	r, _ := start(t, t.TempDir())
	e := exchangeOf(t, slow, request(`{"text":"x"}`, "{}", "{}"))
	r.Record(e)
	e.Request = append(e.Request, bytes.Repeat([]byte(" "), 1<<20)...)
	for range 20 {
		r.Record(e)
	}
	r.mutex.Lock()
	require.LessOrEqual(t, r.waiting, maxQueuedBytes)
	require.Greater(t, r.dropped[dropBusy], 10)
	r.mutex.Unlock()
	close(gate)
	r.Close()
}

// TestPanicIsCounted lets the hook panic with what it was told.
func TestPanicIsCounted(t *testing.T) {
	dir := t.TempDir()
	r, log := start(t, dir)
	bad := exchange(t, request(`{"text":"HIDE-this"}`, "{}", "{}"))
	bad.Controller = toyThat(func(b *box) { panic(fmt.Sprint("no box can hold ", b.Spec["text"])) })
	r.Record(bad)
	r.Record(exchange(t, request(`{"text":"x"}`, "{}", "{}")))
	r.Close()
	require.Contains(t, log.String(), "the recorder panicked")
	require.Contains(t, log.String(), "dropped_panic=1")
	require.NotContains(t, log.String(), "HIDE")
	require.Len(t, written(t, dir), 2, "the next one is recorded")
}

// TestCloseTakesFiveSeconds has a hook that takes for ever.
func TestCloseTakesFiveSeconds(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	r, log := start(t, t.TempDir())
	defer func() {
		close(gate)
		<-r.done
	}()
	e := exchange(t, request(`{"text":"x"}`, "{}", "{}"))
	e.Controller = toyThat(func(*box) { <-gate })
	for range 3 {
		r.Record(e)
	}
	begin := time.Now()
	r.Close()
	require.Less(t, time.Since(begin), closeTime+time.Minute)
	require.Contains(t, log.String(), "dropped_late=3")
}

// TestWriterRests measures how much of the time the writer works.
func TestWriterRests(t *testing.T) {
	t.Parallel()
	const work = 20 * time.Millisecond
	var mutex sync.Mutex
	var worked time.Duration
	r, _ := start(t, t.TempDir())
	begin := time.Now()
	for i := range 8 {
		e := exchange(t, request(fmt.Sprintf(`{"text":"x","n":%d}`, i), "{}", "{}"))
		e.Controller = toyThat(func(*box) {
			mutex.Lock()
			defer mutex.Unlock()
			worked += work
			time.Sleep(work)
		})
		r.Record(e)
	}
	require.Eventually(t, func() bool {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		return r.cases == 8
	}, 30*time.Second, 5*time.Millisecond)
	elapsed := time.Since(begin)
	r.Close()
	require.Greater(t, elapsed, worked*3, "the hook worked %v of %v", worked, elapsed)
}

// TestRefusedRequestIsDropped has a hook that takes no other text than one.
func TestRefusedRequestIsDropped(t *testing.T) {
	dir := t.TempDir()
	strict := metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Box", Plural: "boxes"},
		Sync: metacontroller.Sync(func(b *box, _ metacontroller.Observed) (metacontroller.Result[map[string]any], error) {
			if b.Spec["text"] != "HIDE" {
				return metacontroller.Result[map[string]any]{}, fmt.Errorf("spec.text is %v: write HIDE", b.Spec["text"])
			}
			return metacontroller.Result[map[string]any]{Status: map[string]any{"text": "fine"}}, nil
		}),
	}
	r, log := start(t, dir)
	r.Record(exchangeOf(t, strict, `{"parent":{"apiVersion":"example.com/v1","kind":"Box","metadata":{"name":"a","namespace":"default"},"spec":{"text":"HIDE"}},"children":{},"related":{},"finalizing":false}`))
	r.Close()
	require.Contains(t, log.String(), "dropped_invalid=1")
	require.Empty(t, written(t, dir))
	require.NotContains(t, log.String(), "HIDE")
}
