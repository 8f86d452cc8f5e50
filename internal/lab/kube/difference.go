package kube

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/internal/applied"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Difference is a field in which two objects differ.
type Difference struct {
	// Path is as in spec.template.spec.containers[web].image.
	Path string
	// Before and After are its values, nil where there is none, or [Hidden].
	Before, After any
}

// String returns the difference in one line, as in "spec.replicas: 3 -> 4".
func (d Difference) String() string {
	was, is := d.Short()
	return d.Path + ": " + was + " -> " + is
}

// Short returns both values as [Shorten] does.
func (d Difference) Short() (was, is string) { return Shorten(d.Before, d.After) }

// Comparison is how values are compared. The zero value compares all of them.
type Comparison struct {
	// Ignored are paths that are not compared, which may have [] for any item of a list.
	Ignored []string
	// Each tells each field of a map or list that comes or goes, and not the whole.
	Each bool
}

// Objects returns in what two objects differ, but for their status and the metadata that changes with
// every write, in the order of the paths. It has no values of Secrets.
func (c Comparison) Objects(before, after Object) []Difference {
	w := walk{Comparison: c, isSecret: RefOf(after).Is(metacontroller.Secret)}
	w.compare(nil, visible(before), visible(after))
	return w.list
}

// Status returns in what the statuses of two objects differ.
func (c Comparison) Status(before, after Object) []Difference {
	w := walk{Comparison: c}
	w.compare([]string{"status"}, before.Object["status"], after.Object["status"])
	return w.list
}

// longestPath is how long a path is from which on a difference is told as a whole: there may be
// thousands of levels.
const longestPath = 300

type walk struct {
	Comparison

	isSecret bool
	list     []Difference
}

func (w *walk) compare(path []string, before, after any) {
	if Equal(before, after) || w.isIgnored(path) {
		return
	}
	if len(join(path)) < longestPath {
		if was, is, ok := w.bothMaps(before, after); ok {
			for _, key := range keysOf(was, is) {
				w.compare(append(slices.Clip(path), key), was[key], is[key])
			}
			return
		}
		if was, is, ok := w.bothKeyed(before, after); ok {
			for _, key := range keysOf(was, is) {
				w.compare(append(slices.Clip(path), "["+key+"]"), was[key], is[key])
			}
			return
		}
	}
	if w.isSecret && isSecretValue(path) {
		before, after = hide(before), hide(after)
	}
	w.list = append(w.list, Difference{join(path), before, after})
}

func (w *walk) bothMaps(before, after any) (was, is map[string]any, ok bool) {
	was, isMap := before.(map[string]any)
	is, alsoMap := after.(map[string]any)
	return was, is, w.both(isMap, alsoMap, before, after) && len(was)+len(is) > 0
}

// bothKeyed returns two lists by the members that tell their items apart.
func (w *walk) bothKeyed(before, after any) (was, is map[string]any, ok bool) {
	old, isList := before.([]any)
	now, alsoList := after.([]any)
	if !w.both(isList, alsoList, before, after) {
		return nil, nil, false
	}
	key := listKey(old, now)
	if key == "" {
		return nil, nil, false
	}
	return itemsBy(key, old), itemsBy(key, now), true
}

// both reports whether two values are of one sort, or one of them is and the other missing.
func (w *walk) both(is, also bool, before, after any) bool {
	return is && also || w.Each && (is || before == nil) && (also || after == nil)
}

// listKey returns the member by which the items of two lists are told apart, or "" where they are
// compared as a whole.
func listKey(old, now []any) string {
	if len(old)+len(now) == 0 {
		return ""
	}
	if applied.IsKey("type", old) && applied.IsKey("type", now) {
		return "type"
	}
	return applied.MergeKey(old, now)
}

func itemsBy(key string, list []any) map[string]any {
	items := make(map[string]any, len(list))
	for _, item := range list {
		items[fmt.Sprint(item.(map[string]any)[key])] = item
	}
	return items
}

func keysOf(a, b map[string]any) []string {
	all := make(map[string]any, len(a)+len(b))
	maps.Copy(all, a)
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

func (w *walk) isIgnored(path []string) bool {
	if len(path) == 0 || len(w.Ignored) == 0 {
		return false
	}
	anyItem := slices.Clone(path)
	for i, name := range anyItem {
		if strings.HasPrefix(name, "[") {
			anyItem[i] = "[]"
		}
	}
	return slices.Contains(w.Ignored, join(path)) || slices.Contains(w.Ignored, join(anyItem))
}

func whole(value any) string {
	if value == nil {
		return "(none)"
	}
	if s, ok := value.(string); ok && s != "" && !strings.ContainsAny(s, " \n\t") {
		return s
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// Shorten returns two values in one short line each: what is around the first difference.
func Shorten(before, after any) (was, is string) {
	const most, context = 60, 20
	old, now := []rune(whole(before)), []rune(whole(after))
	same := 0
	for same < min(len(old), len(now)) && old[same] == now[same] {
		same++
	}
	cut := func(text []rune) string {
		if len(text) <= most {
			return string(text)
		}
		from := max(0, min(same-context, len(text)-most))
		to := min(len(text), from+most)
		middle := string(text[from:to])
		if from > 0 {
			middle = "…" + middle
		}
		if to < len(text) {
			middle += "…"
		}
		return middle
	}
	return cut(old), cut(now)
}
