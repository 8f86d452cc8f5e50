package notes_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/release/notes"
)

const changelog = `# Changelog

## Unreleased

- [BUGFIX] A drain resets no request, see [docs/metrics.md](docs/metrics.md#a-b)
  and [elsewhere](https://example.com/x).
- [SECURITY] Less is allowed.
- [FEATURE] ` + "`make release`" + ` writes
  a release.
- [BUGFIX] The second.

## v0.1.0

The first.

- [FEATURE] Six kinds.

## v0.0.1
`

func TestNotesAreTheEntriesOfAVersionByWhatTheyAreAbout(t *testing.T) {
	text, err := notes.Of(changelog, notes.Unreleased, "v0.2.0", "https://example.com/r")
	require.NoError(t, err)
	require.Equal(t, `# Operetta v0.2.0

## Security

- Less is allowed.

## New

- `+"`make release`"+` writes
  a release.

## Fixed

- A drain resets no request, see [docs/metrics.md](https://example.com/r/blob/v0.2.0/docs/metrics.md#a-b)
  and [elsewhere](https://example.com/x).
- The second.
`, text)
	text, err = notes.Of(changelog, "v0.1.0", "v0.1.0", "https://example.com/r")
	require.NoError(t, err)
	require.Equal(t, "# Operetta v0.1.0\n\nThe first.\n\n## New\n\n- Six kinds.\n", text)
}

func TestNotesOfNothingAreRefused(t *testing.T) {
	for wrong, change := range map[string]string{
		"tells nothing below ## v0.0.1": changelog,
		"[FETURE] is none of":           changelog + "\n- [FETURE] x\n",
		"no headline of a section":      changelog + "\n## next\n",
		"has no mark":                   changelog + "\n- [FEATURE] x\n- y\n",
	} {
		_, err := notes.Of(change, "v0.0.1", "v0.0.1", "")
		require.ErrorContains(t, err, wrong)
	}
	_, err := notes.Of(changelog, "v0.3.0", "v0.3.0", "")
	require.ErrorContains(t, err, "tells nothing below ## v0.3.0")
}

// TestEveryEntryOfTheChangelogIsInTheNotes of its section, and every link leads to a file.
func TestEveryEntryOfTheChangelogIsInTheNotes(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	require.NoError(t, err)
	sections := regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(text), -1)
	require.GreaterOrEqual(t, len(sections), 2)
	count := 0
	for _, section := range sections {
		made, err := notes.Of(string(text), section[1], "v9.8.7", "https://example.com/r")
		require.NoError(t, err)
		count += strings.Count(made, "\n- ")
		for _, link := range regexp.MustCompile(`https://example\.com/r/blob/v9\.8\.7/([^)#]*)`).FindAllStringSubmatch(made, -1) {
			_, err := os.Stat("../../" + link[1])
			require.NoError(t, err)
		}
	}
	require.Equal(t, strings.Count(string(text), "\n- ["), count)
	require.Greater(t, count, 5)
}
