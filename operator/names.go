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
	// MaxLabel is the longest that a label's value and the names of most objects
	// that end up as host names (a Service, a container) may be. See RFC 1123
	// and https://kubernetes.io/docs/concepts/overview/working-with-objects/names/.
	MaxLabel = 63
	// MaxSubdomain is the longest name that other objects may have.
	MaxSubdomain = 253
)

const hashLength = 8

// JoinName joins parts with hyphens. Where that is longer than most characters, it
// is cut and ends in a hash of the whole, so that two long names which begin
// alike stay two names. The result begins and ends as the parts do or, cut, ends
// in a hexadecimal digit. Most must be more than 9.
func JoinName(most int, parts ...string) string {
	whole := strings.Join(parts, "-")
	if len(whole) <= most {
		return whole
	}
	sum := sha256.Sum256([]byte(whole))
	kept := strings.TrimRight(whole[:most-hashLength-1], "-._")
	return kept + "-" + hex.EncodeToString(sum[:])[:hashLength]
}

// HashOf returns a hash of a value's JSON: 64 hexadecimal digits, the same for equal
// content in every process. Its first 16 in an annotation of a template have Pods
// replaced when their configuration changes. An error means that the value has no form in
// JSON.
func HashOf(value any) (string, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("cannot be encoded: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:]), nil
}
