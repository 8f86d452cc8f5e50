package documents

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func nodes(node *yaml.Node) int {
	count := 1
	for _, part := range node.Content {
		count += nodes(part)
	}
	return count
}

// TestNoDocumentHasMoreThanTwiceAsManyValues counts the values of what has the
// fewest bytes for each, and of every manifest and case of the project.
func TestNoDocumentHasMoreThanTwiceAsManyValues(t *testing.T) {
	texts := []string{"", "a", "a: b", "[a,b]", "{a,b,c,d}", "[a:,b:,c:,d:]", "[{},{},{}]", "- - - a", "? a\n? b\n", "a:\nb:\n", "a: &x [b]\nc: *x\n", "- a\r- b\r", "x: |\n  a\n  b\n"}
	for _, pattern := range []string{"../../deploy/*/*.yaml", "../../testdata/*/*/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			texts = append(texts, string(text))
		}
	}
	for _, text := range texts {
		parts, err := Split([]byte(text))
		require.NoError(t, err)
		for _, part := range parts {
			var root yaml.Node
			require.NoError(t, yaml.Unmarshal(part, &root))
			require.LessOrEqual(t, nodes(&root), 2*countValues(part)+1, string(part))
		}
	}
}

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

func TestLargeJSONIsTakenAsItIs(t *testing.T) {
	large := []byte("[" + strings.Repeat("1,", MaxValues) + "1]")
	content, err := ToJSON(large)
	require.NoError(t, err)
	require.True(t, bytes.Equal(large, content))
	_, err = ToJSON(large[:len(large)-1])
	require.ErrorContains(t, err, "write it as JSON, or split it")
	_, err = ToJSON([]byte(`{"a": 1, "a": 2}`))
	require.ErrorContains(t, err, "is neither YAML nor JSON", "a member that stands twice")
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
	for _, text := range []string{"a: 1\n---\nb: 2\n", "---\na: 1\n---\n{\n"} {
		_, err := ToJSON([]byte(text))
		require.EqualError(t, err, "has several documents: write one", text)
	}
	for _, text := range []string{"a: 1\n", "---\na: 1\n", "# comment\n---\na: 1\n---\n", "---\n# nothing\n---\na: 1\n", "a: 1\n---\n---\n"} {
		content, err := ToJSON([]byte(text))
		require.NoError(t, err, text)
		require.JSONEq(t, `{"a": 1}`, string(content), text)
	}
}

// TestNothingIsIgnored: the converter reads up to the end of a value in brackets, and not on.
func TestNothingIsIgnored(t *testing.T) {
	objects, err := Objects([]byte("{\"a\": 1}\n{\"b\": 2}  {\"c\": 3}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}, texts(objects))
	_, err = ToJSON([]byte("{\"a\": 1}\n{\"b\": 2}"))
	require.ErrorContains(t, err, "has several documents: write one")
	for _, text := range []string{"{\"a\": 1} xx", "{a: 1}\n{b: 2}", "[1] 2", "{a: 1} b: 2", "# a comment\n---\n{a: 1}\n{b: 2}", "--- {a: 1} {b: 2}", "a: 1\n...\nb: 2", "a: 1\n... # the end\n\n  b: 2\n"} {
		_, err := ToJSON([]byte(text))
		require.Error(t, err, text)
		_, err = Objects([]byte(text + "\n---\na: b\n"))
		require.Error(t, err, text)
	}
	for text, want := range map[string]string{
		"{a: 1} # a comment\n": `{"a":1}`, "[a,\n b]": `["a","b"]`, "'a': 1": `{"a":1}`, "{a: 1}\n...\n": `{"a":1}`, "\"a\": {b: 1}\nc: 2": `{"a":{"b":1},"c":2}`,
		"---\n{a: 1}\n": `{"a":1}`, "a: 1\n...\n# a comment\n\n...\n": `{"a":1}`, "a: |\n  ...\n  b\n": `{"a":"...\nb\n"}`,
	} {
		got, err := ToJSON([]byte(text))
		require.NoError(t, err, text)
		require.Equal(t, want, string(got), text)
	}
	many := strings.Repeat(`{"a":1} `, MaxDocuments)
	objects, err = Objects([]byte(many))
	require.NoError(t, err)
	require.Len(t, objects, MaxDocuments)
	_, err = Objects([]byte(many + "{}"))
	require.ErrorContains(t, err, "is one too many")
}

func texts(objects [][]byte) (all []string) {
	for _, object := range objects {
		all = append(all, string(object))
	}
	return all
}

// TestNothingIsLeftOutInSilence: the converter stops at the end of a first value in brackets or
// quotation marks and at the line that ends a document, whatever stands before them.
func TestNothingIsLeftOutInSilence(t *testing.T) {
	for _, before := range []string{"", "---\n", "---\r\n", "--- ", "--- \n", "---\t", "--- # of a tool\n", "# c\n---\n# d\n", "%YAML 1.1\n---\n", "!!map ", "&anchor ", "\ufeff", "\ufeff---\n", "\u2028", "\u0085", "\n\n  "} {
		for _, first := range []string{"{a: 1}\n", `{"a": 1}` + "\n", "a: 1\n...\n", "a: 1\r\n...\r\n", "a: 1\r...\r", "? a\n: 1\n...\n", "{a: 1} # c\n", "  a: 1\n", "a: 1\r---\r", "a: 1\u0085---\u0085", "a: 1\u2028---\u2028"} {
			text := before + first
			alone, err := ToJSON([]byte(text))
			if err != nil {
				continue // an anchor before a key is another text
			}
			for _, more := range []string{"{b: 2}\n", `{"b": 2}`, "b: 2\n", "- b\n", "b\n", "]"} {
				// A tag is of the first key, so that a mapping that seems to be indented may go on.
				all, err := ToJSON([]byte(text + more))
				require.True(t, err != nil || strings.Contains(string(all), "b"), "%q followed by %q is %s", text, more, alone)
			}
			for _, nothing := range []string{"\n", "  \n", "# c\n"} {
				same, err := ToJSON([]byte(text + nothing))
				require.NoError(t, err, "%q followed by %q", text, nothing)
				require.Equal(t, string(alone), string(same))
			}
		}
	}
}

// TestWhatIsReadOnceIsReadToItsEnd asks of random texts which are accepted whether the converter has read all.
func TestWhatIsReadOnceIsReadToItsEnd(t *testing.T) {
	parts := []string{"a: 1", "b: 2", "  c: 3", "a", "b", ":", ": ", " ", "  ", "\n", "\n", "\n", "\n", "\r", "\r\n", "\u0085", "\u2028", "\u2029", "\t", "---", "...", "- ", "{", "}", "[", "]", ",", "# ", "\"", "'", "|\n", ">\n", "? ", "!!map ", "&a ", "*a", "%YAML 1.1\n", "\ufeff", "0"}
	random, accepted := rand.New(rand.NewPCG(1, 2)), 0
	for range 20_000 {
		var text strings.Builder
		for range 1 + random.IntN(8) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		split, err := Split([]byte(text.String()))
		if err != nil || len(split) != 1 {
			continue
		}
		if content, err := ToJSON(split[0]); err == nil && !json.Valid(split[0]) {
			accepted++
			require.False(t, readsOn(split[0]), "%q is %s", text.String(), content)
		}
	}
	require.Greater(t, accepted, 1_000)
}
