package applied

import (
	"reflect"
	"slices"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// MergeKeys are the names by which Metacontroller matches the items of a list,
// the first that all items have.
// https://github.com/metacontroller/metacontroller/blob/v4.17.2/pkg/dynamic/apply/apply.go
var MergeKeys = [...]string{"containerPort", "port", "mountPath", "name", "uid", "ip", "path"}

// MergeKey returns the first of [MergeKeys] that tells the items of both lists apart, or "".
func MergeKey(applied, observed []any) string {
	for _, key := range MergeKeys {
		if IsKey(key, applied) && IsKey(key, observed) {
			return key
		}
	}
	return ""
}

// IsKey reports whether all items of a list have a member of different texts or numbers.
func IsKey(key string, list []any) bool {
	seen := make(map[any]bool, len(list))
	for _, item := range list {
		value := scalar(item, key)
		if value == nil || seen[value] {
			return false
		}
		seen[value] = true
	}
	return true
}

// scalar returns the member of an object that is a string or a number, or nil.
func scalar(item any, name string) any {
	object, _ := item.(map[string]any)
	switch member := object[name].(type) {
	case string, int64, float64:
		return member
	default:
		return nil
	}
}

// place returns the index of the item that an element of a path names, or -1.
func place(kind, element string, list []any) int {
	var wanted any
	if rawjson.Decode([]byte(element), &wanted) != nil {
		return -1
	}
	switch wanted := wanted.(type) {
	case int64:
		if kind == "i" {
			return int(wanted)
		}
	case map[string]any:
		if kind == "k" {
			return slices.IndexFunc(list, func(item any) bool { return len(wanted) > 0 && hasKey(item, wanted) })
		}
	}
	if kind == "v" {
		return slices.IndexFunc(list, func(item any) bool { return reflect.DeepEqual(item, wanted) })
	}
	return -1
}

// hasKey reports whether an item has all members of a key.
func hasKey(item any, key map[string]any) bool {
	object, _ := item.(map[string]any)
	for name, value := range key {
		if member, found := object[name]; !found || !reflect.DeepEqual(member, value) {
			return false
		}
	}
	return true
}
