package metacontroller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestLongQuantitiesAreRefused: to read or to write one would take minutes, which no
// deadline ends.
func TestLongQuantitiesAreRefused(t *testing.T) {
	type quantities struct {
		Pod  corev1.PodSpec     `json:"pod"`
		Size *resource.Quantity `json:"size,omitempty"`
		Text string             `json:"text,omitempty"`
	}
	for value, isLong := range map[string]bool{
		`"1e3"`: false, `"1E99"`: false, `1e12`: false, `"100m"`: false, `"1.5Gi"`: false, `"0.1e-9"`: false, `null`: false,
		`"1234567890123456789012e150000"`: true, `"1e100"`: true, `"1E+999999999"`: true, `"1e-1000"`: true, `1e100`: true,
		`"1\u0065100"`: true, `"` + strings.Repeat("0", 100) + `"`: true, strings.Repeat("1", 65): true,
	} {
		for path, form := range map[string]string{
			"size":                                `{"size":%s}`,
			"pod.containers.1.resources.limits.*": `{"pod":{"containers":[{"name":"a"},{"name":"b","resources":{"limits":{"cpu":%s}}}]}}`,
			"pod.volumes.0.emptyDir.sizeLimit":    `{"pod":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":%s}}]}}`,
			"pod.volumes.0.ephemeral.volumeClaimTemplate.spec.resources.requests.*": `{"pod":{"volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":%s}}}}}}]}}`,
		} {
			raw := fmt.Sprintf(form, value)
			err := decode([]byte(raw), &quantities{})
			if isLong {
				require.ErrorContains(t, err, path+" has a quantity or a time of more than 64 characters", raw)
			} else {
				require.NoError(t, err, raw)
			}
		}
	}
	require.NoError(t, decode([]byte(`{"text":"1e100000","size":"1"}`), &quantities{}), "a text is no quantity")
}

// TestUsualTextsHaveNoLongNumber, so that they are looked through once and not by
// their types: names, UIDs, times and images.
func TestUsualTextsHaveNoLongNumber(t *testing.T) {
	for _, usual := range []string{
		`{"uid":"0a4e1234-9b1e-4222-8e99-7e1234567890","resourceVersion":"123456","at":"2026-01-01T00:00:00Z","text":"a\"b"}`,
		`{"image":"nginx:1.28@sha256:e100200300","cpu":"1e3","memory":"1.5Gi","replicas":2147483647}`,
	} {
		require.False(t, hasLongNumber([]byte(usual)), usual)
	}
}
