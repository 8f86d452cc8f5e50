package metacontroller

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/operetta-dev/operetta/internal/rawjson"
	"github.com/operetta-dev/operetta/internal/wire"
)

// HashAnnotation is on every child and holds a hash of its desired form. While
// an observed child carries another hash than the desired one, the newest spec
// has not reached it yet, however healthy it is.
const HashAnnotation = "operetta.dev/hash"

// noHash is what the annotation holds while the hash is computed.
const noHash = "0000000000000000"

// Hash returns a hash of an object's wire form without its [HashAnnotation]:
// 16 hexadecimal digits, the same for equal content in every process. The
// object is hashed as it is, with or without apiVersion and kind: hooks put
// hashes into labels, so a change of this function would replace Pods. An error
// means that the object cannot be encoded as JSON.
func Hash(object Object) (string, error) {
	if annotations := object.GetAnnotations(); annotations[HashAnnotation] != "" {
		bare := maps.Clone(annotations)
		delete(bare, HashAnnotation)
		object.SetAnnotations(bare)
		defer object.SetAnnotations(annotations)
	}
	wire, err := wire.AppendObject(make([]byte, 0, 2048), object)
	return hashOf(wire), err
}

func hashOf(wire []byte) string {
	sum := sha256.Sum256(wire)
	return hex.EncodeToString(sum[:len(noHash)/2])
}

// Stamp puts a hash of an object into its [HashAnnotation]. Every child of an
// answer is stamped, unless it already is: a hook that sets a field which
// another controller owns (a number of replicas that is copied from the
// observed object) stamps the child first and sets the field then. A missing
// apiVersion and kind are filled in first if the Go type tells them. The error
// is that of [Hash].
func Stamp(object Object) error {
	complete(object)
	_, _, err := encode(make([]byte, 0, 2048), object)
	return err
}

// encodedChild is a desired child in its wire form, with the hash that it carries.
type encodedChild struct {
	wire []byte
	hash string
}

// encode appends the wire form of a child to a buffer, and stamps the child unless it is. The hash is
// of this wire form, with zeros in the place of the hash: so it is written once.
func encode(b []byte, object Object) ([]byte, encodedChild, error) {
	if _, ok := object.(*kept); ok {
		return b, encodedChild{}, nil
	}
	hash := object.GetAnnotations()[HashAnnotation]
	isStamped := hash != ""
	if !isStamped {
		annotate(object, noHash)
	}
	start := len(b)
	b, err := wire.AppendObject(b, object)
	if err != nil {
		return b[:start], encodedChild{}, err
	}
	wire := b[start:len(b):len(b)]
	if !isStamped {
		hash = hashOf(wire)
		annotate(object, hash)
		copy(rawjson.Lookup(wire, "metadata", "annotations", HashAnnotation)[1:], hash) // behind the quotation mark
	}
	return b, encodedChild{wire, hash}, nil
}

// annotate sets the hash of an object, whose annotations may be shared.
func annotate(object Object, hash string) {
	annotations := make(map[string]string, len(object.GetAnnotations())+1)
	maps.Copy(annotations, object.GetAnnotations())
	annotations[HashAnnotation] = hash
	object.SetAnnotations(annotations)
}
