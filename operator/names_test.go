package operator_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/operator"
)

func TestJoinNameKeepsShortNames(t *testing.T) {
	require.Equal(t, "web-1", operator.JoinName(operator.MaxLabel, "web", "1"))
	exact := strings.Repeat("a", 63)
	require.Equal(t, exact, operator.JoinName(63, exact))
}

func TestJoinNameCutsWithAHash(t *testing.T) {
	long := strings.Repeat("a", 53) + "-" + strings.Repeat("b", 20)
	one, other := operator.JoinName(63, long, "x"), operator.JoinName(63, long, "y")
	require.NotEqual(t, one, other, "two long names collide")
	for _, name := range []string{one, other} {
		require.LessOrEqual(t, len(name), 63)
		require.Empty(t, validation.IsDNS1123Label(name))
		require.NotContains(t, name, "--")
	}
}
