package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// installed skips a test that needs the packages of package-lock.json, or fails it where
// make page has them.
func installed(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("the packages of npm are not asked for under -short")
	}
	if _, err := os.Stat("node_modules/preact"); err == nil {
		return
	}
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("there is no npm on the PATH: the bundle cannot be rebuilt here")
	}
	output, err := exec.Command("npm", "ci", "--no-audit", "--no-fund").CombinedOutput()
	require.NoError(t, err, string(output))
}

func TestTypes(t *testing.T) {
	installed(t)
	output, err := exec.Command("node", "node_modules/typescript/bin/tsc", "-p", ".").CombinedOutput()
	require.NoError(t, err, string(output))
}

// TestSources runs what test/ has, by node.
func TestSources(t *testing.T) {
	installed(t)
	t.Setenv("KINDS", kinds(t))
	dir := t.TempDir()
	for _, name := range []string{"complete", "pure"} {
		built := filepath.Join(dir, name+".mjs")
		result := api.Build(api.BuildOptions{
			EntryPoints: []string{"test/" + name + ".ts"}, Bundle: true, Outfile: built, Write: true,
			Platform: api.PlatformNode, Format: api.FormatESModule,
		})
		require.Empty(t, result.Errors)
		output, err := exec.Command("node", "--test", built).CombinedOutput()
		require.NoError(t, err, string(output))
		t.Logf("%s", output)
	}
}

// kinds writes the schemas of deploy/crds as the page gets them, and returns the file.
func kinds(t *testing.T) string {
	t.Helper()
	paths, err := filepath.Glob("../deploy/crds/*.yaml")
	require.NoError(t, err)
	var list []map[string]any
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var crd struct {
			Kind string
			Spec struct {
				Group    string
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
					}
				}
			}
		}
		require.NoError(t, yaml.Unmarshal(text, &crd))
		if crd.Kind != "CustomResourceDefinition" {
			continue
		}
		for _, version := range crd.Spec.Versions {
			list = append(list, map[string]any{
				"apiVersion": crd.Spec.Group + "/" + version.Name, "kind": crd.Spec.Names.Kind, "schema": version.Schema.OpenAPIV3Schema,
			})
		}
	}
	text, err := json.Marshal(list)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kinds.json")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}
