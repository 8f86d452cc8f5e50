package deploy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// page returns the text of a file of the documentation.
func page(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func TestTheReadmeSaysWhatTheServerRequests(t *testing.T) {
	d := deployment(t)
	require.EqualValues(t, 2, *d.Spec.Replicas, "the README says two")
	resources := d.Spec.Template.Spec.Containers[0].Resources
	want := fmt.Sprintf("Two replicas that request %s CPU and %s each, with a limit of %s",
		resources.Requests.Cpu(), resources.Requests.Memory(), resources.Limits.Memory())
	require.True(t, strings.Contains(strings.ReplaceAll(page(t, "../README.md"), "\n", " "), want), "the README does not say: %s", want)
}

// TestWhatIsBuiltHasAVersionOfItsOwn: with the tag of a release that was before, an upgrade
// would keep the image that a node already has.
func TestWhatIsBuiltHasAVersionOfItsOwn(t *testing.T) {
	tag := read[kustomization](t, "kustomization.yaml").Images[0].NewTag
	chart := read[struct {
		APIVersion  string   `json:"apiVersion"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Type        string   `json:"type"`
		Version     string   `json:"version"`
		AppVersion  string   `json:"appVersion"`
		Home        string   `json:"home"`
		Sources     []string `json:"sources"`
	}](t, "charts/operetta/Chart.yaml")
	require.Equal(t, tag, chart.AppVersion)
	require.Equal(t, tag, "v"+chart.Version)

	changelog := page(t, "../CHANGELOG.md")
	unreleased, released, found := strings.Cut(changelog, "\n## v")
	require.True(t, found)
	newest, _, _ := strings.Cut(released, "\n")
	if strings.Contains(unreleased, "\n- ") {
		require.False(t, strings.Contains(changelog, "\n## "+tag+"\n"), "there are changes since %s: raise newTag, the chart's versions and those in the docs", tag)
	} else {
		require.Equal(t, tag, "v"+newest)
	}

	docs, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	count := 0
	for _, path := range append(docs, "../README.md", "../Makefile") {
		for _, match := range regexp.MustCompile(`VERSION=(v[0-9]+\.[0-9]+\.[0-9]+)`).FindAllStringSubmatch(page(t, path), -1) {
			count++
			require.Equal(t, tag, match[1], path)
		}
	}
	require.Greater(t, count, 5)
	require.True(t, strings.Contains(page(t, "../docs/install.md"), "`dist/operetta-"+chart.Version+".tgz`"), "docs/install.md names the chart with another version")
}
