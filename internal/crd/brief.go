package crd

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/operetta-dev/operetta/internal/printable"
)

const (
	// mostErrors is how many errors are in one line.
	mostErrors = 3
	// maxPath and maxDetail limit each of them, in bytes: paths contain keys of
	// maps, which users choose.
	maxPath   = 150
	maxDetail = 300
)

// WholeObject is the path of an error about the object itself, from a rule
// above spec and metadata. The API server writes <nil>, which tells nobody anything.
const WholeObject = "the object"

// named gives errors about the object itself a path that can be read.
func named(errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		if err.Field == noPath {
			err.Field, err.BadValue = WholeObject, field.OmitValueType{}
		}
	}
	return errs
}

// noPath is how the API server writes the path of the object itself.
var noPath = (*field.Path)(nil).String()

// Brief returns errors as one line for an event: the paths and what to write
// there, without the values that the API server quotes, which may be misplaced
// secrets. The order of the errors does not matter.
func Brief(errs field.ErrorList) string {
	told := make([]string, len(errs))
	for i, err := range errs {
		told[i] = printable.Line(detail(err), maxDetail)
		if err.Field != WholeObject {
			told[i] = printable.Line(strings.TrimPrefix(err.Field, "."), maxPath) + ": " + told[i]
		}
	}
	slices.Sort(told)
	told = slices.Compact(told)
	if len(told) > mostErrors {
		return strings.Join(told[:mostErrors], "; ") + fmt.Sprintf("; and %d more", len(told)-mostErrors)
	}
	return strings.Join(told, "; ")
}

// detail returns what an error asks for, without the value.
func detail(err *field.Error) string {
	text := err.Detail
	// What a schema validator says begins with the path, which stands there
	// already, and a wrong type ends with the value.
	if _, rest, found := strings.Cut(text, " in body "); found {
		text = rest
	}
	if strings.Contains(text, " accessor error: ") { // which quotes the value
		return "must be of type integer"
	}
	switch err.Type {
	case field.ErrorTypeRequired:
		return "is missing: write it"
	case field.ErrorTypeDuplicate:
		return "stands twice: write each once"
	case field.ErrorTypeTypeInvalid:
		text, _, _ = strings.Cut(text, ": ")
		text, _, _ = strings.Cut(text, ", because")
	case field.ErrorTypeNotSupported:
		return "must be one of the " + text
	default: // the text alone says it
	}
	if text == "" {
		return strings.ToLower(err.Type.String())
	}
	return text
}
