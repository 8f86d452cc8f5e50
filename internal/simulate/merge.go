package simulate

import "fmt"

// mergeKeys are the members by which Metacontroller's dynamic apply guesses
// that a list is a map in disguise, in the order of their precedence.
var mergeKeys = []string{"containerPort", "port", "mountPath", "name", "uid", "ip", "path"}

// merge applies what is desired to what is live, as Metacontroller's dynamic
// apply does: what was applied before and is desired no more goes, what others
// added stays. The live value may be changed.
func merge(live, applied, desired any) any {
	switch live := live.(type) {
	case map[string]any:
		desiredMap, _ := desired.(map[string]any)
		appliedMap, _ := applied.(map[string]any)
		return mergeMap(live, appliedMap, desiredMap)
	case []any:
		desiredList, _ := desired.([]any)
		appliedList, _ := applied.([]any)
		if key := mergeKey(live, appliedList, desiredList); key != "" {
			return mergeList(key, live, appliedList, desiredList)
		}
		return desiredList
	default:
		return desired
	}
}

func mergeMap(live, applied, desired map[string]any) map[string]any {
	for name := range applied {
		if _, still := desired[name]; !still {
			delete(live, name)
		}
	}
	for name, value := range desired {
		live[name] = merge(live[name], applied[name], value)
	}
	return live
}

// mergeList merges entries of the same key, which makes two entries of one key
// into one. Live entries keep their order, new ones follow.
func mergeList(key string, live, applied, desired []any) []any {
	merged := mergeMap(byKey(key, live), byKey(key, applied), byKey(key, desired))
	list := make([]any, 0, len(merged))
	for _, entries := range [][]any{live, desired} {
		for _, entry := range entries {
			name := fmt.Sprint(entry.(map[string]any)[key])
			if value, left := merged[name]; left {
				list = append(list, value)
				delete(merged, name)
			}
		}
	}
	return list
}

func byKey(key string, list []any) map[string]any {
	entries := make(map[string]any, len(list))
	for _, entry := range list {
		entries[fmt.Sprint(entry.(map[string]any)[key])] = entry
	}
	return entries
}

// mergeKey returns the first of the mergeKeys that every entry has, or nothing.
func mergeKey(lists ...[]any) string {
	for _, key := range mergeKeys {
		entries, having := 0, 0
		for _, list := range lists {
			for _, entry := range list {
				entries++
				if object, ok := entry.(map[string]any); ok {
					if _, has := object[key]; has {
						having++
					}
				}
			}
		}
		if entries > 0 && having == entries {
			return key
		}
	}
	return ""
}
