package metacontroller

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// greetingCRD is the CustomResourceDefinition of a greeting.
const greetingCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greetings.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Greeting, plural: greetings}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        x-kubernetes-validations:
        - {rule: "self.metadata.name != 'taken'", message: "metadata.name is taken: write another"}
        properties:
          spec:
            type: object
            required: [text, mood]
            x-kubernetes-validations:
            - {rule: "self.text != 'rude'", message: "write something kind"}
            properties:
              text: {type: string, maxLength: 10, pattern: "^[a-z]*$"}
              mood: {type: string, default: good, enum: [good, bad]}
              replicas: {type: integer, minimum: 0}
              since: {type: string, format: date-time}
              words: {type: array, items: {type: string}}
              byName: {type: object, additionalProperties: {type: integer}}
              set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
          status: {type: object, required: [never]}
`

// validated returns an operator with a CRD.
func validated(hook func(*greeting, Observed) (greetingResult, error)) Controller {
	c := controllerOf(hook)
	c.CRD = definition
	return c
}

var definition = NewCRD([]byte(greetingCRD))

func sayHello(*greeting, Observed) (greetingResult, error) {
	return greetingResult{Status: map[string]any{}, Children: []Object{configMap("m")}}, nil
}

func withSpec(spec string) []byte {
	return []byte(strings.Replace(string(ask(false, "", "")), `"spec":{"text":"hello","replicas":9007199254740993},`, spec, 1))
}

func TestWhatTheCRDRefusesIsRefused(t *testing.T) {
	const prefix = "the API server would refuse this Greeting: "
	secret := "hunter2"
	for name, test := range map[string]struct{ parent, want string }{
		"a valid one":             {`"spec":{"text":"hello"},`, ""},
		"an unknown field":        {`"spec":{"text":"hello","unknown":{"a":1}},`, ""},
		"no spec":                 {``, prefix + "spec: is missing: write it"},
		"a spec that is null":     {`"spec":null,`, "the parent has a spec or status that is no object"},
		"a required field":        {`"spec":{},`, prefix + "spec.text: is missing: write it"},
		"a wrong type":            {`"spec":{"text":5},`, prefix + "spec.text: must be of type string"},
		"a value that is too low": {`"spec":{"text":"a","replicas":-1},`, prefix + "spec.replicas: should be greater than or equal to 0"},
		"an enum":                 {`"spec":{"text":"a","mood":"` + secret + `"},`, prefix + `spec.mood: must be one of the supported values: "good", "bad"`},
		"a pattern":               {`"spec":{"text":"` + secret + `"},`, prefix + "spec.text: should match '^[a-z]*$'"},
		"a length":                {`"spec":{"text":"` + strings.Repeat("a", 11) + `"},`, prefix + "spec.text: may not be more than 10 bytes"},
		"a format":                {`"spec":{"text":"a","since":"` + secret + `"},`, prefix + "spec.since: must be of type date-time"},
		"a set":                   {`"spec":{"text":"a","set":["` + secret + `","` + secret + `"]},`, prefix + "spec.set[1]: stands twice: write each once"},
		"a rule":                  {`"spec":{"text":"rude"},`, prefix + "spec: write something kind"},
		"many at once":            {`"spec":{"text":"a","words":[1,2,3,4,5]},`, prefix + "spec.words[0]: must be of type string; spec.words[1]: must be of type string; spec.words[2]: must be of type string; and 2 more"},
		"a long key with control characters": {`"spec":{"text":"a","byName":{"\u001b` + strings.Repeat("k", 500) + `":"x"}},`,
			prefix + `spec.byName.\u001b` + strings.Repeat("k", 150-len(`spec.byName.\u001b`)) + "...: must be of type integer"},
		"a number that is none": {`"spec":{"text":"a","replicas":1e999},`, `the parent cannot be decoded: `},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // the second time by the remembered verdict
				answer, err := validated(sayHello).Call(SyncHook, noon, withSpec(test.parent))
				if test.want == "" {
					require.NoError(t, err)
					require.Len(t, answer.Children, 1)
					continue
				}
				require.ErrorContains(t, err, test.want)
				require.True(t, IsRequestError(err))
				require.Nil(t, answer.Body)
				require.NotContains(t, err.Error(), secret)
				require.NotContains(t, err.Error(), "\n")
			}
		})
	}
}

// TestVerdictsAreNotMixedUp asks about parents that differ in one place each,
// so that a verdict that is remembered for another one would show.
func TestVerdictsAreNotMixedUp(t *testing.T) {
	valid := string(withSpec(`"spec":{"text":"hello"},`))
	requests := map[string]bool{
		valid: true,
		strings.Replace(valid, `"hello"`, `"rude"`, 1):                        false,
		strings.Replace(valid, `"name":"hi"`, `"name":"taken"`, 1):            false,
		strings.Replace(valid, `"generation":3`, `"generation":4`, 1):         true,
		strings.Replace(valid, `"old":true`, `"old":false`, 1):                true,
		strings.Replace(valid, `"spec":{"text":"hello"},`, ``, 1):             false,
		strings.Replace(valid, `"spec":{`, `"spec":{"text":"rude"},"x":{`, 1): false,
	}
	for range 2 {
		for request, fits := range requests {
			_, err := validated(sayHello).Call(SyncHook, noon, []byte(request))
			require.Equal(t, fits, err == nil, "%s: %v", request, err)
		}
	}
}

func TestNothingIsValidatedWithoutACRD(t *testing.T) {
	_, err := controllerOf(sayHello).Call(SyncHook, noon, withSpec(``))
	require.NoError(t, err)
	require.NoError(t, controllerOf(sayHello).LoadCRD())
}

func TestABrokenCRDIsTold(t *testing.T) {
	for crd, want := range map[string]string{
		"kind: [":                 "greeting: reading the CustomResourceDefinition: ",
		"metadata: {name: other}": "greeting: the CustomResourceDefinition other has no version v1",
	} {
		c := controllerOf(sayHello)
		c.CRD = NewCRD([]byte(crd))
		require.ErrorContains(t, c.LoadCRD(), want)
		_, err := c.Call(SyncHook, noon, ask(false, "", ""))
		require.ErrorContains(t, err, "the parent cannot be validated: ")
		require.False(t, IsRequestError(err))
	}
	require.NoError(t, validated(sayHello).LoadCRD())
}

// TestValidationIsBounded sends what would become a great many errors.
func TestValidationIsBounded(t *testing.T) {
	for name, test := range map[string]struct{ spec, want string }{
		"many errors": {`{"text":"a","words":[1` + strings.Repeat(",1", 2000) + `]}`,
			"spec.words[1001]: must be of type string; and 1998 more"},
		"deep nesting": {`{"text":"a","unknown":` + strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000) + `,"words":` + strings.Repeat(`[`, 900) + strings.Repeat(`]`, 900) + `}`,
			"spec.words[0]: must be of type string"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := validated(sayHello).Call(SyncHook, noon, withSpec(`"spec":`+test.spec+`,`))
			require.ErrorContains(t, err, test.want)
			require.True(t, IsRequestError(err))
			require.Less(t, len(err.Error()), 2000)
		})
	}
}

// TestValidationIsCanceled with the cause, by which a server tells a call that
// was late from one that nobody waits for.
func TestValidationIsCanceled(t *testing.T) {
	late := errors.New("too late")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(late)
	_, err := validated(sayHello).CallContext(ctx, SyncHook, noon, withSpec(`"spec":{"text":"never"},`), 0)
	require.ErrorIs(t, err, late)
}
