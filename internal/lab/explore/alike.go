package explore

import (
	"regexp"
	"strings"
)

// cause returns what is the same in all violations of one cause, as far as that shows.
func (v Violation) cause() Violation { return Violation{Law: v.Law, about: v.about} }

// varying are quoted texts, the names of objects, and words with a digit.
var varying = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|/[\w./-]+|[\w.-]*\d[\w.-]*`)

// wording returns a text without what is another each time.
func wording(text string) string { return varying.ReplaceAllString(text, "…") }

// about returns what the first of some differences is about. Others come and go with the spec.
func about(list []unlike) string {
	allowed := list[0].allowed
	if len(allowed.Fields) > 0 {
		names := strings.Split(allowed.Fields[0], ".")
		allowed.Fields = []string{strings.Join(names[:min(2, len(names))], ".")} // spec.template says enough
	}
	return literal(allowed)
}
