package deploy_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/operetta-dev/operetta/hooks"
)

// freeTexts are the fields whose text may be long: what runs in a container, the values of
// variables, headers, sysctls and annotations, and the content of files.
var freeTexts = regexp.MustCompile(`(\.(args|command)\[\]|\.value|annotations\{\}|Annotations\{\}|\.env\{\}|\.script|\.config\{\}|\.gmsaCredentialSpec)$`)

// TestEveryTextListAndMapIsBounded: what an API server, Metacontroller and a hook do for a custom
// resource grows with its entries.
func TestEveryTextListAndMapIsBounded(t *testing.T) {
	const longest = 4096 // of paths
	for _, controller := range hooks.All() {
		crd := read[apiextensionsv1.CustomResourceDefinition](t, "crds/"+controller.Name()+".yaml")
		var unbounded []string
		texts := 0
		walkSchema("spec", crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], func(path string, schema apiextensionsv1.JSONSchemaProps) {
			isText := schema.Type == "string" || schema.XIntOrString
			if isText && len(schema.Enum) == 0 && !freeTexts.MatchString(path) {
				texts++
				if schema.MaxLength == nil || *schema.MaxLength > longest {
					unbounded = append(unbounded, path)
				}
			}
			if schema.AdditionalProperties != nil && schema.MaxProperties == nil || schema.Items != nil && schema.MaxItems == nil {
				unbounded = append(unbounded, path)
			}
		})
		require.Empty(t, unbounded, controller.Name())
		require.Positive(t, texts, controller.Name())
	}
}

// TestNoTextHasWhatYAMLDoesNotKeep: under server-side apply Metacontroller sends children as
// YAML, which reads U+0085 as a space or as a newline.
func TestNoTextHasWhatYAMLDoesNotKeep(t *testing.T) {
	for _, controller := range hooks.All() {
		crd := read[apiextensionsv1.CustomResourceDefinition](t, "crds/"+controller.Name()+".yaml")
		texts := 0
		walkSchema("spec", crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], func(path string, schema apiextensionsv1.JSONSchemaProps) {
			if schema.Type != "string" && !schema.XIntOrString || len(schema.Enum) > 0 {
				return
			}
			texts++
			pattern := regexp.MustCompile(schema.Pattern)
			for _, text := range []string{"\u0085", "a\u0085b", "/a\u0085", "0\u0085", "\u00851m"} {
				assert.False(t, pattern.MatchString(text), "%s: %s admits %q by %q", controller.Name(), path, text, schema.Pattern)
			}
		})
		require.Positive(t, texts)
	}
}

// walkSchema visits a schema and all below it.
func walkSchema(path string, schema apiextensionsv1.JSONSchemaProps, visit func(string, apiextensionsv1.JSONSchemaProps)) {
	visit(path, schema)
	if schema.Items != nil && schema.Items.Schema != nil {
		walkSchema(path+"[]", *schema.Items.Schema, visit)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		walkSchema(path+"{}", *schema.AdditionalProperties.Schema, visit)
	}
	for field, property := range schema.Properties {
		walkSchema(path+"."+field, property, visit)
	}
}
