package metacontroller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ownedLive returns a Deployment with a list of items and managed fields.
func ownedLive(spec, fields string) string {
	return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"ns","managedFields":[{"operation":"Apply","fieldsV1":` +
		fields + `}]},"spec":` + spec + `}`
}

// TestKeyOfManyNamesNamesNothing: to look for so many members in each item of a
// list takes minutes.
func TestKeyOfManyNamesNamesNothing(t *testing.T) {
	key := func(names int) string {
		var list []string
		for i := range names {
			list = append(list, fmt.Sprintf(`\"n%d\":1`, i))
		}
		return `{"f:spec":{"f:l":{"k:{` + strings.Join(list, ",") + `}":{"f:x":{}}}}}`
	}
	item := func(names int) string {
		var list []string
		for i := range names {
			list = append(list, fmt.Sprintf(`"n%d":1`, i))
		}
		return `{"l":[{` + strings.Join(list, ",") + `,"x":2,"y":3}]}`
	}
	got := keptAs(t, SyncHook, keepRequest(t, false, false, ownedLive(item(mostKeyNames), key(mostKeyNames))))
	require.Contains(t, got, `"l":[{"x":2}]`)
	got = keptAs(t, SyncHook, keepRequest(t, false, false, ownedLive(item(mostKeyNames+1), key(mostKeyNames+1))))
	require.NotContains(t, got, `"x"`)
}

// TestFieldsThatAreTooDeepCountAsAWhole: each level is read once more for each
// level above it.
func TestFieldsThatAreTooDeepCountAsAWhole(t *testing.T) {
	nested := func(levels int, open, inner string) string {
		return strings.Repeat(open, levels) + inner + strings.Repeat("}", levels)
	}
	for levels, want := range map[int]string{mostLevels - 3: `"x":1}`, mostLevels + 3: `"x":1,"y":2}`} {
		object := nested(levels, `{"a":`, `{"x":1,"y":2}`)
		fields := `{"f:spec":` + nested(levels, `{"f:a":`, `{"f:x":{}}`) + `}`
		got := keptAs(t, SyncHook, keepRequest(t, false, false, ownedLive(object, fields)))
		require.Contains(t, got, want)
		require.Equal(t, levels < mostLevels, !strings.Contains(got, `"y"`))
	}
}
