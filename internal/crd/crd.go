// Package crd validates custom resources with their CustomResourceDefinition,
// by the API server's own code, with the same errors, defaults and pruning.
package crd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

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
	rules      *cel.Validator // nil where there is none
	namespaced bool
	// status is the schema of the status alone, which only a simulation needs.
	// It is nil if a rule reads both the status and other fields.
	status   func() (*Schema, error)
	replicas []string // the path of the scale subresource's number of replicas, if there is one
	known    *known
}

// compiled caches compiled versions by the first byte of their definition,
// whose bytes never move.
var compiled sync.Map // of compiledKey to func() (*Schema, error)

type compiledKey struct {
	definition *byte
	version    string
}

// Compiled is [Load] for a definition whose bytes never change, which it compiles
// once.
func Compiled(text []byte, version string) (*Schema, error) {
	if len(text) == 0 {
		return nil, errors.New("there is no CustomResourceDefinition")
	}
	key := compiledKey{&text[0], version}
	load, found := compiled.Load(key)
	if !found {
		load, _ = compiled.LoadOrStore(key, sync.OnceValues(func() (*Schema, error) { return Load(text, version) }))
	}
	return load.(func() (*Schema, error))()
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
		s.known.status = false
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
	known, err := newKnown(schema)
	if err != nil {
		return nil, err
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	return &Schema{structural: structural, validator: validator, rules: rules, known: known}, nil
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
// has its defaults and no unknown fields, or nothing. Transition rules (with
// oldSelf) are skipped. The errors quote values; [Brief] leaves them out.
// An object with more than [maxValues] values is refused for that alone.
func (s *Schema) Validate(ctx context.Context, object map[string]any) field.ErrorList {
	return s.validate(ctx, object, nil, validateName(object))
}

// validate adds validation errors of an object, or of an edit of the old one,
// to errs. As in the API server, errors in unchanged fields of an edit are
// ignored.
func (s *Schema) validate(ctx context.Context, object, old map[string]any, errs field.ErrorList) field.ErrorList {
	key := s.known.key(object, old)
	if _, valid := s.known.valid.Get(key); valid {
		return errs
	}
	before := len(errs)
	if errs = s.unsorted(ctx, object, old, errs); len(errs) == before && ctx.Err() == nil {
		s.known.add(key, object, old)
	}
	// The API server visits fields in the random order of a map. Here the same
	// object always gets the same message.
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		return cmp.Compare(strings.TrimPrefix(a.Field, "."), strings.TrimPrefix(b.Field, "."))
	})
	return errs
}

// unsorted is [Schema.validate] without sorting the errors.
func (s *Schema) unsorted(ctx context.Context, object, old map[string]any, errs field.ErrorList) field.ErrorList {
	if countValues(object, maxValues) > maxValues {
		return append(errs, &field.Error{Type: field.ErrorTypeTooMany, Field: WholeObject, Detail: fmt.Sprintf("must have at most %d values", maxValues)})
	}
	if old != nil && s.isValidByItself(ctx, object, old) {
		return errs
	}
	var changes changes
	if old == nil {
		errs = append(errs, schemavalidation.ValidateCustomResource(nil, object, s.validator)...)
	} else {
		changes = s.changesOf(object, old)
		errs = append(errs, schemavalidation.ValidateCustomResourceUpdate(nil, object, old, s.validator, changes.schema...)...)
	}
	errs = append(errs, s.validateReplicas(object)...)
	errs = append(errs, objectmeta.Validate(nil, object, s.structural, false)...)
	if old == nil || len(listtype.ValidateListSetsAndMaps(nil, s.structural, old)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	}
	if s.rules == nil || blocksRules(errs) {
		return errs
	}
	var before any // an untyped nil, not a nil map
	if old != nil {
		before = old
	}
	broken, _ := s.rules.Validate(ctx, nil, s.structural, object, before, celconfig.RuntimeCELCostBudget, changes.rules...)
	return append(errs, broken...)
}

// isValidByItself reports whether an edit of an old object is valid whatever has changed, which
// is simpler to find out: only rules that read the old object are left then.
func (s *Schema) isValidByItself(ctx context.Context, object, old map[string]any) bool {
	key := s.known.content(object, true)
	if _, valid := s.known.valid.Get(key); !valid {
		if len(s.unsorted(ctx, object, nil, nil)) > 0 || ctx.Err() != nil {
			return false
		}
		s.known.valid.Add(key, nil)
	}
	if !s.known.reads {
		return true
	}
	broken, _ := s.rules.Validate(ctx, nil, s.structural, object, old, celconfig.RuntimeCELCostBudget)
	return len(broken) == 0
}

// maxValues is how many values an object may have. The validator compares each error with every
// other, and cannot be canceled: 10,000 wrong numbers take some 3 s, and 100,000 a quarter of an hour.
const maxValues = 20_000

// countValues returns how many values there are in a value, and stops above the most.
func countValues(value any, most int) int {
	count := 1
	switch value := value.(type) {
	case map[string]any:
		for _, inner := range value {
			if count += countValues(inner, most-count); count > most {
				return count
			}
		}
	case []any:
		for _, inner := range value {
			if count += countValues(inner, most-count); count > most {
				return count
			}
		}
	}
	return count
}

// blocksRules reports whether an object is so wrong that rules may be slow or
// never end. The API server does not run them then.
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

// validateReplicas limits the field of the scale subresource to its type. Its
// path begins with a dot, as in the API server.
func (s *Schema) validateReplicas(object map[string]any) field.ErrorList {
	if s.replicas == nil {
		return nil
	}
	path := field.NewPath("." + strings.Join(s.replicas, "."))
	replicas, _, err := unstructured.NestedInt64(object, s.replicas...)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(path, replicas, err.Error())}
	case replicas < 0:
		return field.ErrorList{field.Invalid(path, replicas, "should be a non-negative integer")}
	case replicas > math.MaxInt32:
		return field.ErrorList{field.Invalid(path, replicas, fmt.Sprintf("should be less than or equal to %d", math.MaxInt32))}
	}
	return nil
}
