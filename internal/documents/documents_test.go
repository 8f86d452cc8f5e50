package documents

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAliasesAreWrittenOutWhereThatIsShort(t *testing.T) {
	content, err := ToJSON([]byte("base: &base {a: 1}\nlist: [*base, *base]\nmerged: {<<: *base, b: 2}\n"))
	require.NoError(t, err)
	require.JSONEq(t, `{"base": {"a": 1}, "list": [{"a": 1}, {"a": 1}], "merged": {"a": 1, "b": 2}}`, string(content))
	for _, text := range []string{"glob: '*.yaml & more'", "a: x & y * z"} {
		_, err := ToJSON([]byte(text))
		require.NoError(t, err, text)
	}
	_, err = ToJSON([]byte("a: *nothing & more"))
	require.ErrorContains(t, err, "is neither YAML nor JSON")
}

// TestAliasesAreFew: the parser refuses those that stand for much more than is written.
func TestAliasesAreFew(t *testing.T) {
	text := "a0: &a0 [x]\n"
	for i, name := range strings.Split("bcdefghij", "") {
		before := string("abcdefghij"[i])
		if i == 0 {
			before = "a0"
		}
		text += name + ": &" + name + " [" + strings.Repeat("*"+before+",", 10) + "]\n"
	}
	_, err := ToJSON([]byte(text))
	require.ErrorContains(t, err, "excessive aliasing")
	_, err = ToJSON([]byte("a: &a [*a]\n"))
	require.ErrorContains(t, err, "contains itself")
}

func TestAMemberStandsOnce(t *testing.T) {
	for _, text := range []string{`{"a": 1, "a": 2}`, "a: 1\na: 2\n"} {
		_, err := ToJSON([]byte(text))
		require.Error(t, err, text)
	}
}

// TestControlCharacters: JSON has them as they are, and YAML with escapes only.
func TestControlCharacters(t *testing.T) {
	const text = "{\"a\":\"x\x7fy\\u0000\",\"n\":1000000,\"f\":0.5}"
	content, err := ToJSON([]byte(text))
	require.NoError(t, err)
	require.Equal(t, text, string(content))
	printed, err := ToYAML(content)
	require.NoError(t, err)
	require.Equal(t, "a: \"x\\x7Fy\\0\"\nf: 0.5\n\"n\": 1000000\n", string(printed))
	again, err := ToJSON(printed)
	require.NoError(t, err)
	require.JSONEq(t, text, string(again))
	_, err = ToJSON([]byte("a: x\x7fy"))
	require.ErrorContains(t, err, "control characters are not allowed")
}

func TestASecondDocumentIsRefused(t *testing.T) {
	for _, text := range []string{"a: 1\n---\nb: 2\n", "---\na: 1\n---\n{}\n"} {
		_, err := ToJSON([]byte(text))
		require.EqualError(t, err, "has several documents: write one", text)
	}
	for _, text := range []string{"a: 1\n", "---\na: 1\n", "# comment\n---\na: 1\n---\n", "---\n# nothing\n---\na: 1\n", "a: 1\n---\n---\n"} {
		content, err := ToJSON([]byte(text))
		require.NoError(t, err, text)
		require.JSONEq(t, `{"a": 1}`, string(content), text)
	}
}

func TestJSONIsSplit(t *testing.T) {
	objects, err := Objects([]byte("{\"a\": 1}\n{\"b\": 2}  {\"c\": 3}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{`{"a": 1}`, `{"b": 2}`, `{"c": 3}`}, texts(objects))
	_, err = ToJSON([]byte("{\"a\": 1}\n{\"b\": 2}"))
	require.ErrorContains(t, err, "has several documents: write one")
}

func texts(objects [][]byte) (all []string) {
	for _, object := range objects {
		all = append(all, string(object))
	}
	return all
}

func TestLineOf(t *testing.T) {
	for text, want := range map[string]int{
		"a: [\n":                          1,
		"# one\na: b\n---\nc: d\ne: [\n":  5,
		"a: b\r\n---\r\nc: d\r\nc: e\r\n": 4,
		"a: b\n":                          0,
		"a: b\nc\n":                       2,
		"\n\na: b\nc\n\n":                 4,
		"a: b\nc\n---\nd: e\n":            2,
	} {
		_, err := All([]byte(text))
		require.Equal(t, want, LineOf(err), "%s: %v", text, err)
	}
}

// TestTheLastLineNeedsNoLineFeed: the lines of fields and of errors are the same with one and without.
func TestTheLastLineNeedsNoLineFeed(t *testing.T) {
	for _, text := range []string{
		"# one\na: b\nc:\n  d: 5", "a: b\n---\nc:\n  d: 5", "a: b\r\n---\r\nc:\r\n  d: 5", "c: {d: 5}", "c:\n  d: 5\n---\n# nothing",
		"{\"c\": {\"d\": 5}}", "{\"c\":\n {\"d\": 5}}", "kind: List\nitems:\n- {a: b}\n- c:\n    d: 5",
	} {
		for _, end := range []string{"", "\n", "\r\n"} {
			all, err := All([]byte(text + end))
			require.NoError(t, err)
			with, err := All([]byte(text + "\n"))
			require.NoError(t, err)
			require.Len(t, all, len(with))
			for i := range all {
				require.Equal(t, with[i].Line("c.d"), all[i].Line("c.d"), "%q", text+end)
				require.Positive(t, all[i].Line("c.d"), "%q", text+end)
			}
		}
		_, err := All([]byte(text + "\n---\na: [1"))
		_, with := All([]byte(text + "\n---\na: [1\n"))
		require.Equal(t, LineOf(with), LineOf(err), "%q", text)
	}
}
