package hooks_test

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/commands"
)

// The API server must store every field as the hook wrote it, and may only add
// fields: otherwise Metacontroller would find a difference at every sync.
func TestServerKeepsChildrenAsTheyAreWritten(t *testing.T) {
	server := realAPIServer(t)
	written := 0
	for _, pattern := range []string{"../deploy/samples/*.yaml", "../deploy/samples/seed/*.yaml", "../testdata/*/sync/*.in.yaml"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			t.Run(filepath.Base(path), func(t *testing.T) {
				for _, child := range renderedChildren(t, path) {
					if child.GetNamespace() == "" {
						child.SetNamespace("default")
					}
					server.arrange(child)
					stored, err := server.send(http.MethodPost, server.collection(child)+strictly, "application/json", child)
					require.NoError(t, err)
					written++
					if child.GetKind() != "Pod" { // which is never updated, and is given tokens and tolerations
						requireKept(t, child.Object, stored.Object, child.GetKind())
					}
				}
			})
		}
	}
	t.Logf("%d children written", written)
}

// renderedChildren returns the children that the hook returns for a custom resource or a
// case, but for those that it keeps. A case may want an error instead.
func renderedChildren(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	if base, isCase := strings.CutSuffix(path, ".in.yaml"); isCase {
		text, err := os.ReadFile(base + ".out.yaml")
		require.NoError(t, err)
		var answer struct {
			Children []any `json:"children"`
		}
		require.NoError(t, yaml.Unmarshal(text, &answer))
		if len(answer.Children) == 0 {
			return nil
		}
	}
	var printed, told bytes.Buffer
	code := commands.Run(t.Context(), "operetta", commands.Operators{Controllers: hooks.All()}, []string{"render", "--children-only", path}, cli.Streams{Out: &printed, Err: &told})
	require.Zero(t, code, told.String())
	var list []*unstructured.Unstructured
	for _, text := range bytes.Split(printed.Bytes(), []byte("---\n")) {
		if len(text) == 0 {
			continue
		}
		encoded, err := yaml.YAMLToJSON(text)
		require.NoError(t, err)
		child := &unstructured.Unstructured{}
		require.NoError(t, child.UnmarshalJSON(encoded))
		list = append(list, child)
	}
	return list
}

// mergeKeys are the members by which Metacontroller tells the entries of a list
// apart. Any other list it compares as a whole.
var mergeKeys = []string{"containerPort", "port", "mountPath", "name", "uid", "ip", "path"}

// requireKept fails unless stored has every field of wanted with the same value.
func requireKept(t *testing.T, wanted, stored any, path string) {
	t.Helper()
	switch wanted := wanted.(type) {
	case map[string]any:
		members, ok := stored.(map[string]any)
		require.True(t, ok, "%s is stored as %v", path, stored)
		for name, value := range wanted {
			requireKept(t, value, members[name], path+"."+name)
		}
	case []any:
		entries, ok := stored.([]any)
		require.True(t, ok, "%s is stored as %v", path, stored)
		if !isMerged(wanted) {
			require.Equal(t, wanted, entries, path)
			return
		}
		require.Len(t, entries, len(wanted), path)
		for i := range wanted {
			requireKept(t, wanted[i], entries[i], path+"[]")
		}
	default:
		require.True(t, reflect.DeepEqual(wanted, stored), "%s: %v is stored as %v", path, wanted, stored)
	}
}

// isMerged reports whether all entries of a list have one of the merge keys.
func isMerged(list []any) bool {
	for _, key := range mergeKeys {
		all := len(list) > 0
		for _, entry := range list {
			members, _ := entry.(map[string]any)
			all = all && members[key] != nil
		}
		if all {
			return true
		}
	}
	return false
}
