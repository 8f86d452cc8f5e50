package crd

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// mostErrors is how many errors one line tells.
	mostErrors = 3
	// maxPathRunes and maxDetailRunes bound what one of them says: keys of maps
	// are part of a path, and a user's to choose.
	maxPathRunes   = 150
	maxDetailRunes = 300
)

// WholeObject is the path of an error about the object itself: of a rule that
// stands above spec and metadata.
var WholeObject = (*field.Path)(nil).String()

// Brief returns errors as one line that is fit for an event: the paths and what
// to write there, without the values that the API server quotes, for one may be
// a secret that stands in the wrong place. The same errors in another order
// make the same line.
func Brief(errs field.ErrorList) string {
	told := make([]string, len(errs))
	for i, err := range errs {
		told[i] = cut(detail(err), maxDetailRunes)
		if err.Field != WholeObject {
			told[i] = cut(strings.TrimPrefix(err.Field, "."), maxPathRunes) + ": " + told[i]
		}
	}
	slices.Sort(told)
	told = slices.Compact(told)
	if len(told) > maxErrors {
		return strings.Join(told[:mostErrors], "; ") + "; and many more"
	}
	if len(told) > mostErrors {
		return strings.Join(told[:mostErrors], "; ") + fmt.Sprintf("; and %d more", len(told)-mostErrors)
	}
	return strings.Join(told, "; ")
}

// detail returns what an error asks for instead of the value.
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

// cut makes a text short and printable.
func cut(text string, most int) string {
	var b strings.Builder
	for i, r := range []rune(text[:min(len(text), 4*most)]) {
		if i == most {
			b.WriteString("...")
			break
		}
		if !unicode.IsPrint(r) {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}
