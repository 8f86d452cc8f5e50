package images_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/deploy/images"
)

func listed(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("images.yaml")
	require.NoError(t, err)
	all := map[string]string{}
	require.NoError(t, yaml.UnmarshalStrict(text, &all))
	require.GreaterOrEqual(t, len(all), 7)
	return all
}

// files calls a function with the text of each file below a folder.
func files(t *testing.T, folder, pattern string, do func(path, text string)) {
	t.Helper()
	count := 0
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if matched, _ := filepath.Match(pattern, filepath.Base(path)); err != nil || entry.IsDir() || !matched {
			return err
		}
		text, err := os.ReadFile(path)
		count++
		do(path, string(text))
		return err
	}))
	require.Greater(t, count, 5, "%s of %s", pattern, folder)
}

func TestEveryImageHasAVersion(t *testing.T) {
	for name, reference := range listed(t) {
		require.Regexp(t, `^[a-z0-9./-]+:v?[0-9]+\.[0-9]+(\.[0-9]+)?(@sha256:[0-9a-f]{64})?$`, reference, name)
		require.Equal(t, reference, images.Of(name))
	}
	require.Panics(t, func() { images.Of("nothing") })
}

// TestHooksTakeThemFromTheList: no hook has an image of its own, and each one listed is
// used.
func TestHooksTakeThemFromTheList(t *testing.T) {
	literal := regexp.MustCompile(`"[a-z0-9./-]+:v?[0-9]+(\.[0-9]+)+"`)
	require.Regexp(t, literal, `"mysql:8.4"`)
	asked := regexp.MustCompile(`images\.Of\("([^"]*)"\)`)
	var used []string
	files(t, "../../hooks", "*.go", func(path, text string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		require.NotRegexp(t, literal, text, path)
		for _, name := range asked.FindAllStringSubmatch(text, -1) {
			require.Contains(t, listed(t), name[1], path)
			used = append(used, name[1])
		}
	})
	for name := range listed(t) {
		if name != "metacontroller" && name != "self-signed-certgen" {
			require.Contains(t, used, name, "no hook asks for it")
		}
	}
}

// TestManifestsHaveThoseOfTheList but for the server's own image.
func TestManifestsHaveThoseOfTheList(t *testing.T) {
	var found []string
	files(t, "..", "*.yaml", func(path, text string) {
		if strings.HasPrefix(path, "../samples/") || strings.HasPrefix(path, "../charts/") {
			return // what users write, and links to the rest
		}
		for _, image := range regexp.MustCompile(`(?m)^ *(?:- )?image: (\S+)$`).FindAllStringSubmatch(text, -1) {
			if image[1] != "ghcr.io/operetta-dev/operetta" {
				found = append(found, image[1])
			}
		}
	})
	slices.Sort(found)
	require.Equal(t, []string{images.Of("self-signed-certgen"), images.Of("metacontroller")}, found)
}

// TestTheGuideNamesThemAll, which somebody without internet has to mirror.
func TestTheGuideNamesThemAll(t *testing.T) {
	guide, err := os.ReadFile("../../docs/install.md")
	require.NoError(t, err)
	for name, reference := range listed(t) {
		version, _, _ := strings.Cut(reference, "@")
		require.Contains(t, string(guide), "`"+version+"`", name)
	}
}
