package metacontroller

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/internal/wire"
)

// storedAnnotations returns how many bytes the API server counts of the annotations
// of a child that Metacontroller has created under dynamic-apply.
func storedAnnotations(t *testing.T, wire []byte) int {
	var child map[string]any
	require.NoError(t, json.Unmarshal(wire, &child))
	metadata := child["metadata"].(map[string]any)
	metadata["namespace"] = strings.Repeat("n", 63)
	labels, _ := metadata["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
	}
	labels[controllerUIDLabel] = "3c0c2a52-8d0b-4a9c-9d3f-0d8a4c1b2e3f"
	metadata["labels"] = labels
	copied, err := json.Marshal(child)
	require.NoError(t, err)
	size := len(LastAppliedAnnotation) + len(copied)
	annotations, _ := metadata["annotations"].(map[string]any)
	for key, value := range annotations {
		size += len(key) + len(value.(string))
	}
	return size
}

// TestChildIsMeasuredAsItIsStored: what is answered can be stored, and what is
// refused could not, with some KiB left for the annotations of others.
func TestChildIsMeasuredAsItIsStored(t *testing.T) {
	const stored, others = 256 << 10, 7 << 10
	for name, unit := range map[string]string{
		"plain": "x", "escaped in HTML": "<", "all of them": "<>&", "quotes": `"`, "backslashes": `\`, "lines": "\n", "control characters": "\x01",
		"long letters": "ä", "separators": "\u2028", "mixed": "a<\"\n\u2029é&",
	} {
		for _, place := range []string{"data", "annotations"} {
			if testing.Short() && place == "annotations" && name != "mixed" {
				continue // make cover takes all
			}
			t.Run(name+" in "+place, func(t *testing.T) {
				child := func(times int) *corev1.ConfigMap {
					text, made := strings.Repeat(unit, times), configMap("a")
					made.Data = map[string]string{"text": text}
					if place == "annotations" {
						made.Data, made.Annotations = nil, map[string]string{"text": text}
					}
					return made
				}
				answers := func(times int) bool {
					_, err := controllerOf(func(*greeting, Observed) (greetingResult, error) {
						return greetingResult{Children: []Object{child(times)}}, nil
					}).Call(SyncHook, time.Now(), ask(false, "", ""))
					if err != nil {
						require.ErrorContains(t, err, "that Metacontroller can apply")
					}
					return err == nil
				}
				least, most := 1, stored // the largest that is answered is between them
				for most-least > 1 {
					if middle := (least + most) / 2; answers(middle) {
						least = middle
					} else {
						most = middle
					}
				}
				wire, err := wire.AppendObject(nil, child(least))
				require.NoError(t, err)
				got := storedAnnotations(t, wire)
				require.LessOrEqual(t, got, stored)
				require.Greater(t, got, stored-others)
				size, err := AppliedSize(child(least))
				require.NoError(t, err)
				require.InDelta(t, got, size, 512)
			})
		}
	}
}
