// Package crd validates custom resources with their CustomResourceDefinition,
// by the API server's own code, with the same errors, defaults and pruning.
package crd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// Schema is one version of a CustomResourceDefinition, ready for use. It may be
// used by several goroutines at once.
type Schema struct {
	structural *structuralschema.Structural
	validator  schemavalidation.SchemaValidator
	rules      *cel.Validator // nil where there is none
	namespaced bool
	// status is the schema of the status alone, which only a simulation needs.
	// It is nil if a rule reads both the status and other fields.
	status   func() (*Schema, error)
	replicas []string // the path of the scale subresource's number of replicas, if there is one
	known    known

	remembering func() *Schema
}

// Load reads a CustomResourceDefinition in YAML or JSON and compiles one of its
// versions, rules included, which takes tenths of a second.
func Load(text []byte, version string) (*Schema, error) {
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &definition); err != nil {
		return nil, fmt.Errorf("reading the CustomResourceDefinition: %w", err)
	}
	for i := range definition.Spec.Versions {
		if definition.Spec.Versions[i].Name == version {
			s, err := compileVersion(&definition.Spec.Versions[i])
			if err != nil {
				return nil, fmt.Errorf("compiling version %s of the CustomResourceDefinition %s: %w", version, definition.Name, err)
			}
			s.namespaced = definition.Spec.Scope != apiextensionsv1.ClusterScoped
			return s, nil
		}
	}
	return nil, fmt.Errorf("the CustomResourceDefinition %s has no version %s", definition.Name, version)
}

// Written returns the schema of a version of a CustomResourceDefinition, as it is
// written there.
func Written(text []byte, version string) (map[string]any, error) {
	var definition struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return nil, fmt.Errorf("reading the CustomResourceDefinition: %w", err)
	}
	for _, v := range definition.Spec.Versions {
		if v.Name == version {
			return v.Schema.OpenAPIV3Schema, nil
		}
	}
	return nil, fmt.Errorf("the CustomResourceDefinition has no version %s", version)
}

// compileVersion compiles a version as the API server does.
func compileVersion(version *apiextensionsv1.CustomResourceDefinitionVersion) (*Schema, error) {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return nil, errors.New("it has no schema")
	}
	var internal apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema, &internal, nil); err != nil {
		return nil, err
	}
	s, err := compile(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	if version.Subresources != nil && version.Subresources.Scale != nil {
		s.replicas = strings.Split(strings.TrimPrefix(version.Subresources.Scale.SpecReplicasPath, "."), ".")
	}
	if status, found := internal.OpenAPIV3Schema.Properties["status"]; found && !mentionsStatus(internal.OpenAPIV3Schema.XValidations) {
		s.status = sync.OnceValues(func() (*Schema, error) {
			only, err := compile(&apiextensions.JSONSchemaProps{Type: "object", Properties: map[string]apiextensions.JSONSchemaProps{"status": status}})
			if err == nil {
				only.known.times = only.rules == nil
			}
			return only, err
		})
		s.known.withoutStatus = true
	}
	return s, nil
}

// mentionsStatus reports whether rules of a whole object may read its status.
// Other rules do not depend on it.
func mentionsStatus(rules apiextensions.ValidationRules) bool {
	return slices.ContainsFunc(rules, func(rule apiextensions.ValidationRule) bool {
		return strings.Contains(rule.Rule+rule.MessageExpression, "status")
	})
}

// readsOld reports whether a rule below a schema may read the old object.
func readsOld(schema *apiextensions.JSONSchemaProps) bool {
	if schema == nil {
		return false
	}
	reads := func(rule apiextensions.ValidationRule) bool { return strings.Contains(rule.Rule, "oldSelf") }
	below := slices.Concat(slices.Collect(maps.Values(schema.Properties)), schema.AllOf, schema.AnyOf, schema.OneOf)
	if schema.Items != nil && schema.Items.Schema != nil {
		below = append(below, *schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		below = append(below, *schema.AdditionalProperties.Schema)
	}
	return slices.ContainsFunc(schema.XValidations, reads) || readsOld(schema.Not) ||
		slices.ContainsFunc(below, func(schema apiextensions.JSONSchemaProps) bool { return readsOld(&schema) })
}

func compile(schema *apiextensions.JSONSchemaProps) (*Schema, error) {
	structural, err := structuralschema.NewStructural(schema)
	if err != nil {
		return nil, err
	}
	structural = structural.DeepCopy() // its defaults belong to the definition, and are pruned here
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, err
	}
	validator, _, err := schemavalidation.NewSchemaValidator(schema)
	if err != nil {
		return nil, err
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	s := &Schema{structural: structural, validator: validator, rules: rules, known: known{reads: readsOld(schema)}}
	s.remembering = sync.OnceValue(s.copyThatRemembers)
	return s, nil
}

// Default fills in the defaults of the schema, in place.
func (s *Schema) Default(object map[string]any) {
	defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	defaulting.Default(object, s.structural)
}

// Prune removes the fields that the schema does not know, in place, and returns
// their paths.
func (s *Schema) Prune(object map[string]any) []string {
	return pruning.PruneWithOptions(object, s.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
}
