package apiserver

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// granularMaps are the members whose keys are owned one by one.
var granularMaps = []string{
	"annotations", "binaryData", "data", "labels", "limits", "matchLabels", "nodeSelector", "requests", "stringData",
}

// itemKeys returns the members that identify an item of a list, by the list's
// name. Without keys a list is owned as a whole.
func itemKeys(list string, items ...any) []string {
	switch list {
	case "containers", "initContainers", "ephemeralContainers", "volumes", "env", "imagePullSecrets", "resourceClaims", "secrets":
		return []string{"name"}
	case "volumeMounts":
		return []string{"mountPath"}
	case "volumeDevices":
		return []string{"devicePath"}
	case "ownerReferences":
		return []string{"uid"}
	case "hostAliases":
		return []string{"ip"}
	case "topologySpreadConstraints":
		return []string{"topologyKey", "whenUnsatisfiable"}
	case "ports":
		for _, item := range items {
			if fields, _ := item.(map[string]any); fields["containerPort"] != nil {
				return []string{"containerPort", "protocol"}
			}
		}
		return []string{"port", "protocol"}
	default:
		return nil
	}
}

// identity returns an item's keys and their values as JSON. A port without a
// protocol is a TCP port.
func identity(keys []string, item any) string {
	fields, _ := item.(map[string]any)
	id := map[string]any{}
	for _, key := range keys {
		id[key] = fields[key]
		if id[key] == nil && key == "protocol" {
			id[key] = "TCP"
		}
	}
	text, err := json.Marshal(id)
	if err != nil {
		return fmt.Sprint(id)
	}
	return string(text)
}

// applyObject changes live to the desired form. Owned is the part of the last
// desired form that nobody has changed since.
func applyObject(live, owned, desired map[string]any) {
	for key, value := range owned {
		if _, wanted := desired[key]; wanted {
			continue
		}
		if fields, isMap := live[key].(map[string]any); isMap && slices.Contains(granularMaps, key) {
			ours, _ := value.(map[string]any)
			applyObject(fields, ours, nil)
			if len(fields) > 0 {
				continue
			}
		}
		delete(live, key)
	}
	for key, value := range desired {
		live[key] = applyValue(key, live[key], owned[key], value)
	}
}

func applyValue(name string, live, owned, desired any) any {
	if fields, ok := desired.(map[string]any); ok {
		liveFields, _ := live.(map[string]any)
		if liveFields == nil {
			liveFields = map[string]any{}
		}
		ownedFields, _ := owned.(map[string]any)
		applyObject(liveFields, ownedFields, fields)
		return liveFields
	}
	items, isList := desired.([]any)
	liveItems, _ := live.([]any)
	keys := itemKeys(name, append(slices.Clone(items), liveItems...)...)
	if !isList || keys == nil {
		return runtime.DeepCopyJSONValue(desired)
	}
	ownedItems, _ := owned.([]any)
	return applyList(keys, liveItems, ownedItems, items)
}

// applyList merges items by their keys: first the live ones that stay, then the
// new ones.
func applyList(keys []string, live, owned, desired []any) []any {
	wanted, ours := byIdentity(keys, desired), byIdentity(keys, owned)
	merged := []any{}
	for _, item := range live {
		id := identity(keys, item)
		value, isWanted := wanted[id]
		_, isOurs := ours[id]
		switch {
		case isWanted:
			merged = append(merged, applyValue("", item, ours[id], value))
			delete(wanted, id)
		case !isOurs:
			merged = append(merged, item)
		}
	}
	for _, item := range desired {
		if _, isNew := wanted[identity(keys, item)]; isNew {
			merged = append(merged, runtime.DeepCopyJSONValue(item))
		}
	}
	return merged
}

func byIdentity(keys []string, items []any) map[string]any {
	index := map[string]any{}
	for _, item := range items {
		index[identity(keys, item)] = item
	}
	return index
}

// stillOwned returns the owned fields that a write of somebody else has not
// changed.
func stillOwned(name string, owned, before, after any) (any, bool) {
	switch owned := owned.(type) {
	case map[string]any:
		beforeFields, _ := before.(map[string]any)
		afterFields, _ := after.(map[string]any)
		left := map[string]any{}
		for key, value := range owned {
			if still, any := stillOwned(key, value, beforeFields[key], afterFields[key]); any {
				left[key] = still
			}
		}
		return left, len(left) > 0 || len(owned) == 0
	case []any:
		if keys := itemKeys(name, owned...); keys != nil {
			return stillOwnedItems(keys, owned, before, after)
		}
	}
	return owned, reflect.DeepEqual(before, after)
}

func stillOwnedItems(keys []string, owned []any, before, after any) (any, bool) {
	beforeItems, _ := before.([]any)
	afterItems, _ := after.([]any)
	old, now := byIdentity(keys, beforeItems), byIdentity(keys, afterItems)
	left := []any{}
	for _, item := range owned {
		id := identity(keys, item)
		if still, any := stillOwned("", item, old[id], now[id]); any {
			left = append(left, still)
		}
	}
	return left, len(left) > 0
}

// fieldsV1 returns the set of owned fields in the form of managedFields.
func fieldsV1(owned map[string]any) map[string]any {
	set := map[string]any{}
	for key, value := range owned {
		set["f:"+key] = fieldsV1OfValue(key, value)
	}
	return set
}

func fieldsV1OfValue(name string, value any) map[string]any {
	switch value := value.(type) {
	case map[string]any:
		return fieldsV1(value)
	case []any:
		set := map[string]any{}
		if keys := itemKeys(name, value...); keys != nil {
			for _, item := range value {
				fields, _ := item.(map[string]any)
				set["k:"+identity(keys, item)] = fieldsV1(fields)
			}
		}
		return set
	default:
		return map[string]any{}
	}
}
