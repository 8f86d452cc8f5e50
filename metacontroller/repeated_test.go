package metacontroller

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDuplicateKeysAreRefused: validation takes the last member of a name, and
// decoding makes one of both, so that a hook would see what nobody has validated.
func TestDuplicateKeysAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ from, to, twice string }{
		"the spec":              {`"spec":{`, `"spec":{"replicas":-5},"spec":{`, "spec"},
		"the metadata":          {`"spec":{`, `"metadata":{"name":"hi","namespace":"ns","labels":{"a":"b"}},"spec":{`, "metadata"},
		"in the spec":           {`"text":"hello"`, `"text":"rude","text":"hello"`, "text"},
		"one of them escaped":   {`"text":"hello"`, `"\u0074ext":"rude","text":"hello"`, "text"},
		"in a list":             {`"text":"hello"`, `"text":"hello","x":[1,{"y":[{"z":1,"a":{"z":2},"z":3}]}]`, "z"},
		"an empty name":         {`"text":"hello"`, `"text":"hello","x":{"":1,"":2}`, ""},
		"behind deep nesting":   {`"text":"hello"`, `"text":"hello","x":` + strings.Repeat(`{"a":[`, 4000) + strings.Repeat(`]}`, 4000) + `,"y":{"b":1,"b":2}`, "b"},
		"names that occur once": {`"text":"hello"`, `"text":"hello","x":{"spec":1,"text":["text","text",{"text":1}],"y":{"y":1}}`, "-"},
		"strings that are none": {`"text":"hello"`, `"text":"hello","x":["a","a"],"y":"{\"a\":1,\"a\":1}"`, "-"},
	} {
		for _, hook := range []HookName{SyncHook, FinalizeHook, CustomizeHook} {
			t.Run(name+" in "+string(hook), func(t *testing.T) {
				c := controllerOf(sayHello)
				c.Customize = Customize(func(*greeting) ([]Rule, error) { return nil, nil })
				request := strings.Replace(string(ask(hook == FinalizeHook, "", "")), test.from, test.to, 1)
				_, err := c.Call(hook, noon, []byte(request))
				if test.twice == "-" {
					require.NoError(t, err)
					return
				}
				require.EqualError(t, err, `the parent has two members "`+test.twice+`" in one object: write each once`)
				require.True(t, IsRequestError(err))
			})
		}
	}
}
