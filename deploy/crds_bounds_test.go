package deploy_test

import (
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/operetta-dev/operetta/hooks"
)

// freeTexts are the fields whose text the API server stores without a look at it: what
// runs in a container, the values of variables, headers, sysctls and annotations (those that
// it validates are refused), and the content of files.
var freeTexts = regexp.MustCompile(`(\.(args|command)\[\]|\.value|annotations\{\}|Annotations\{\}|\.env\{\}|\.script|\.config\{\}|\.divisor)$`)

// TestEveryTextAndKeyIsBounded: what the API server refuses it quotes, with up to four
// bytes for one, and Metacontroller keeps each such message as an event.
func TestEveryTextAndKeyIsBounded(t *testing.T) {
	const longest = 4096 // of paths
	for _, controller := range hooks.All() {
		crd := read[apiextensionsv1.CustomResourceDefinition](t, "crds/"+controller.Name()+".yaml")
		var unbounded []string
		texts := 0
		walkSchema("spec", crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], func(path string, schema apiextensionsv1.JSONSchemaProps) {
			isText := schema.Type == "string" || schema.XIntOrString
			if isText && len(schema.Enum) == 0 && !freeTexts.MatchString(path) {
				texts++
				if schema.MaxLength == nil || *schema.MaxLength > longest && !strings.HasSuffix(path, ".gmsaCredentialSpec") {
					unbounded = append(unbounded, path)
				}
			}
			if schema.AdditionalProperties != nil && (schema.MaxProperties == nil || !boundsKeys(schema.XValidations)) {
				unbounded = append(unbounded, path+" (keys)")
			}
			if schema.Items != nil && schema.MaxItems == nil {
				unbounded = append(unbounded, path+" (items)")
			}
		})
		require.Empty(t, unbounded, controller.Name())
		require.Positive(t, texts, controller.Name())
	}
}

// TestNoTextHasWhatYAMLDoesNotKeep: under server-side apply Metacontroller sends children as
// YAML, which reads U+0085 as a space or as a newline and refuses the others.
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
			for _, character := range []string{"\x7f", "\u0080", "\u0085", "\u009f", "\ufffe", "\uffff"} {
				for _, text := range []string{character, "a" + character + "b", "/a" + character, "0" + character, character + "1m"} {
					assert.False(t, pattern.MatchString(text), "%s: %s admits %q by %q", controller.Name(), path, text, schema.Pattern)
				}
			}
		})
		require.Positive(t, texts)
	}
}

// TestNoImageHasSpaceAround: the API server refuses a Pod with an image or an AppArmor profile
// that begins or ends with what Go calls a space (not the name of an RBD image), which is more than the \s of a pattern.
func TestNoImageHasSpaceAround(t *testing.T) {
	for _, controller := range hooks.All() {
		crd := read[apiextensionsv1.CustomResourceDefinition](t, "crds/"+controller.Name()+".yaml")
		walkSchema("spec", crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], func(path string, schema apiextensionsv1.JSONSchemaProps) {
			if name := strings.ToLower(path[strings.LastIndex(path, ".")+1:]); schema.Type != "string" || strings.HasSuffix(path, "rbd.image") || strings.Contains(path, "ephemeralContainers[]") || !strings.HasSuffix(name, "image") && name != "localhostprofile" {
				return
			}
			pattern := regexp.MustCompile(schema.Pattern)
			assert.True(t, pattern.MatchString("a"), "%s: %s", controller.Name(), path)
			for character := range rune(0x3001) {
				if unicode.IsSpace(character) {
					for _, text := range []string{string(character), "a" + string(character), string(character) + "a"} {
						assert.False(t, pattern.MatchString(text), "%s: %s admits %q by %q", controller.Name(), path, text, schema.Pattern)
					}
				}
			}
		})
	}
}

// TestSecondsDoNotOverflow: Kubernetes' controllers multiply a number of seconds by 1e9. A Job
// with an activeDeadlineSeconds of 300 years fails at once.
func TestSecondsDoNotOverflow(t *testing.T) {
	for _, controller := range hooks.All() {
		crd := read[apiextensionsv1.CustomResourceDefinition](t, "crds/"+controller.Name()+".yaml")
		walkSchema("spec", crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"], func(path string, schema apiextensionsv1.JSONSchemaProps) {
			if schema.Type == "integer" && (strings.HasSuffix(path, "Seconds") || strings.HasSuffix(path, ".seconds")) {
				require.NotNil(t, schema.Maximum, "%s: %s", controller.Name(), path)
				require.LessOrEqual(t, *schema.Maximum, math.MaxInt64/1e9, "%s: %s", controller.Name(), path)
			}
		})
	}
}

func boundsKeys(rules apiextensionsv1.ValidationRules) bool {
	for _, rule := range rules {
		if strings.HasPrefix(rule.Rule, "self.all(key, size(key) <= ") {
			return true
		}
	}
	return false
}

// walkSchema visits a schema and all below it, but for the items of lists that are to be
// empty.
func walkSchema(path string, schema apiextensionsv1.JSONSchemaProps, visit func(string, apiextensionsv1.JSONSchemaProps)) {
	if schema.MaxItems != nil && *schema.MaxItems == 0 {
		return
	}
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
