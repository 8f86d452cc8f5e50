package crd

import (
	"hash/maphash"
	"maps"
	"time"

	"k8s.io/utils/lru"
)

// knownValid is how many valid objects a [Schema] remembers.
const knownValid = 8192

// Remembering returns a copy of the schema that remembers which objects it has found valid, the same
// one each time: simulations ask about the same few again and again. A server, which asks once for
// each generation, has no use for that.
func (s *Schema) Remembering() *Schema { return s.remembering() }

func (s *Schema) copyThatRemembers() *Schema {
	remembering := *s
	remembering.known.valid = lru.New(knownValid)
	if s.status != nil {
		remembering.status = func() (*Schema, error) {
			only, err := s.status()
			if err != nil {
				return nil, err
			}
			return only.Remembering(), nil
		}
	}
	return &remembering
}

// known are objects that have been found valid, by a hash of their content.
type known struct {
	valid *lru.Cache // nil where none are remembered
	// reads is set where a rule reads the old object: it is a part of the question then.
	reads bool
	// times is set for a status that no rule reads: one time is as valid there as another.
	times bool
	// withoutStatus is set where no rule of the object reads its status.
	withoutStatus bool
}

// find returns what stands for an object, or for the edit of an old one, and whether that
// was found valid.
func (k *known) find(object, old map[string]any) (key uint64, isValid bool) {
	if k.valid == nil {
		return 0, false
	}
	key = k.key(object, old)
	_, isValid = k.valid.Get(key)
	return key, isValid
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
	if k.valid == nil {
		return
	}
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
	if isEdit && k.withoutStatus {
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
			sum += mix(mix(maphash.String(hashSeed, name)) + k.hash(member))
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
		return maphash.String(hashSeed, value) + 17
	default:
		return mix(maphash.Comparable(hashSeed, value) + 19)
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
