package why_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRefusalsAreTakenApart: an event has those of all children, of any kind, in one sentence.
func TestRefusalsAreTakenApart(t *testing.T) {
	const (
		deployment = `deployments.apps "sentiment" is forbidden: exceeded quota: small, requested: count/deployments.apps=1`
		service    = `Service "sentiment" is invalid: [spec.ports[0].nodePort: Invalid value: 30555: provided port is already allocated, spec.type: Unsupported value]`
		policy     = `admission webhook "policy.example.com" denied the request: no images of others, please`
		other      = `admission webhook "names.example.com" denied the request: no`
	)
	for message, want := range map[string]string{
		service:                                 service,
		"[" + deployment + ", " + service + "]": service,
		"[" + service + ", " + deployment + "]": service,
		"[" + policy + ", " + deployment + "]":  policy,
		"[" + policy + ", " + other + "]":       policy + "; " + other,
		deployment + "\n" + service:             service,
	} {
		s := begin(t, "modelbox")
		s.without("Service")
		s.warnAgo(0, "Sync error: can't reconcile children for ModelBox default/sentiment: "+message)
		answer := s.answer()
		for i, c := range answer.Because {
			if c.Ref.Kind == "Service" {
				require.Equal(t, want, answer.Because[i].Message)
			}
		}
		require.Equal(t, "Service", answer.Because[0].Ref.Kind, textOf(answer))
	}
}
