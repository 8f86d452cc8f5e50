package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/operator"
)

func TestBurstIsBoundedByNumberAndByBytes(t *testing.T) {
	for bytes, want := range map[int]int{0: operator.MaxBurst, 1 << 10: operator.MaxBurst, 32 << 10: operator.MaxBurst, 200 << 10: 81, 20 << 20: 1} {
		require.Equal(t, want, operator.Burst(bytes), bytes)
	}
}
