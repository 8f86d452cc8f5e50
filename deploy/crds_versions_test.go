package deploy_test

import (
	"compress/gzip"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// definitions returns the CRDs in a stream of YAML documents by their names.
func definitions(t *testing.T, stream string) map[string]apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	found := map[string]apiextensionsv1.CustomResourceDefinition{}
	for document := range strings.SplitSeq(stream, "\n---\n") {
		var definition apiextensionsv1.CustomResourceDefinition
		if yaml.Unmarshal([]byte(document), &definition) == nil && definition.Kind == "CustomResourceDefinition" {
			found[definition.Name] = definition
		}
	}
	return found
}

// fields writes the paths of a schema's fields, with their types.
func fields(path string, schema *apiextensionsv1.JSONSchemaProps, into map[string]string) {
	into[path] = schema.Type
	for name, property := range schema.Properties {
		fields(path+"."+name, &property, into)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		fields(path+"[]", schema.Items.Schema, into)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		fields(path+"{}", schema.AdditionalProperties.Schema, into)
	}
}

// TestNoFieldOfTheFormerReleaseIsGone holds the CRDs to what docs/upgrade.md promises of a
// version of a kind: it is the only one, and has each field of the release before, of its type.
func TestNoFieldOfTheFormerReleaseIsGone(t *testing.T) {
	file, err := os.Open("../e2e/testdata/v0.1.0/install.yaml.gz")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	unpacked, err := gzip.NewReader(file)
	require.NoError(t, err)
	text, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	former := definitions(t, string(text))
	require.NotEmpty(t, former)
	require.Len(t, former, strings.Count(string(text), "\nkind: CustomResourceDefinition\n"))

	paths, err := filepath.Glob("crds/*.yaml")
	require.NoError(t, err)
	var crds strings.Builder
	for _, path := range paths {
		crds.WriteString("\n---\n" + page(t, path))
	}
	now := definitions(t, crds.String())
	upgrade := page(t, "../docs/upgrade.md")
	for name, definition := range now {
		require.Len(t, definition.Spec.Versions, 1, name)
		version := definition.Spec.Versions[0]
		require.True(t, version.Served && version.Storage, name)
		require.Nil(t, definition.Spec.Conversion, name)
	}
	count := 0
	for name, before := range former {
		require.Contains(t, now, name)
		require.True(t, strings.Contains(upgrade, "| "+before.Spec.Names.Kind+" | `"+before.Spec.Versions[0].Name+"` |"), "docs/upgrade.md does not say the version of %s", name)
		require.Equal(t, before.Spec.Versions[0].Name, now[name].Spec.Versions[0].Name, name)
		was, is := map[string]string{}, map[string]string{}
		fields("", before.Spec.Versions[0].Schema.OpenAPIV3Schema, was)
		fields("", now[name].Spec.Versions[0].Schema.OpenAPIV3Schema, is)
		for _, path := range slices.Sorted(maps.Keys(was)) {
			count++
			kind, found := is[path]
			require.True(t, found, "%s: %s is gone", name, path)
			require.Equal(t, was[path], kind, "%s: the type of %s", name, path)
		}
	}
	require.Greater(t, count, 1000)
}
