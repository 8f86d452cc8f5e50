package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/operetta-dev/operetta/deploy"
	"github.com/operetta-dev/operetta/internal/crd"
)

// notYet stands behind the path of a field that we mean to have, and have not.
const notYet = " (not in the CRD yet)"

// admit asks the CRD, as operetta render does, what it does not know and what it refuses.
func (c *conversion) admit(ctx context.Context) error {
	kind := c.object["kind"].(string)
	schema, err := crd.Compiled(deploy.CRD(strings.ToLower(kind)), path.Base(c.object["apiVersion"].(string)))
	if err != nil {
		return err
	}
	unknown, errs := schema.Admit(ctx, runtime.DeepCopyJSON(c.object), nil)
	for _, path := range unknown {
		c.told = append(c.told, "lost: "+path+notYet)
	}
	for _, err := range errs {
		c.told = append(c.told, "refused: "+crd.Brief(field.ErrorList{err}))
	}
	return nil
}

// report is what fits, by the kinds of custom resources.
type report map[string]*tally

// tally counts sources. Of each thing that is lost or refused it keeps the sources.
type tally struct {
	read, whole, refused int
	told                 map[string][]string
}

var number = regexp.MustCompile(`\[\d+\]`)

func (r report) add(c *conversion) {
	kind := c.object["kind"].(string)
	if r[kind] == nil {
		r[kind] = &tally{told: map[string][]string{}}
	}
	t := r[kind]
	t.read++
	if len(c.told) == 0 {
		t.whole++
	}
	classes := map[string]bool{}
	for _, text := range c.told {
		classes[number.ReplaceAllString(text, "[]")] = true
	}
	if slices.ContainsFunc(c.told, func(text string) bool { return strings.HasPrefix(text, "refused") }) {
		t.refused++
	}
	for class := range classes {
		t.told[class] = append(t.told[class], c.source)
	}
}

func (r report) print(out io.Writer) {
	for _, kind := range slices.Sorted(maps.Keys(r)) {
		t := r[kind]
		fmt.Fprintf(out, "%s: %d read, %d fit whole, %d refused by the CRD\n", kind, t.read, t.whole, t.refused)
		for _, text := range slices.SortedFunc(maps.Keys(t.told), func(a, b string) int {
			return cmp.Or(cmp.Compare(len(t.told[b]), len(t.told[a])), cmp.Compare(a, b))
		}) {
			fmt.Fprintf(out, "%6d %s (%s)\n", len(t.told[text]), text, t.told[text][0])
		}
	}
}
