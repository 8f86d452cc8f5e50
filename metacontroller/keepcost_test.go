package metacontroller

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/processor"
)

// TestKeepCostsLittle is an attack: whoever may edit a child may make it as
// large as the API server stores, and write as much about what was applied to
// it. To look through a list for each of its items took minutes, which no
// deadline ended, and with it all turns of the server.
func TestKeepCostsLittle(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("it measures, and takes long: make cover")
	}
	many := func(n int, item func(i int) string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = item(i)
		}
		return strings.Join(items, ",")
	}
	named := func(i int) string { return fmt.Sprintf(`{"name":"a%x"}`, i) }
	list := func(items string) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"ns"%s},"spec":{"list":[` + items + `]}}`
	}
	applied := func(object, items string) string {
		text, err := json.Marshal(`{"spec":{"list":[` + items + `]}}`)
		require.NoError(t, err)
		return strings.Replace(object, "%s", `,"annotations":{"`+LastAppliedAnnotation+`":`+string(text)+`}`, 1)
	}
	managed := func(object, items string) string {
		entry := `,"managedFields":[{"operation":"Apply","fieldsV1":{"f:spec":{"f:list":{` + items + `}}}}]`
		return strings.Replace(object, "%s", entry, 1)
	}
	for name, object := range map[string]string{
		"items with a key": applied(list(many(60_000, named)), many(14_000, func(i int) string { return named(59_999 - i) })),
		"items without":    applied(list(many(85_000, func(int) string { return `""` })), many(85_000, func(int) string { return `""` })),
		"managed fields": managed(list(many(30_000, named)),
			many(30_000, func(i int) string { return fmt.Sprintf(`"k:{\"name\":\"a%x\"}":{".":{},"f:name":{}}`, 29_999-i) })),
		"managed values": managed(list(many(60_000, func(i int) string { return fmt.Sprintf(`"a%x"`, i) })),
			many(60_000, func(i int) string { return fmt.Sprintf(`"v:\"a%x\"":{}`, 59_999-i) })),
		"keys of all kinds": managed(list(many(30_000, named)),
			many(30_000, func(i int) string { return fmt.Sprintf(`"k:{\"name\":1,\"a%x\":1}":{}`, i) })),
		"fields that are not there": managed(list(""), strings.Repeat(`"f:a":{`, 5000)+strings.Repeat("}", 5000)+","+
			many(60_000, func(i int) string { return fmt.Sprintf(`"f:%x":{}`, 59_999-i) })),
	} {
		t.Run(name, func(t *testing.T) {
			request := keepRequest(t, false, false, object)
			took, err := processor.Time(func() {
				if _, err := deployments().Call(SyncHook, noon, request); err != nil {
					require.ErrorContains(t, err, "that Metacontroller can apply")
				}
			})
			require.NoError(t, err)
			// Half a second, and minutes where it goes by the square.
			require.Less(t, took, 10*time.Second)
		})
	}
}

// TestLongListsAreKeptInTime: who may edit a child can give it as many items,
// and say of each that it was applied. To look for each of them among all the
// others took more than 30 s, in which one of a few places was taken.
func TestLongListsAreKeptInTime(t *testing.T) {
	if underRace || testing.Short() {
		t.Skip("it measures, and takes long: make cover")
	}
	const count = 20_000
	var items, owned, values, valuesOwned, entries []string
	for i := range count {
		items = append(items, fmt.Sprintf(`{"name":"A%d"}`, i))
		values = append(values, fmt.Sprintf(`"A%d"`, i))
		owned = append(owned, fmt.Sprintf(`"k:{\"name\":\"A%d\"}":{".":{},"f:name":{}}`, count-i)) // in the worst order
		valuesOwned = append(valuesOwned, fmt.Sprintf(`"v:\"A%d\"":{}`, count-i))
	}
	for range count {
		entries = append(entries, `{"operation":"Apply","fieldsV1":{"f:list":{"k:{\"name\":\"A1\"}":{}}}}`)
	}
	list, set := "["+strings.Join(items, ",")+"]", "["+strings.Join(values, ",")+"]"
	managed := func(fields string) string {
		return `"managedFields":[{"operation":"Apply","fieldsV1":{"f:list":{` + fields + `}}}]`
	}
	for name, test := range map[string]struct{ list, metadata string }{
		"annotation":     {list, fmt.Sprintf(`"annotations":{%q:%q}`, LastAppliedAnnotation, `{"list":`+list+`}`)},
		"managed fields": {list, managed(strings.Join(owned, ","))},
		"set":            {set, managed(strings.Join(valuesOwned, ","))},
		"many owners":    {list, managed(strings.Join(owned, ","))[:len(managed(strings.Join(owned, ",")))-1] + "," + strings.Join(entries, ",") + "]"},
	} {
		keep := func(_ *greeting, seen Observed) (greetingResult, error) {
			child, _ := seen.Children.Find("v1", "ConfigMap", "a")
			whole, err := Keep(child).(*kept).wire(InPlace)
			if err == nil {
				require.Len(t, whole.Object["list"], count-map[bool]int{true: 1}[name != "annotation"], name)
			}
			return greetingResult{Status: map[string]any{}}, err
		}
		request := ask(false, observed("ConfigMap", "a", ","+test.metadata+`},"list":`+test.list+`,"x":{"y":{}`), "")
		took, err := processor.Time(func() {
			_, err := controllerOf(keep).Call(SyncHook, noon, request)
			require.NoError(t, err, name)
		})
		require.NoError(t, err)
		require.Less(t, took, 5*time.Second, name)
	}
}
