package build_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/hooks/build"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// TestLabelsDecideNothing writes the hash of another build onto every Job and Pod of
// every case: a Job is what its name says, and a Pod what its controller is.
func TestLabelsDecideNothing(t *testing.T) {
	label := regexp.MustCompile(`"ci\.zt\.vapi\.cc/hash":\s*"[^"]*"`)
	edited := 0
	controller := build.Controller()
	for _, c := range operettatest.Cases(t, "../..", controller) {
		want, err := controller.Call(c.Hook, c.Now, c.Request)
		if c.Hook != metacontroller.SyncHook || err != nil || !label.Match(c.Request) {
			continue
		}
		for _, hash := range []string{"", "forged", "ef5bb58d26", "94dbbb2ce6"} {
			forged := label.ReplaceAll(c.Request, []byte(`"ci.zt.vapi.cc/hash":"`+hash+`"`))
			got, err := controller.Call(c.Hook, c.Now, forged)
			require.NoError(t, err, c.Name)
			require.Equal(t, string(want.Body), string(got.Body), c.Name)
		}
		edited++
	}
	require.Greater(t, edited, 20)
}
