package burst_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/burst"
)

func TestOfIsBoundedByNumberAndByBytes(t *testing.T) {
	for bytes, want := range map[int]int{0: burst.Most, 1 << 10: burst.Most, 32 << 10: burst.Most, 200 << 10: 81, 20 << 20: 1} {
		require.Equal(t, want, burst.Of(bytes), bytes)
	}
}
