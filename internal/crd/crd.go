// Package crd judges custom resources by their CustomResourceDefinition, with
// the API server's own code: what it refuses is refused here, in its words, and
// what it defaults and prunes is defaulted and pruned.
package crd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

// Schema is one version of a CustomResourceDefinition, ready for use. It may be
// used by several goroutines at once.
type Schema struct {
	structural *structuralschema.Structural
	validator  schemavalidation.SchemaValidator
	nodes      *node
	rules      *cel.Validator // nil where there is none
	replicas   []string       // the path of the scale subresource's number of replicas, if there is one
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
			s, err := compile(&definition.Spec.Versions[i])
			if err != nil {
				return nil, fmt.Errorf("compiling version %s of the CustomResourceDefinition %s: %w", version, definition.Name, err)
			}
			return s, nil
		}
	}
	return nil, fmt.Errorf("the CustomResourceDefinition %s has no version %s", definition.Name, version)
}

// compile does what the API server does with a version that it begins to serve.
func compile(version *apiextensionsv1.CustomResourceDefinitionVersion) (*Schema, error) {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return nil, errors.New("it has no schema")
	}
	var internal apiextensions.CustomResourceValidation
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	structural = structural.DeepCopy() // its defaults belong to the definition, and are pruned now
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, err
	}
	validator, openAPI, err := schemavalidation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	s := &Schema{
		structural: structural,
		validator:  validator,
		nodes:      newNode(openAPI),
		rules:      cel.NewValidator(structural, true, celconfig.PerCallLimit),
	}
	if version.Subresources != nil && version.Subresources.Scale != nil {
		s.replicas = strings.Split(strings.TrimPrefix(version.Subresources.Scale.SpecReplicasPath, "."), ".")
	}
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

// Validate returns why the API server would refuse to create an object, which
// has its defaults and no unknown fields, or nothing. Rules about a change
// (those with oldSelf) hold of a creation. The errors quote the values that
// they are about; [Brief] leaves them out. What has very many errors is not
// looked at to its end.
func (s *Schema) Validate(ctx context.Context, object map[string]any) field.ErrorList {
	look := walker{ctx: ctx}
	if !look.visit(s.nodes, nil, object) || slices.ContainsFunc(look.errs, isTooLarge) {
		return look.errs
	}
	errs := validateName(object)
	if len(look.errs) > 0 { // the same, in the words of the API server
		errs = append(errs, schemavalidation.ValidateCustomResource(nil, object, s.validator)...)
	}
	errs = append(errs, s.validateReplicas(object)...)
	errs = append(errs, objectmeta.Validate(nil, object, s.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	if s.rules == nil || blocksRules(errs) {
		return errs
	}
	broken, _ := s.rules.Validate(ctx, nil, s.structural, object, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

// blocksRules reports whether an object is so wrong that its rules cannot be
// trusted to end in time, or at all. The API server does not run them then.
func blocksRules(errs field.ErrorList) bool {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		default:
		}
	}
	return false
}

// validateName refuses a name that no custom resource can have.
func validateName(object map[string]any) field.ErrorList {
	name, _, err := unstructured.NestedString(object, "metadata", "name")
	path := field.NewPath("metadata", "name")
	if err != nil {
		return field.ErrorList{field.TypeInvalid(path, "", "must be of type string")}
	}
	var errs field.ErrorList
	for _, problem := range apivalidation.NameIsDNSSubdomain(name, false) {
		errs = append(errs, field.Invalid(path, name, problem))
	}
	return errs
}

// validateReplicas holds the field that the scale subresource writes to what
// that subresource can carry.
func (s *Schema) validateReplicas(object map[string]any) field.ErrorList {
	if s.replicas == nil {
		return nil
	}
	path := field.NewPath(s.replicas[0], s.replicas[1:]...)
	replicas, _, err := unstructured.NestedInt64(object, s.replicas...)
	switch {
	case err != nil:
		return field.ErrorList{field.TypeInvalid(path, "", "must be of type integer")}
	case replicas < 0:
		return field.ErrorList{field.Invalid(path, replicas, "should be a non-negative integer")}
	case replicas > math.MaxInt32:
		return field.ErrorList{field.Invalid(path, replicas, fmt.Sprintf("should be less than or equal to %d", math.MaxInt32))}
	}
	return nil
}
