// Package dumptest has dumps of simulated clusters, for tests.
package dumptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/player"
)

// Samples returns the paths of the samples below the project's folder.
func Samples(t testing.TB, root string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "deploy/samples/*.yaml"))
	require.NoError(t, err)
	seeds, err := filepath.Glob(filepath.Join(root, "deploy/samples/seed/*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	require.NotEmpty(t, seeds)
	return append(paths, seeds...)
}

// Objects reads a file of objects.
func Objects(t testing.TB, path string) []kube.Object {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	documents, err := documents.Objects(text)
	require.NoError(t, err)
	objects := make([]kube.Object, len(documents))
	for i, document := range documents {
		objects[i], err = kube.ParseObject(document)
		require.NoError(t, err)
	}
	return objects
}

// Converged plays the files until nothing changes.
func Converged(t testing.TB, options player.Options, paths ...string) *player.World {
	t.Helper()
	world := player.New(options)
	for _, path := range paths {
		for _, object := range Objects(t, path) {
			require.NoError(t, world.Apply(JSON(t, object.Object)))
		}
	}
	require.NoError(t, world.Play())
	return world
}

// List prints objects as kubectl does.
func List(t testing.TB, objects []kube.Object) []byte {
	t.Helper()
	items := []any{}
	for _, object := range objects {
		items = append(items, object.Object)
	}
	text, err := json.MarshalIndent(map[string]any{
		"apiVersion": "v1", "items": items, "kind": "List", "metadata": map[string]any{"resourceVersion": ""},
	}, "", "    ")
	require.NoError(t, err)
	return text
}

// JSON encodes a value.
func JSON(t testing.TB, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}
