package explore_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/explore"
	"github.com/operetta-dev/operetta/internal/simulate"
)

func TestScopeScratch(t *testing.T) {
	depth, _ := strconv.Atoi(os.Getenv("DEPTH"))
	once, err := explore.ParseSchedule(os.Getenv("ONCE"))
	require.NoError(t, err)
	s := scen(t, os.Getenv("S"), simulate.DynamicApply)
	start := time.Now()
	f, e := s.Exhaust(context.Background(), explore.Scope{Once: once, Troubles: 1, Kinds: []string{"crash@1", "lose-status"}, Depth: depth})
	fmt.Printf("%s depth %d: %+v in %s\n", os.Getenv("S"), depth, e, time.Since(start))
	if f != nil {
		fmt.Println(f.Text())
	}
}
