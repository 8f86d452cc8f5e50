package commands

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/cli"
)

var update = flag.Bool("update", false, "draw the pictures of the documentation")

// TestPicturesOfTheDocs draws the picture that each page shows, and compares it with the file.
func TestPicturesOfTheDocs(t *testing.T) {
	const docs, samples = "../../../docs", "../../../deploy/samples"
	build, err := os.ReadFile(samples + "/build.yaml")
	require.NoError(t, err)
	edited := write(t, "build-v2.yaml", strings.Replace(string(build), "revision: master", "revision: v2", 1))
	pictures := map[string][]string{
		"build":         {samples + "/build.yaml", edited},
		"concepts":      {samples + "/podset-default.yaml"},
		"dataservice":   {samples + "/dataservice.yaml", "--delete"},
		"modelbox":      {samples + "/modelbox.yaml", "--vanish", "Service/sentiment"},
		"myjob":         {samples + "/myjob.yaml"},
		"podbuggertool": {samples + "/podbuggertool.yaml"},
		"podset":        {samples + "/podset.yaml", "--evict", "Pod/cache-1"},
	}
	for name, args := range pictures {
		path := filepath.Join(docs, "images", name+".svg")
		code, drawn, stderr := operetta(t, "", append([]string{"simulate", "--output", "svg"}, args...)...)
		require.Equal(t, cli.ExitDone, code, stderr)
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(drawn), 0o644)) // everyone may read it
		}
		kept, err := os.ReadFile(path)
		require.NoError(t, err, "run make golden, and look at the picture")
		require.True(t, string(kept) == drawn, "%s is drawn otherwise now: run make golden, and look at the picture", path)

		page, err := os.ReadFile(filepath.Join(docs, name+".md"))
		require.NoError(t, err)
		require.Regexp(t, `\n!\[[^\]]{80,500}\]\(images/`+regexp.QuoteMeta(name)+`\.svg\)\n`, string(page), "%s.md has no picture, or no text in its place", name)
	}
	kept, err := filepath.Glob(docs + "/images/*.svg") // that of a browser is not drawn here
	require.NoError(t, err)
	require.Len(t, kept, len(pictures), "no other picture is in docs/images")
}
