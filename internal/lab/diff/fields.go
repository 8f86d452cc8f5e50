package diff

import (
	"maps"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Hidden stands for a value of a Secret.
const Hidden = player.Hidden

// Field is a field in which an object differs.
type Field struct {
	// Path is as in spec.template.spec.containers[web].image.
	Path string `json:"path"`
	// Before and After are its values, nil where there is none, or Hidden.
	Before any `json:"before,omitempty"`
	After  any `json:"after,omitempty"`
	// Drift is set where the base has the same difference.
	Drift bool `json:"drift,omitempty"`
}

// maxDepth is how deep values are compared field by field: there may be thousands of levels.
const maxDepth = 64

// comparison collects fields.
type comparison struct {
	ignored  []string
	isSecret bool
	fields   []Field
}

// fieldsOf returns in what two objects differ, but for their status, and for paths that are ignored.
func fieldsOf(before, after apiserver.Object, ignored []string) []Field {
	c := comparison{ignored: ignored, isSecret: apiserver.RefOf(after).Is(metacontroller.Secret)}
	c.compare(nil, player.Visible(before), player.Visible(after))
	return c.fields
}

// statusFields returns in what two statuses differ, but for times and for the generation, which
// Metacontroller writes.
func statusFields(before, after apiserver.Object, ignored []string) []Field {
	c := comparison{ignored: ignored}
	c.compare([]string{"status"}, before.Object["status"], after.Object["status"])
	return slices.DeleteFunc(c.fields, func(f Field) bool {
		return f.Path == "status.observedGeneration" || strings.HasPrefix(f.Path, "status.conditions[") &&
			(strings.HasSuffix(f.Path, "].lastTransitionTime") || strings.HasSuffix(f.Path, "].observedGeneration"))
	})
}

func (c *comparison) compare(path []string, before, after any) {
	if apiserver.Equal(before, after) || isIgnored(path, c.ignored) {
		return
	}
	if len(path) < maxDepth {
		if was, is, ok := bothMaps(before, after); ok {
			for _, key := range keysOf(was, is) {
				c.compare(append(slices.Clip(path), key), was[key], is[key])
			}
			return
		}
		if was, is, ok := bothKeyed(before, after); ok {
			for _, key := range keysOf(was, is) {
				c.compare(append(slices.Clip(path), "["+key+"]"), was[key], is[key])
			}
			return
		}
	}
	if c.isSecret && len(path) > 0 && !slices.Contains([]string{"type", "immutable"}, path[0]) && !isName(path) {
		before, after = hide(before), hide(after)
	}
	c.fields = append(c.fields, Field{Path: join(path), Before: before, After: after})
}

// isName reports whether a field of metadata says nothing secret: all but annotations.
func isName(path []string) bool {
	return path[0] == "metadata" && len(path) > 1 && path[1] != "annotations"
}

func hide(value any) any {
	if value == nil {
		return nil
	}
	return Hidden
}

// bothMaps returns two values as maps, if neither is anything else: of a map that comes or goes each
// field is told.
func bothMaps(before, after any) (was, is map[string]any, ok bool) {
	was, isMap := before.(map[string]any)
	is, alsoMap := after.(map[string]any)
	return was, is, (isMap || before == nil) && (alsoMap || after == nil) && len(was)+len(is) > 0
}

// bothKeyed returns two lists by the names of their items.
func bothKeyed(before, after any) (was, is map[string]any, ok bool) {
	old, isList := before.([]any)
	now, alsoList := after.([]any)
	if !isList && before != nil || !alsoList && after != nil {
		return nil, nil, false
	}
	key := player.ListKey(old, now)
	if key == "" {
		return nil, nil, false
	}
	return composite.ItemsByKey(key, old), composite.ItemsByKey(key, now), true
}

func keysOf(a, b map[string]any) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// join returns a path in one text.
func join(path []string) string {
	var b strings.Builder
	for _, name := range path {
		if b.Len() > 0 && !strings.HasPrefix(name, "[") {
			b.WriteByte('.')
		}
		b.WriteString(name)
	}
	return b.String()
}

// isIgnored reports whether a path is one of those that are ignored, which may have [] for any item.
func isIgnored(path, ignored []string) bool {
	if len(path) == 0 || len(ignored) == 0 {
		return false
	}
	anyItem := slices.Clone(path)
	for i, name := range anyItem {
		if strings.HasPrefix(name, "[") {
			anyItem[i] = "[]"
		}
	}
	return slices.Contains(ignored, join(path)) || slices.Contains(ignored, join(anyItem))
}
