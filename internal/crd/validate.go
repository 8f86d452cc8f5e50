package crd

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Validate returns why the API server would refuse to create an object, which
// has its defaults and no unknown fields, or nothing. Transition rules (with
// oldSelf) are skipped. The errors quote values; [Brief] leaves them out.
// An object with more than [maxValues] values is refused for that alone.
func (s *Schema) Validate(ctx context.Context, object map[string]any) field.ErrorList {
	return named(s.validate(ctx, object, nil, validateName(object)))
}

// validate adds validation errors of an object, or of an edit of the old one,
// to errs. As in the API server, errors in unchanged fields of an edit are
// ignored.
func (s *Schema) validate(ctx context.Context, object, old map[string]any, errs field.ErrorList) field.ErrorList {
	key, isValid := s.known.find(object, old)
	if isValid {
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
	if old != nil && s.known.valid != nil && s.isValidByItself(ctx, object, old) {
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

// Replicas returns the path of the scale subresource's number of replicas, or nil.
func (s *Schema) Replicas() []string { return s.replicas }

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
