package rawjson

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRawJSONAgreesWithTheDecoder(t *testing.T) {
	for _, text := range []string{
		`{}`, ` { } `, `{"a":1}`, "{\n\t\"a\" : [1, {\"b\": \"]}\"}] ,\r\n \"c\":null }",
		`{"a":"\"","b":"\\","c":"\\\"","d":"\\\\"}`, `{"\u0061":{"b":{}},"é":"x"}`,
		`{"a":true,"b":false,"c":-1.5e3,"d":""}`, `{"a":{"a":{"a":[[[]]]}}}`,
	} {
		var want map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		got := map[string]json.RawMessage{}
		require.True(t, Members([]byte(text), func(key, value []byte) bool {
			got[string(key)] = value
			return true
		}), text)
		require.Equal(t, want, got, text)
	}
}

// TestQuotesAndBackslashesAnywhere: strings are read eight bytes at a time.
func TestQuotesAndBackslashesAnywhere(t *testing.T) {
	for _, special := range []string{`\"`, `\\`, `\\\"`, `\\\\`, `\u0022`, "é", "\u00a2"} {
		for before := range 45 {
			for behind := range 40 {
				quoted := `"` + strings.Repeat("a", before) + special + strings.Repeat("b", behind) + `"`
				require.True(t, json.Valid([]byte(quoted)), quoted)
				for _, rest := range []string{``, `,"c":"d"}`, strings.Repeat(`"`, 9)} {
					require.Equal(t, len(quoted), skipString([]byte(quoted+rest), 0), quoted+rest)
				}
			}
		}
	}
}

func TestRawJSONOfOtherValues(t *testing.T) {
	for _, text := range []string{``, ` `, `[]`, `"{}"`, `1`, `null`} {
		require.False(t, Members([]byte(text), func(_, _ []byte) bool { return true }), text)
	}
}

func TestLookup(t *testing.T) {
	raw := []byte(`{"a":{"b":{"c":2}},"s":"x\ny"}`)
	require.Equal(t, "2", string(Lookup(raw, "a", "b", "c")))
	require.Nil(t, Lookup(raw, "a", "x", "c"))
	require.Nil(t, Lookup(raw, "s", "x"))
	s, ok := Text(Lookup(raw, "s"))
	require.True(t, ok)
	require.Equal(t, "x\ny", s)
}

func TestFind(t *testing.T) {
	for _, text := range []string{`{"a":{"b":{"c":2}},"s":"x\ny"}`, " {\n\"s\" : {\"a\" : null } , \"a\":\t{ \"b\" : {\"c\":[ 1 ]} } }", `[]`, ``, `1`} {
		for _, path := range [][]string{{"a"}, {"a", "b"}, {"a", "b", "c"}, {"a", "c"}, {"s"}, {"s", "a"}, {"b"}, {}} {
			start, end := Find([]byte(text), path...)
			require.Equal(t, string(Lookup([]byte(text), path...)), text[start:end], "%v in %s", path, text)
			require.Equal(t, Lookup([]byte(text), path...) == nil, end == 0, "%v in %s", path, text)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add([]byte(`{"a":"\\\"","b":[{"c":"}"}],"d":1e5}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want map[string]json.RawMessage
		if !json.Valid(raw) || json.Unmarshal(raw, &want) != nil || want == nil {
			return
		}
		got := map[string]json.RawMessage{}
		require.True(t, Members(raw, func(key, value []byte) bool {
			got[jsonString(key)] = value
			return true
		}))
		require.Equal(t, want, got)
	})
}

// jsonString returns a key as the decoder does, which replaces bytes that are
// no UTF-8.
func jsonString(key []byte) string {
	quoted, _ := json.Marshal(string(key))
	var s string
	_ = json.Unmarshal(quoted, &s)
	return s
}
