package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/record"
	"github.com/operetta-dev/operetta/metacontroller"
)

// basis returns the golden case of each hook that says most, of those that are
// answered.
func basis(t *testing.T) []corpus.Case {
	cases, err := corpus.Read("../../testdata", hooks.All())
	require.NoError(t, err)
	longest := map[string]corpus.Case{}
	for _, c := range cases {
		hook := c.Controller.Name() + "/" + string(c.Hook)
		if _, err := c.Call(); err == nil && len(c.Request) > len(longest[hook].Request) {
			longest[hook] = c
		}
	}
	return slices.Collect(maps.Values(longest))
}

// disguises returns a secret as it is and in the forms in which it may stand in a
// file.
func disguises(secret string) []string {
	quoted, _ := json.Marshal(secret)
	return []string{
		secret, strings.Trim(string(quoted), `"`), strings.ToLower(secret), base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret)), hex.EncodeToString([]byte(secret)), url.QueryEscape(secret),
	}
}

// everything returns the names and contents of all files below a folder.
func everything(t *testing.T, dir string) string {
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s\n%s\n", strings.TrimPrefix(path, dir), content)
		return err
	}))
	return all.String()
}

// TestNoKindOfSecretIsRecorded plants secrets of all forms in all places of
// requests to all hooks, and looks for them in what is recorded: the requests,
// the answers, the names of the files and the log.
func TestNoKindOfSecretIsRecorded(t *testing.T) {
	kinds := secretKinds()
	var log bytes.Buffer
	leaked, hooksSeen := map[string]string{}, map[string]bool{}
	for _, c := range basis(t) {
		most := 14
		if c.Controller.Name() == "dataservice" {
			most = 6 // files of a component
		}
		for secrets := range slices.Chunk(kinds, most) {
			request := planted(t, c, secrets)
			answer, err := c.Controller.Call(c.Hook, c.Now, request)
			require.NoError(t, err, c.Name)
			written := recordOne(t, &log, record.Exchange{Controller: c.Controller, Hook: c.Hook, Now: c.Now, Request: request, Answer: answer.Body})
			require.NotEmpty(t, written, "%s is not recorded: %s", c.Name, log.String())
			look(leaked, c, secrets, written+log.String())
			log.Reset()
		}
		hooksSeen[c.Controller.Name()+"/"+string(c.Hook)] = true
	}
	for _, controller := range hooks.All() {
		for _, hook := range controller.Hooks() {
			isOwn := hook != metacontroller.FinalizeHook || !reflect.ValueOf(controller.Finalize).IsZero()
			require.Equal(t, isOwn, hooksSeen[controller.Name()+"/"+string(hook)], "%s of %s", hook, controller.Name())
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(leaked)) {
		t.Errorf("leaked: %-40s in %s", kind, leaked[kind])
	}
	t.Logf("%d of %d kinds of secrets were written out", len(leaked), len(kinds))
}

func recordOne(t *testing.T, log *bytes.Buffer, e record.Exchange) string {
	dir := t.TempDir()
	r, err := record.New(dir, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	r.Record(e)
	r.Close()
	return everything(t, dir)
}

func look(leaked map[string]string, c corpus.Case, secrets []secretKind, written string) {
	lower := strings.ToLower(written)
	for _, s := range secrets {
		for _, form := range disguises(s.hidden) {
			if len(form) > 3 && (strings.Contains(written, form) || strings.Contains(lower, strings.ToLower(form))) {
				leaked[s.name+" "+s.text] = c.Name
			}
		}
	}
}
