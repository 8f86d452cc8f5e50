package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
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

func toy() metacontroller.Controller {
	configMaps := metacontroller.Resource{APIVersion: "v1", Kind: "ConfigMap", Plural: "configmaps"}
	secrets := metacontroller.Resource{APIVersion: "v1", Kind: "Secret", Plural: "secrets"}
	return metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "example.com/v1", Kind: "Box", Plural: "boxes"},
		Children: []metacontroller.Child{{Resource: configMaps, Update: metacontroller.InPlace}},
		Related:  []metacontroller.Resource{secrets},
		Sync: metacontroller.Sync(func(b *box, seen metacontroller.Observed) (metacontroller.Result[map[string]any], error) {
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

// exchange returns what a server would hand over.
func exchange(t *testing.T, request string) Exchange {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	answer, err := toy().Call(metacontroller.SyncHook, now, []byte(request))
	require.NoError(t, err)
	return Exchange{toy(), metacontroller.SyncHook, now, []byte(request), answer.Body}
}

func request(spec, children, related string) string {
	return `{"controller":{"secret":"of-the-controller"},"parent":{"apiVersion":"example.com/v1","kind":"Box","metadata":{"name":"a","namespace":"default","generation":3,"resourceVersion":"1"},"spec":` +
		spec + `},"children":{"ConfigMap.v1":` + children + `},"related":{"Secret.v1":` + related + `},"finalizing":false}`
}

// recorded returns all that was written, by path.
func recorded(t *testing.T, dir string) map[string]string {
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

func start(t *testing.T) (*Recorder, string, *bytes.Buffer) {
	dir, log := filepath.Join(t.TempDir(), "new"), &bytes.Buffer{}
	r, err := New(dir, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	return r, dir, log
}

func TestNoSecretIsRecorded(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\nHIDE-in-key\n-----END RSA PRIVATE KEY-----"
	token := "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJISURFIn0.HIDE-signature"
	spec := map[string]any{
		"text":     "password=HIDE-1 and --api-key HIDE-2; jdbc:mysql://me:HIDE-3@db/x; Authorization: Bearer HIDE-4567890",
		"args":     []any{"--password", "HIDE-5", "--token=HIDE-6", "--verbose", "stays-here"},
		"env":      []any{map[string]any{"name": "DB_PASSWORD", "value": "HIDE-7"}, map[string]any{"name": "MODE", "value": "stays-too"}},
		"settings": map[string]any{"apiKey": "HIDE-8", "DB_TOKEN": "HIDE-9", "reference": "${DB_PASSWORD}"},
		"file":     "db:\n  password: HIDE-10\n  user: \"stays\"\n  other: \"${DB_PASSWORD}\"\n" + key,
		"jwt":      token,
		"secretRef": map[string]any{
			"name": "my-secret-stays",
		},
		"applied": `{"kind":"Secret","data":{"a":"HIDE-11"},"metadata":{"name":"x"}}`,
	}
	encoded, err := json.Marshal(spec)
	require.NoError(t, err)
	secret := `{"default/s":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"default","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"kind\":\"Secret\",\"stringData\":{\"b\":\"HIDE-12\"}}"}},"data":{"a":"HIDE-13"},"stringData":{"b":"HIDE-14"}}}`
	r, dir, _ := start(t)
	r.Record(exchange(t, request(string(encoded), "{}", secret)))
	r.Close()
	files := recorded(t, dir)
	require.Len(t, files, 2)
	for path, text := range files {
		require.NotContains(t, text, "HIDE", path)
		require.NotContains(t, text, "of-the-controller", path)
		require.NotContains(t, text, token, path)
	}
	var input string
	for path, text := range files {
		if strings.HasSuffix(path, ".in.yaml") {
			input = text
		}
	}
	for _, kept := range []string{"stays-here", "stays-too", "${DB_PASSWORD}", "my-secret-stays", "REDACTED", `now: "2026-05-04T03:02:01Z"`} {
		require.Contains(t, input, kept)
	}
	require.True(t, strings.HasPrefix(input, "# Recorded: sync of default/a at generation 3.\n"), input)
}

// TestRecordingIsACorpus reads what was written as the golden cases are read, and
// gets the answers that were written.
func TestRecordingIsACorpus(t *testing.T) {
	made := configMap("the password=HIDE")
	hash, err := metacontroller.Hash(made)
	require.NoError(t, err)
	child := `{"default/a":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","annotations":{"operetta.dev/hash":"` + hash + `"}},"data":{"text":"the password=HIDE"}}}`
	r, dir, _ := start(t)
	r.Record(exchange(t, request(`{"text":"the password=HIDE"}`, child, "{}")))
	// The same but for what says nothing, and one that says something else.
	r.Record(exchange(t, strings.Replace(request(`{"text":"the password=HIDE"}`, child, "{}"), `"resourceVersion":"1"`, `"resourceVersion":"2"`, 1)))
	r.Record(exchange(t, request(`{"text":"other"}`, child, "{}")))
	r.Close()
	cases, err := corpus.Read(dir, []metacontroller.Controller{toy()})
	require.NoError(t, err)
	require.Len(t, cases, 2)
	outdated := 0
	for _, c := range cases {
		require.Regexp(t, `^box/sync/a-g3-[0-9a-f]{8}$`, c.Name)
		got, err := c.Print()
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join(dir, c.Name+".out.yaml"))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		if strings.Contains(string(got), "- ConfigMap/a") {
			outdated++
		}
	}
	require.Equal(t, 1, outdated, "what was as wanted is still, though its content was removed")
}

func TestRecorderDropsRatherThanWaits(t *testing.T) {
	r, _, log := start(t)
	e := exchange(t, request(`{"text":"x"}`, "{}", "{}"))
	big := e
	big.Request = make([]byte, maxQueuedBytes+1)
	r.Record(big)
	r.Close()
	r.Record(e) // a late one, after the server has let go
	require.Contains(t, log.String(), "dropped=1")
	require.Equal(t, 2, r.dropped)
	r.Close()
}

func TestUnreadableFolderHurtsNobody(t *testing.T) {
	r, dir, log := start(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "box"), nil, 0o600)) // where a folder should be
	r.Record(exchange(t, request(`{"text":"x"}`, "{}", "{}")))
	r.Close()
	require.Contains(t, log.String(), "an exchange is not recorded")
}

func configMap(text string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"},
		Data: map[string]string{"text": text},
	}
}
