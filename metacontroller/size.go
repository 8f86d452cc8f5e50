package metacontroller

import (
	"github.com/operetta-dev/operetta/internal/rawjson"
	"github.com/operetta-dev/operetta/internal/wire"
)

// MaxAppliedBytes is the limit of [AppliedSize]. The API server stores 256 KiB
// of annotations: the rest is for the namespace and the label that
// Metacontroller adds to the copy, and for the annotations of others.
const MaxAppliedBytes = 250 << 10

// AppliedSize returns how many bytes of annotations a child has once
// Metacontroller has applied it under dynamic-apply: its own, and a copy of the
// whole child in another. An error means that it cannot be encoded as JSON.
func AppliedSize(object Object) (int, error) {
	wire, err := wire.AppendObject(make([]byte, 0, 2048), object)
	if err != nil {
		return 0, err
	}
	return appliedSize(wire), nil
}

// appliedSize is [AppliedSize] of a wire form.
func appliedSize(wire []byte) int {
	size := len(wire) // with "<", ">" and "&" escaped, as Metacontroller writes them
	rawjson.Members(rawjson.Lookup(wire, "metadata", "annotations"), func(key, value []byte) bool {
		annotation, _ := rawjson.Text(value)
		size += len(key) + len(annotation)
		return true
	})
	return size
}
