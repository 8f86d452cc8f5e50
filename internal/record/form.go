package record

import (
	"regexp"
	"sync"
)

// form is a regular expression that is compiled when it is first used. To compile all of
// them, with their counted repetitions, takes 20 ms, which each command would spend at its start.
type form struct{ compiled func() *regexp.Regexp }

func newForm(text string) *form {
	return &form{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

func (f *form) MatchString(text string) bool { return f.compiled().MatchString(text) }

func (f *form) FindAllString(text string, n int) []string { return f.compiled().FindAllString(text, n) }
