package deploy_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/metacontroller"
)

// annotationLimit is what all annotations of an object may take. kubectl apply
// puts the whole object into one.
const annotationLimit = 256 << 10

// object is JSON of any kind.
type object = map[string]any

// at returns the object at a path.
func at(t *testing.T, from object, path ...string) object {
	t.Helper()
	for _, name := range path {
		inner, ok := from[name].(object)
		require.True(t, ok, "there is no %s in %v", name, path)
		from = inner
	}
	return from
}

// eachCRD runs a test for the CRD of each kind and its only version.
func eachCRD(t *testing.T, test func(t *testing.T, crd, version object)) {
	t.Helper()
	for _, controller := range hooks.All() {
		t.Run(controller.Name(), func(t *testing.T) {
			crd := read[object](t, "crds/"+controller.Name()+".yaml")
			versions, ok := at(t, crd, "spec")["versions"].([]any)
			require.True(t, ok)
			require.Len(t, versions, 1)
			version, ok := versions[0].(object)
			require.True(t, ok)
			test(t, crd, version)
		})
	}
}

func TestPlainApplyTakesEachCRD(t *testing.T) {
	eachCRD(t, func(t *testing.T, crd, _ object) {
		copied, err := json.Marshal(crd)
		require.NoError(t, err)
		total := len("kubectl.kubernetes.io/last-applied-configuration") + len(copied) + len("\n")
		for key, value := range at(t, crd, "metadata", "annotations") {
			text, _ := value.(string)
			total += len(key) + len(text)
		}
		t.Logf("%d of %d bytes", total, annotationLimit)
		require.Less(t, total, annotationLimit)
	})
}

// What an API server spends on a CRD grows with its rules, and what clients download with its size.
const (
	mostRules   = 300 // of all CRDs together
	largestJSON = 200_000
)

func TestCRDsAreLight(t *testing.T) {
	total := 0
	for _, controller := range hooks.All() {
		text, err := json.Marshal(read[object](t, "crds/"+controller.Name()+".yaml"))
		require.NoError(t, err)
		require.Less(t, len(text), largestJSON, controller.Name())
		rules := 0
		root := read[apiextensionsv1.CustomResourceDefinition](t, "crds/"+controller.Name()+".yaml").Spec.Versions[0].Schema.OpenAPIV3Schema
		walkSchema("", *root, func(_ string, schema apiextensionsv1.JSONSchemaProps) { rules += len(schema.XValidations) })
		t.Logf("%s: %d rules, %d bytes", controller.Name(), rules, len(text))
		total += rules
	}
	t.Logf("%d rules", total)
	require.LessOrEqual(t, total, mostRules)
}

func TestEachKindIsAtHomeAtTheTerminal(t *testing.T) {
	eachCRD(t, func(t *testing.T, crd, version object) {
		names := at(t, crd, "spec", "names")
		require.Contains(t, names["categories"], "operetta")
		require.NotEmpty(t, names["shortNames"])
		require.NotEmpty(t, version["additionalPrinterColumns"])
		at(t, version, "subresources", "status")
	})
}

// A status field that the schema does not have is pruned, and Metacontroller
// then writes the status again on every sync. A resource that no hook has seen
// must not be taken for ready.
func TestEachStatusCanBeRelatedToItsSpec(t *testing.T) {
	eachCRD(t, func(t *testing.T, _, version object) {
		status := at(t, version, "schema", "openAPIV3Schema", "properties", "status")
		at(t, status, "properties", "observedGeneration")
		at(t, status, "properties", "conditions")
		require.Contains(t, status, "default")
		conditions, ok := at(t, status, "default")["conditions"].([]any)
		require.True(t, ok)
		require.Len(t, conditions, 1)
		ready, ok := conditions[0].(object)
		require.True(t, ok)
		require.Equal(t, "Ready", ready["type"])
		require.Equal(t, "Unknown", ready["status"])
	})
}

// The API server refuses a CRD with a default that is not valid itself.
func TestDefaultsHaveWhatIsRequired(t *testing.T) {
	eachCRD(t, func(t *testing.T, _, version object) {
		requireWholeDefaults(t, at(t, version, "schema", "openAPIV3Schema"), "")
	})
}

func requireWholeDefaults(t *testing.T, schema object, path string) {
	t.Helper()
	properties, _ := schema["properties"].(object)
	if value, ok := schema["default"].(object); ok {
		required, _ := schema["required"].([]any)
		for _, name := range required {
			key, _ := name.(string)
			property, _ := properties[key].(object)
			require.True(t, value[key] != nil || property["default"] != nil,
				"the default of %s has no %s, which is required", path, key)
		}
	}
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		requireWholeDefaults(t, at(t, properties, name), path+"."+name)
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[keyword].(object); ok {
			requireWholeDefaults(t, inner, path+"[]")
		}
	}
}

// mergeKeys are the fields by which Metacontroller tells the items of a list apart when
// it merges what is desired into a child, the first that all items have (its package
// dynamic/apply).
var mergeKeys = []string{"containerPort", "port", "mountPath", "name", "uid", "ip", "path"}

// TestListsThatMetacontrollerMergesHaveEachKeyOnce: of two items with one value it would
// make one. For an operator that has children updated in place no other field may tell two
// items apart, such as the protocol of a port.
func TestListsThatMetacontrollerMergesHaveEachKeyOnce(t *testing.T) {
	// What a rule has stand once, and Kubernetes' own lists without a key, of which it makes one of two.
	byRule := regexp.MustCompile(`^modelbox spec((\.(sidecars|initContainers|services)\[\])?\.ports|\.containerPorts)$|^dataservice spec\.[-a-z]+\.ports$|\.ephemeralContainers|\.(volumeDevices|httpHeaders|sysctls|items)$`)
	var others []string
	for _, controller := range hooks.All() {
		isMerged := slices.ContainsFunc(controller.Children, func(c metacontroller.Child) bool { return c.Update == metacontroller.InPlace })
		var walk func(path string, schema apiextensionsv1.JSONSchemaProps)
		walk = func(path string, schema apiextensionsv1.JSONSchemaProps) {
			if items := schema.Items; items != nil && items.Schema != nil {
				key := slices.IndexFunc(mergeKeys, func(key string) bool { return slices.Contains(items.Schema.Required, key) })
				list := controller.Name() + " " + path
				if key >= 0 && !byRule.MatchString(list) {
					hasKey := slices.Contains(schema.XListMapKeys, mergeKeys[key])
					if !hasKey || isMerged && len(schema.XListMapKeys) > 1 {
						others = append(others, list+" has not "+mergeKeys[key]+" as its list-map-key")
					}
				}
				walk(path+"[]", *items.Schema)
			}
			if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
				walk(path+"{}", *schema.AdditionalProperties.Schema)
			}
			for field, property := range schema.Properties {
				walk(path+"."+field, property)
			}
		}
		crd := read[apiextensionsv1.CustomResourceDefinition](t, "crds/"+controller.Name()+".yaml")
		walk("spec", crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"])
	}
	require.Empty(t, others)
}
