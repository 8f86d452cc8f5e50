package operator

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Limits of Kubernetes, in characters.
const (
	// MaxLabel is the limit for a label's value and for the names of most
	// objects that become host names (a Service, a container). See RFC 1123 and
	// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/.
	MaxLabel = 63
	// MaxSubdomain is the limit for the names of other objects.
	MaxSubdomain = 253
)

const hashLength = 8

// JoinName joins parts with hyphens. A result longer than most characters is cut and ends in a hash
// of the whole, so that two long names with the same beginning stay different. It begins and ends
// as the parts do or, if it is cut, ends in a hexadecimal digit. Most must be more than 9.
func JoinName(most int, parts ...string) string {
	whole := strings.Join(parts, "-")
	if len(whole) <= most {
		return whole
	}
	sum := sha256.Sum256([]byte(whole))
	kept := strings.TrimRight(whole[:most-hashLength-1], "-._")
	return kept + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// HashOf returns a hash of a value's JSON, 64 hexadecimal digits, the same for equal content in every
// process. An error means that the value cannot be encoded as JSON.
func HashOf(value any) (string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("cannot be encoded: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:]), nil
}
