package composite

import (
	"fmt"
	"maps"

	"github.com/operetta-dev/operetta/internal/applied"
	"github.com/operetta-dev/operetta/internal/lab/kube"
)

// mergeValue returns a merged value, and whether it is another one than the live one.
func mergeValue(live, last, desired any) (any, bool) {
	switch live := live.(type) {
	case map[string]any:
		last, _ := last.(map[string]any)
		desired, _ := desired.(map[string]any)
		return MergeObject(live, last, desired)
	case []any:
		last, _ := last.([]any)
		desired, _ := desired.([]any)
		return mergeList(live, last, desired)
	default:
		return desired, !kube.Equal(live, desired)
	}
}

// MergeObject applies the difference between the last applied and the desired object to the live
// one, which is not modified. Fields in neither are left alone. It is untyped: if a desired value
// is not of the live one's type, the live one loses its fields as if nothing were desired.
func MergeObject(live, last, desired map[string]any) (merged map[string]any, changed bool) {
	merged = live
	change := func() {
		if !changed {
			merged, changed = maps.Clone(live), true
		}
	}
	for key := range last {
		if _, wanted := desired[key]; wanted {
			continue
		}
		if _, found := live[key]; found {
			change()
			delete(merged, key)
		}
	}
	for key, value := range desired {
		_, found := live[key]
		value, differs := mergeValue(live[key], last[key], value)
		if differs || !found {
			change()
			merged[key] = value
		}
	}
	return merged, changed
}

// mergeList merges lists that look like maps item by item, in the live order,
// and replaces all others.
func mergeList(live, last, desired []any) (any, bool) {
	key := MergeKey(live, last, desired)
	if key == "" {
		return desired, !kube.Equal(live, desired)
	}
	items, changed := MergeObject(ItemsByKey(key, live), ItemsByKey(key, last), ItemsByKey(key, desired))
	if !changed && len(items) == len(live) {
		return live, false
	}
	merged := make([]any, 0, len(items))
	taken := map[string]bool{}
	for _, item := range live {
		name := keyOf(key, item)
		if _, stays := items[name]; stays {
			merged = append(merged, items[name])
			taken[name] = true
		}
	}
	for _, item := range desired {
		if name := keyOf(key, item); !taken[name] {
			merged = append(merged, items[name])
			taken[name] = true
		}
	}
	return merged, true
}

// MergeKey returns the member by which Metacontroller matches the items of lists, or "".
func MergeKey(lists ...[]any) string {
	for _, key := range applied.MergeKeys {
		common, count := true, 0
		for _, list := range lists {
			for _, item := range list {
				fields, isObject := item.(map[string]any)
				if !isObject {
					return ""
				}
				_, found := fields[key]
				common = common && found
				count++
			}
		}
		if common && count > 0 {
			return key
		}
	}
	return ""
}

// ItemsByKey returns the items of a list by their keys. Of two items with one key the later wins,
// so that a Service's TCP and UDP port of the same number become one.
func ItemsByKey(key string, list []any) map[string]any {
	items := make(map[string]any, len(list))
	for _, item := range list {
		items[keyOf(key, item)] = item
	}
	return items
}

func keyOf(key string, item any) string {
	value := item.(map[string]any)[key]
	if text, ok := value.(string); ok {
		return text
	}
	return fmt.Sprint(value)
}
