package metacontroller

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnreadableNumbersInAnnotations: Metacontroller quotes them whole, those of all children
// in one message, and keeps some of the messages.
func TestUnreadableNumbersInAnnotations(t *testing.T) {
	controller := controllerOf(func(*greeting, Observed) (greetingResult, error) {
		return greetingResult{Status: map[string]any{}, Children: []Object{configMap("a"), configMap("b")}}, nil
	})
	digits := strings.Repeat("0", 3000)
	for name, c := range map[string]struct {
		annotations [2]string
		refused     bool
	}{
		"what Metacontroller writes": {[2]string{`{"data":{"a":"b"}}`, `{}`}, false},
		"one":                        {[2]string{`{"a":1` + digits + `}`, `{}`}, false},
		"two":                        {[2]string{`{"a":1` + digits + `}`, `{"a":[-2` + digits + `]}`}, true},
		"a longer one":               {[2]string{`{"a":"\"","b":{"c":1` + digits + digits + `}}`, `{}`}, true},
		"a long exponent":            {[2]string{`{"a":1e` + strings.Repeat("9", 5000) + `}`, `{}`}, true},
		"in a text":                  {[2]string{`{"a":"1` + digits + digits + `"}`, `{}`}, false},
		"long and readable":          {[2]string{`{"a":0.` + digits + digits + `1}`, `{}`}, false},
		"no JSON":                    {[2]string{`{"a":"1` + digits + digits, `1`}, false},
	} {
		var children []string
		for i, annotation := range c.annotations {
			quoted, err := json.Marshal(map[string]string{LastAppliedAnnotation: annotation})
			require.NoError(t, err)
			children = append(children, observed("ConfigMap", string(rune('a'+i)), `,"annotations":`+string(quoted)))
		}
		for _, hook := range []HookName{SyncHook, FinalizeHook} {
			_, err := controller.Call(hook, noon, ask(hook == FinalizeHook, strings.Join(children, ","), ""))
			if !c.refused {
				require.NoError(t, err, name)
				continue
			}
			require.True(t, IsRequestError(err), name)
			require.Regexp(t, `^child ConfigMap/[ab]: its annotation metacontroller\.k8s\.io/last-applied-configuration has a number that is too large to be read, `+
				`with [0-9]+ bytes in this and other children: remove the annotation$`, err.Error(), name)
		}
	}
}

// TestStrangersWithUnreadableNumbersStopNothing: Metacontroller reads no annotation of a child
// that is not in the answer.
func TestStrangersWithUnreadableNumbersStopNothing(t *testing.T) {
	controller := controllerOf(func(*greeting, Observed) (greetingResult, error) {
		return greetingResult{Status: map[string]any{}, Children: []Object{configMap("a")}}, nil
	})
	stranger := observed("ConfigMap", "stranger", `,"annotations":{"`+LastAppliedAnnotation+`":"{\"a\":1`+strings.Repeat("0", 5000)+`}"}`)
	_, err := controller.Call(SyncHook, noon, ask(false, stranger, ""))
	require.NoError(t, err)
}

// TestUnreadableNumbersLetATeardownGo: what cannot be kept is deleted first.
func TestUnreadableNumbersLetATeardownGo(t *testing.T) {
	controller := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
		result := greetingResult{Status: map[string]any{}}
		for _, child := range seen.Children.All("v1", "ConfigMap") {
			result.Children = append(result.Children, Keep(child))
		}
		return result, nil
	})
	damaged := observed("ConfigMap", "damaged", `,"annotations":{"`+LastAppliedAnnotation+`":"{\"a\":1`+strings.Repeat("0", 5000)+`}"}`)
	answer, err := controller.Call(FinalizeHook, noon, ask(true, damaged+","+observed("ConfigMap", "whole", ""), ""))
	require.NoError(t, err)
	require.NotContains(t, string(answer.Body), "damaged")
	require.Contains(t, string(answer.Body), "whole")
}

// TestUnreadableNumbersAreThoseOfTheDecoder compares with what a decoder refuses.
func TestUnreadableNumbersAreThoseOfTheDecoder(t *testing.T) {
	for _, number := range []string{"1", "-1.5", "1e308", "1e309", "-1e400", "0.1e-400", strings.Repeat("9", 308), strings.Repeat("9", 310), "1." + strings.Repeat("0", 600)} {
		var into map[string]any
		err := json.Unmarshal([]byte(`{"a":`+number+`}`), &into)
		want := 0
		if err != nil {
			want = len(number)
		}
		require.Equal(t, want, unreadableNumbers([]byte(`{"a":`+number+`}`)), number)
	}
}

func TestHasLongNumber(t *testing.T) {
	for before := range 2 * longestNumber {
		text := strings.Repeat("x", before)
		require.True(t, HasLongNumber([]byte(text+strings.Repeat("1", longestNumber+1)+"x")), before)
		require.False(t, HasLongNumber([]byte(text+strings.Repeat("1", longestNumber)+"x"+strings.Repeat("2", longestNumber))), before)
	}
}

// TestLinesAreNoNumbers: what is kept for a number that is none is not shortened.
func TestLinesAreNoNumbers(t *testing.T) {
	for text, want := range map[string]bool{
		strings.Repeat("-", 1000): false, strings.Repeat("e", 1000): false, strings.Repeat("1.", 1000): false, strings.Repeat("1", 64): false,
		strings.Repeat("1", 65): true, "-0." + strings.Repeat("1", 65) + "e+9": true,
	} {
		require.Equal(t, want, HasLongNumber([]byte(strings.Repeat(" ", 60)+text+strings.Repeat(" ", 60))), text)
	}
}
