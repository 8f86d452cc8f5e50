package crds

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/metacontroller"
)

func TestModuleDeclaresItsTypes(t *testing.T) {
	for want, declared := range map[module]reflect.Type{
		"github.com/operetta-dev/operetta": reflect.TypeFor[metacontroller.Controller](),
		"k8s.io/api":                       reflect.TypeFor[corev1.Pod](),
	} {
		require.True(t, want.declares(declared))
		require.False(t, module("example.com/acme").declares(declared))
		require.False(t, want[:len(want)-1].declares(declared), "another module whose path begins alike")
	}
	found, err := moduleOf("../../../../..")
	require.NoError(t, err)
	require.Equal(t, ours, found)

	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "go.mod"), []byte("module example.com/acme // a comment\n"), 0o600))
	_, err = moduleOf(other)
	require.EqualError(t, err, "this program is of the module github.com/operetta-dev/operetta and does not know the operators of example.com/acme: "+
		"use go run . generate there, which needs that to compile; until the logic is written, let sync return an error")
}

// A program may serve the kinds of another module beside its own.
func TestKindOfAnotherModuleHasTheCRDThatItCarries(t *testing.T) {
	c := tunes()
	_, err := module("example.com/acme").definition(c, nil)
	require.ErrorContains(t, err, "is declared in github.com/operetta-dev/operetta/internal/lab/write/manifests/crds, and the Controller carries no CRD")
	c.CRD = metacontroller.NewCRD([]byte(manifests.Header + definition))
	crd, err := module("example.com/acme").definition(c, nil)
	require.NoError(t, err)
	require.Equal(t, CRD{ShortNames: []string{"tn"}, HasScale: true, YAML: []byte(definition)}, crd)

	_, err = ours.definition(c, map[string][]byte{})
	require.ErrorContains(t, err, "no type has the markers of a resource tunes of the group example.org")
}
