package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const docs = "../../docs/"

// TestPicturesOfTheDocs takes the picture that a page shows of a run: the lanes of the file that
// simulate -o html writes.
func TestPicturesOfTheDocs(t *testing.T) {
	build, err := os.ReadFile("../../deploy/samples/build.yaml")
	require.NoError(t, err)
	edited := filepath.Join(t.TempDir(), "build-v2.yaml")
	require.NoError(t, os.WriteFile(edited, []byte(strings.Replace(string(build), "revision: master", "revision: v2", 1)), 0o600))
	pictures := map[string]string{
		"build":         "build.yaml " + edited,
		"concepts":      "podset-default.yaml",
		"dataservice":   "dataservice.yaml --delete",
		"modelbox":      "modelbox.yaml --vanish Service/sentiment",
		"myjob":         "myjob.yaml",
		"podbuggertool": "podbuggertool.yaml",
		"podset":        "podset.yaml --evict Pod/cache-1",
	}
	for name, line := range pictures {
		t.Run(name, func(t *testing.T) {
			page, err := os.ReadFile(docs + name + ".md")
			require.NoError(t, err)
			require.Regexp(t, `\n!\[[^\]]{80,500}\]\(images/`+regexp.QuoteMeta(name)+`\.png\)\n`, string(page), "it has no picture, or no text in its place")

			p := open(t, simulated(t, strings.Fields(line)), look{900, 1400, "light"})
			eval[any](p, alone)
			p.until(`document.querySelector(".tracks").getBoundingClientRect().width > 500`)
			shot, err := chromedp.Run(p.ctx, chromedp.Screenshot(chromedp.CSS(".lanes")))
			require.NoError(t, err)
			picture := paletted(t, shot)
			assert.Less(t, len(picture), 60<<10)
			if *update {
				require.NoError(t, os.WriteFile(docs+"images/"+name+".png", picture, 0o644))
			}
		})
	}
	kept, err := filepath.Glob(docs + "images/*")
	require.NoError(t, err)
	require.Len(t, kept, len(pictures)+1, "no other picture than these and the README's is in docs/images")
}

// alone shows the lanes as wide as the page, with whole names, and nothing else.
const alone = `void (() => {
	const lanes = document.querySelector(".lanes");
	lanes.style = "position: fixed; top: 0; left: 0; width: 900px; height: max-content; padding: 8px; background: white; z-index: 9; --labels: 300px";
	lanes.querySelector(".cursor").remove();
	document.body.append(lanes);
})()`

// simulated writes the file of a simulation of samples, and returns its address.
func simulated(t *testing.T, args []string) string {
	return simulatedIn(t, "../../deploy/samples", args)
}

func simulatedIn(t *testing.T, folder string, args []string) string {
	t.Helper()
	program, err := built()
	require.NoError(t, err)
	command := exec.Command(program, append([]string{"simulate", "-o", "html"}, args...)...)
	command.Dir = folder
	page, err := command.Output()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "run.html")
	require.NoError(t, os.WriteFile(path, page, 0o600))
	return "file://" + path
}
