package dataservice

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFormerNamesAreBounded: whoever can write a status, or send one, cannot have the hook
// unpack as many names as fit into a request.
func TestFormerNamesAreBounded(t *testing.T) {
	ds := &DataService{}
	var many []string
	for n := range 100_000 {
		many = append(many, fmt.Sprint("n", n))
	}
	for range 100 {
		ds.Status.Components = append(ds.Status.Components, ComponentStatus{Component: "uuc", FormerNames: many})
	}
	p := &product{ds: ds, table: DefaultPolicy().table()}
	told := p.owners().told
	require.Less(t, len(told), 10*mostFormerNames)
	require.Equal(t, []string{"uuc"}, told["Service/n99999"], "the newest are read")
}
