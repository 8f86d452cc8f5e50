package composite

import "fmt"

// mergeKeys are the members by which Metacontroller recognizes lists that are
// maps. The first one that all items have is the key.
var mergeKeys = []string{"containerPort", "port", "mountPath", "name", "uid", "ip", "path"}

func mergeValue(live, last, desired any) any {
	switch live := live.(type) {
	case map[string]any:
		last, _ := last.(map[string]any)
		desired, _ := desired.(map[string]any)
		MergeObject(live, last, desired)
		return live
	case []any:
		last, _ := last.([]any)
		desired, _ := desired.([]any)
		return mergeList(live, last, desired)
	default:
		return desired
	}
}

// MergeObject applies the difference between the last applied and the desired
// object to the live one. Fields in neither are left alone. It is untyped: if a
// desired value is not of the live one's type, the live one loses its fields as
// if nothing were desired.
func MergeObject(live, last, desired map[string]any) {
	for key := range last {
		if _, wanted := desired[key]; !wanted {
			delete(live, key)
		}
	}
	for key, value := range desired {
		live[key] = mergeValue(live[key], last[key], value)
	}
}

// mergeList merges lists that look like maps item by item, in the live order,
// and replaces all others.
func mergeList(live, last, desired []any) any {
	key := MergeKey(live, last, desired)
	if key == "" {
		return desired
	}
	items := ItemsByKey(key, live)
	MergeObject(items, ItemsByKey(key, last), ItemsByKey(key, desired))
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
	return merged
}

// MergeKey returns the member by which Metacontroller matches the items of
// lists, or "".
func MergeKey(lists ...[]any) string {
	for _, key := range mergeKeys {
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

// ItemsByKey returns the items of a list by their keys. Of two items with one
// key the later wins, so that a Service's TCP and UDP port of the same number
// become one.
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
