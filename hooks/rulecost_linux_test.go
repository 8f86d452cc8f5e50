package hooks_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/processor"
)

// many returns a list in JSON of n entries, each with its number in the place of #.
func many(n int, entry string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = strings.ReplaceAll(entry, "#", fmt.Sprint(i))
	}
	return "[" + strings.Join(entries, ",") + "]"
}

// containersWith returns n containers, each with a field.
func containersWith(n int, name, field string) string {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"name":"%s-%d","image":"x",%s}`, name, i, field)
	}
	return "[" + strings.Join(entries, ",") + "]"
}

// mounts returns n mounts of the last of some volumes.
func mounts(n, volumes int) string {
	return fmt.Sprintf(`"volumeMounts":%s`, many(n, fmt.Sprintf(`{"name":"v-%d","mountPath":"/m-#"}`, volumes-1)))
}

// fullest returns specs by kind and by what is as often in them as maxItems admits:
// what the rules hold against each other.
func fullest() map[string]map[string]string {
	volumes := func(n int) string { return many(n, `{"name":"v-#","emptyDir":{}}`) }
	specs := map[string]map[string]string{
		"build": {
			"mounts": fmt.Sprintf(`{"source":{"git":{"url":"https://a.b/c","revision":"m"}},"volumes":%s,"steps":%s}`,
				volumes(20), containersWith(20, "s", mounts(20, 20))),
		},
		"modelbox": {
			"mounts": fmt.Sprintf(`{"image":"x",%s,"volumes":%s,"sidecars":%s,"initContainers":%s}`,
				mounts(50, 50), volumes(50), containersWith(20, "s", mounts(64, 50)), containersWith(20, "i", mounts(64, 50))),
			"names": fmt.Sprintf(`{"image":"x","sidecars":%s,"initContainers":%s}`, containersWith(20, "s", `"tty":true`), containersWith(20, "i", `"tty":true`)),
			"ports": fmt.Sprintf(`{"image":"x","serviceType":"NodePort","ports":%s}`, many(50, `{"port":1#,"name":"p-#","nodePort":305#}`)),
		},
		"podset": {}, "myjob": {}, "podbuggertool": {}, "dataservice": {},
	}
	template := fmt.Sprintf(`{"spec":{"containers":%s,"initContainers":%s,"volumes":%s}}`,
		containersWith(64, "c", mounts(64, 64)), containersWith(64, "i", mounts(64, 64)), volumes(64))
	specs["podset"]["mounts"] = fmt.Sprintf(`{"size":1,"template":%s}`, template)
	specs["myjob"]["mounts"] = fmt.Sprintf(`{"template":%s}`, template)
	specs["dataservice"]["ports"] = fmt.Sprintf(`{"eureka":{"image":"x","port":1,"ports":%s}}`, many(20, `{"port":1#,"name":"p-#","nodePort":305#}`))
	specs["podbuggertool"]["selectors"] = fmt.Sprintf(`{"image":"x","selector":{"matchExpressions":%s}}`,
		many(16, `{"key":"k-#","operator":"In","values":`+many(5, `"v"`)+`}`))
	return specs
}

// TestRulesAreCheap validates the largest custom resources: each is admitted, when it
// is created and when it is edited, for what an API server and a hook spend on it grows
// with the number of its values alone. CEL's own budget does not count the
// conversion of each entry that a rule looks at.
func TestRulesAreCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make cover")
	}
	const most = 150 * time.Microsecond // of a processor for each value
	for _, controller := range hooks.All() {
		require.NotEmpty(t, fullest()[controller.Name()])
		schema, err := crd.Compiled(controller.CRD, controller.Parent.Version())
		require.NoError(t, err)
		for what, spec := range fullest()[controller.Name()] {
			t.Run(controller.Name()+"/"+what, func(t *testing.T) {
				text := fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":"full","namespace":"default","resourceVersion":"1"},"spec":%s}`,
					controller.Parent.APIVersion, controller.Parent.Kind, spec)
				values := strings.Count(text, ":")
				for _, isEdit := range []bool{false, true} {
					var took time.Duration
					for try := 0; try < 8 && (try == 0 || took > most*time.Duration(values)); try++ { // a busy machine can only make it seem more
						object, old := decoded(t, text), map[string]any(nil)
						if isEdit {
							old = decoded(t, text)
						}
						now, err := processor.Time(func() {
							_, errs := schema.Admit(t.Context(), object, old)
							require.Empty(t, errs)
						})
						require.NoError(t, err)
						if try == 0 || now < took {
							took = now
						}
					}
					t.Logf("%d bytes, %d values, edit %t: %v, %v for each", len(text), values, isEdit, took, took/time.Duration(values))
					require.LessOrEqual(t, took, most*time.Duration(values))
				}
			})
		}
	}
}

// TestNoRuleReadsAQuantity: to read one with an exponent of nine digits takes minutes, and the API server
// evaluates the rules even where the pattern has refused it.
func TestNoRuleReadsAQuantity(t *testing.T) {
	for _, controller := range hooks.All() {
		for _, rule := range writtenRules(t, controller) {
			require.NotRegexp(t, `(?i)quantity\(`, rule.Rule, controller.Name())
		}
	}
}

func decoded(t *testing.T, text string) (object map[string]any) {
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &object))
	return object
}

var (
	macro    = regexp.MustCompile(`\.(all|exists|exists_one|map|filter)\(`)
	ofSelf   = regexp.MustCompile(`\b(self|oldSelf)[.\w]*\.(all|exists|exists_one|map|filter)\(`)
	inQuotes = regexp.MustCompile(`'[^']*'`)
)

// TestNoRuleGoesThroughAListForEachEntryOfAnother finds the rules that look at each
// entry of one list for each of another one: they have to take out once what they
// compare, as [names].all(l, ...) does, where what comes before .all is a list of
// one.
func TestNoRuleGoesThroughAListForEachEntryOfAnother(t *testing.T) {
	for _, controller := range hooks.All() {
		for _, rule := range writtenRules(t, controller) {
			text := inQuotes.ReplaceAllString(rule.Rule, "''")
			for _, at := range macro.FindAllStringIndex(text, -1) {
				if text[at[0]-1] == ']' {
					continue
				}
				inner := argument(text[at[1]:])
				require.False(t, ofSelf.MatchString(inner), "%s: %s: %s", controller.Name(), rule.Message, rule.Rule)
			}
		}
	}
}

// argument returns a text up to the parenthesis that closes it.
func argument(text string) string {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return text[:i]
			}
		}
	}
	return text
}
