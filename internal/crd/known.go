package crd

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"maps"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/utils/lru"
)

// knownValid is how many valid objects a [Schema] remembers. A simulation asks about
// the same few again and again.
const knownValid = 8192

// known are objects that have been found valid, by their content.
type known struct {
	valid *lru.Cache
	// reads is set where a rule reads the old object: it is a part of the question then.
	reads bool
	// times is set for a status that no rule reads: one time is as valid there as another.
	times bool
	// status is unset where no rule of the object reads its status.
	status bool
}

func newKnown(schema *apiextensions.JSONSchemaProps) (*known, error) {
	text, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	return &known{valid: lru.New(knownValid), reads: bytes.Contains(text, []byte("oldSelf")), status: true}, nil
}

// key returns what stands for an object, and for the edit of an old one. What is valid
// by itself is a valid edit, too, unless a rule compares the two.
func (k *known) key(object, old map[string]any) uint64 {
	sum := k.content(object, old != nil)
	if old != nil && k.reads {
		sum = sum*31 + k.content(old, true) + 1
	}
	return sum
}

// add remembers a valid object, also as an edit.
func (k *known) add(key uint64, object, old map[string]any) {
	k.valid.Add(key, nil)
	if old == nil {
		k.valid.Add(k.content(object, true), nil)
	}
}

// content returns the hash of what is validated: rules see only the names in metadata.
func (k *known) content(object map[string]any, isEdit bool) uint64 {
	content := maps.Clone(object)
	if metadata, ok := object["metadata"].(map[string]any); ok {
		content["metadata"] = map[string]any{"name": metadata["name"], "generateName": metadata["generateName"]}
	}
	if isEdit && !k.status {
		delete(content, "status") // it was validated when it was written
	}
	return k.hash(content)
}

var hashSeed = maphash.MakeSeed()

// hash returns a hash of a JSON value that does not depend on the order of members.
func (k *known) hash(value any) uint64 {
	switch value := value.(type) {
	case map[string]any:
		sum := uint64(len(value)) + 7
		for name, member := range value {
			sum += mix(maphash.String(hashSeed, name) ^ k.hash(member))
		}
		return mix(sum)
	case []any:
		sum := uint64(len(value)) + 11
		for _, item := range value {
			sum = mix(sum*31 + k.hash(item))
		}
		return sum
	case string:
		if k.times && isTime(value) {
			return 13
		}
		return maphash.String(hashSeed, value)
	default:
		return maphash.Comparable(hashSeed, value)
	}
}

// mix spreads the bits of a number.
func mix(n uint64) uint64 {
	n = (n ^ n>>32) * 0x9e3779b97f4a7c15
	return n ^ n>>29
}

func isTime(text string) bool {
	if len(text) != len("2006-01-02T15:04:05Z") || text[10] != 'T' {
		return false
	}
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}
