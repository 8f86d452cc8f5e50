package metacontroller

import (
	"crypto/sha256"
	"encoding/hex"
)

// HashAnnotation is on every child and holds a hash of its desired form. While
// an observed child carries another hash than the desired one, the newest spec
// has not reached it yet, however healthy it is.
const HashAnnotation = "operetta.dev/hash"

// Hash returns the hash of an object's wire form without its [HashAnnotation]:
// 16 hexadecimal digits, the same for equal content in every process. The
// object is hashed as it is, with or without apiVersion and kind: hooks put
// hashes into labels, so a change of this function would replace Pods. An error
// means that the object cannot be encoded as JSON.
func Hash(object Object) (string, error) {
	hash, _, err := hashed(object)
	return hash, err
}

// hashed returns the hash of an object and its wire form, of which it is the hash.
func hashed(object Object) (hash string, wire []byte, err error) {
	if annotations := object.GetAnnotations(); annotations[HashAnnotation] != "" {
		bare := make(map[string]string, len(annotations))
		for key, value := range annotations {
			if key != HashAnnotation {
				bare[key] = value
			}
		}
		object.SetAnnotations(bare)
		defer object.SetAnnotations(annotations)
	}
	wire, err = appendObject(make([]byte, 0, 2048), object)
	if err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(wire)
	return hex.EncodeToString(sum[:8]), wire, nil
}

// Stamp puts the hash of an object into its [HashAnnotation]. Every child of an
// answer is stamped, unless it already is: a hook that sets a field which
// another controller owns (a number of replicas that is copied from the
// observed object) stamps the child first and sets the field then. A missing
// apiVersion and kind are filled in first if the Go type tells them. The error
// is that of [Hash].
func Stamp(object Object) error {
	complete(object)
	_, err := stamp(object)
	return err
}

// stamp is Stamp, and returns the wire form of the object without its hash.
func stamp(object Object) (wire []byte, err error) {
	if _, ok := object.(*kept); ok {
		return nil, nil
	}
	hash, wire, err := hashed(object)
	if err != nil {
		return nil, err
	}
	annotations := make(map[string]string, len(object.GetAnnotations())+1)
	for key, value := range object.GetAnnotations() {
		annotations[key] = value
	}
	annotations[HashAnnotation] = hash
	object.SetAnnotations(annotations)
	return wire, nil
}

// stamped returns the hash that an object carries, and stamps it if it carries
// none. The wire form is what was written for that, or nil.
func stamped(object Object) (hash string, wire []byte, err error) {
	if hash := object.GetAnnotations()[HashAnnotation]; hash != "" {
		return hash, nil, nil
	}
	wire, err = stamp(object)
	return object.GetAnnotations()[HashAnnotation], wire, err
}
