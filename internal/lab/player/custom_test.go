package player

import (
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/metacontroller"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const toyCRD = `
metadata: {name: toys.toys.example.com}
spec:
  scope: Namespaced
  versions:
  - name: v1
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              color: {type: string, default: brown, enum: [brown, blue]}
              size: {type: integer, x-kubernetes-validations: [{rule: "self >= oldSelf", message: "a toy does not shrink"}]}
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            default: {phase: Unseen}
            properties: {phase: {type: string, enum: [Unseen, Seen]}}
`

var definition = metacontroller.NewCRD([]byte(toyCRD))

const toyText = "{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: t}, "

// definedToy returns a toy with a definition, whose hook reports a phase.
func definedToy(phase string) *toy {
	y := newToy(configMaps)
	y.CRD = definition
	y.sync = func(r request) any {
		whole := answer(true, object("v1", "ConfigMap", "c", map[string]any{
			"data": map[string]any{"color": r.Parent["spec"].(map[string]any)["color"]},
		}))
		whole["status"].(map[string]any)["phase"] = phase
		return whole
	}
	return y
}

func TestACustomResourceIsWhatItsDefinitionMakesOfIt(t *testing.T) {
	y := definedToy("Seen")
	w := y.world(t)
	first := w.Get(toyRef)
	require.Equal(t, map[string]any{"color": "brown"}, first.Object["spec"])
	require.Equal(t, map[string]any{"phase": "Unseen"}, first.Object["status"], "which the first request shows")
	require.NoError(t, w.Play())
	require.Equal(t, "brown", w.Get(kube.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "c"}).Object["data"].(map[string]any)["color"])

	apply(t, w, toyText+"spec: {size: 3, colour: red}}")
	require.Equal(t, map[string]any{"color": "brown", "size": int64(3)}, w.Get(toyRef).Object["spec"])
	require.NoError(t, w.Play())
	for spec, want := range map[string]string{
		"{size: 2}":              `Toy.toys.example.com "t" is invalid: spec.size: Invalid value: 2: a toy does not shrink`,
		"{size: 3, color: red}":  `Toy.toys.example.com "t" is invalid: spec.color: Unsupported value: "red": supported values: "brown", "blue"`,
		"{size: three}":          `spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`,
		"{size: 3, color: null}": "",
	} {
		err := w.Apply(toJSON(t, toyText+"spec: "+spec+"}"))
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.True(t, apierrors.IsInvalid(err), "%s: %v", spec, err)
		require.Contains(t, err.Error(), want)
	}
	require.Equal(t, map[string]any{"color": "brown", "size": int64(3)}, w.Get(toyRef).Object["spec"])
	require.NoError(t, w.Play())
}

func TestAStatusThatTheDefinitionRefusesIsNotWritten(t *testing.T) {
	w := definedToy("Lost").world(t)
	_ = w.Play()
	require.Equal(t, map[string]any{"phase": "Unseen"}, w.Get(toyRef).Object["status"])
	require.Contains(t, w.Outcomes()[0].Failure, `can't update status: Toy.toys.example.com "t" is invalid: status.phase: Unsupported value: "Lost"`)
}

func TestValidationCanBeSkipped(t *testing.T) {
	w := definedToy("Lost").world(t, func(o *Options) { o.SkipValidation = true })
	apply(t, w, toyText+"spec: {size: three}}")
	require.Equal(t, map[string]any{"color": "brown", "size": "three"}, w.Get(toyRef).Object["spec"], "with the defaults")
	require.NoError(t, w.Play())
	require.Error(t, w.Apply(toJSON(t, "{apiVersion: toys.example.com/v1, kind: Toy, metadata: {name: T_1}}")))
}
