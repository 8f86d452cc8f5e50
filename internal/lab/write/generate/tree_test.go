package generate

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/metacontroller"
)

// place writes files below a new folder.
func place(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, content := range files {
		full := filepath.Join(root, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(content), 0o600))
	}
	return root
}

func TestWriteMakesTheFilesWhatTheyShouldBe(t *testing.T) {
	root := place(t, map[string]string{
		"deploy/crds/same.yaml":    manifests.Header + "same",
		"deploy/crds/edited.yaml":  manifests.Header + "edited",
		"deploy/crds/gone.yaml":    manifests.Header + "of a kind that is gone",
		"deploy/rbac/by-hand.yaml": "written by hand",
		"deploy/rbac/keep/me.yaml": manifests.Header + "in a folder below",

		"deploy/overlays/sharded/shard-7/kustomization.yaml": manifests.Header + "of a shard that is gone",
	})
	wanted := Tree{}
	wanted.add("deploy/crds/same.yaml", []byte("same"))
	wanted.add("deploy/crds/edited.yaml", []byte("as it should be"))
	wanted.add("deploy/argocd/new.yaml", []byte("new"))
	wanted.add("deploy/overlays/sharded/kustomization.yaml", []byte("of six shards"))

	var said bytes.Buffer
	require.ErrorContains(t, wanted.Check(root, &said), "differ from what the operators declare: 5:")
	require.Equal(t, "deploy/argocd/new.yaml\ndeploy/crds/edited.yaml\ndeploy/crds/gone.yaml\ndeploy/overlays/sharded/kustomization.yaml\ndeploy/overlays/sharded/shard-7/kustomization.yaml\n", said.String())

	said.Reset()
	require.NoError(t, wanted.Write(root, &said))
	require.Equal(t, "wrote deploy/argocd/new.yaml\nwrote deploy/crds/edited.yaml\nremoved deploy/crds/gone.yaml\nwrote deploy/overlays/sharded/kustomization.yaml\nremoved deploy/overlays/sharded/shard-7/kustomization.yaml\n", said.String())
	edited, err := os.ReadFile(filepath.Join(root, "deploy/crds/edited.yaml"))
	require.NoError(t, err)
	require.Equal(t, manifests.Header+"as it should be", string(edited))
	require.NoFileExists(t, filepath.Join(root, "deploy/crds/gone.yaml"))
	require.FileExists(t, filepath.Join(root, "deploy/rbac/by-hand.yaml"))
	require.FileExists(t, filepath.Join(root, "deploy/rbac/keep/me.yaml"))

	said.Reset()
	require.NoError(t, wanted.Check(root, &said))
	require.Empty(t, said.String())
}

func TestSectionsGoBetweenTheirTwoLines(t *testing.T) {
	rows := []manifests.Row{{
		Controller: metacontroller.Controller{Parent: metacontroller.Resource{APIVersion: "example.org/v1", Kind: "Tune"}},
		ShortNames: []string{"tn"},
	}}
	const tableBegin, tableEnd = "<!-- kinds:begin -->\n", "<!-- kinds:end -->\n"
	const otherBegin, otherEnd = "<!-- other:begin -->\n", "<!-- other:end -->\n"
	table := string(manifests.KindsTable(rows))
	sections := []section{{"kinds", []byte(table)}, {"other", []byte("new\n")}}
	cases := map[string]struct {
		readme, want string
		failure      string
	}{
		"replaced": {readme: "a\n" + tableBegin + "old\n" + tableEnd + "b\n", want: "a\n" + tableBegin + table + tableEnd + "b\n"},
		"both replaced": {
			readme: otherBegin + otherEnd + "a\n" + tableBegin + "old\n" + tableEnd,
			want:   otherBegin + "new\n" + otherEnd + "a\n" + tableBegin + table + tableEnd,
		},
		"no place":     {readme: "a\n"},
		"never ends":   {readme: tableBegin, failure: "only one of the two lines"},
		"never begins": {readme: tableEnd, failure: "only one of the two lines"},
		"wrong order":  {readme: tableEnd + tableBegin, failure: "in the wrong order"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			files := Tree{}
			err := files.addSections(place(t, map[string]string{"README.md": c.readme}), "README.md", sections...)
			if c.failure != "" {
				require.ErrorContains(t, err, c.failure)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, string(files["README.md"]))
		})
	}
	require.NoError(t, Tree{}.addSections(t.TempDir(), "README.md", sections...), "a project without a README")

	files := Tree{}
	require.NoError(t, files.addSections(place(t, map[string]string{"a.yaml": "a:\n    # other:begin\n    # other:end\n    b: c\n"}), "a.yaml", sections...))
	require.Equal(t, "a:\n    # other:begin\nnew\n    # other:end\n    b: c\n", string(files["a.yaml"]))
}
