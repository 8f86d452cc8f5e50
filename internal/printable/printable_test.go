package printable_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/printable"
)

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "",
		" two\n\tlines \r\n":          "two lines",
		"größe 日本 🎭":                  "größe 日本 🎭",
		"\x1b[2Jgone":                 `\u001b[2Jgone`,
		"a\x00b\x7fc":                 `a\u0000b\u007fc`,
		"c1 \u009b31m":                `c1 \u009b31m`,
		"bidi \u202etxt.exe\u2066":    `bidi \u202etxt.exe\u2066`,
		"tag \U000e0041":              `tag \ufffd`,
		"half \xc3":                   `half \ufffd`,
		"line\u2028separator":         "line separator",
		strings.Repeat("x", 41):       strings.Repeat("x", 40) + "...",
		strings.Repeat("x", 39) + "ä": strings.Repeat("x", 39) + "...",
	} {
		require.Equal(t, want, printable.Line(text, 40))
	}
	require.Less(t, len(printable.Line(strings.Repeat("\x1b", 1<<20), 253)), 260)
}

// TestWriter: a log line stays the JSON that it was.
func TestWriter(t *testing.T) {
	var out bytes.Buffer
	evil := "\x1b]0;x\x07 \u009b \u202e \x00 fine ä"
	slog.New(slog.NewJSONHandler(printable.NewWriter(&out), nil)).Info("m", "name", evil)
	var line struct{ Name string }
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	require.Equal(t, evil, line.Name)
	requirePrintable(t, out.String())
	require.Contains(t, out.String(), "ä")
}

func requirePrintable(t *testing.T, text string) {
	t.Helper()
	require.True(t, utf8.ValidString(text))
	require.Negative(t, strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }), "%q", text)
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1bb", 10)
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = max(0, most%1000)
		line := printable.Line(text, most)
		requirePrintable(t, line)
		require.NotContains(t, line, "\n")
		require.LessOrEqual(t, len(line), most+len("..."))
	})
}
