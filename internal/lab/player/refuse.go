package player

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
)

// refuse makes the API server refuse objects of a kind.
const refuse = "refuse"

// off ends refusals.
const off = "off"

// refuse begins or ends a refusal, and lets what was refused be tried again.
func (w *World) refuse(a Action) {
	kind, how := refusalOf(a)
	switch {
	case kind == off:
		w.server.EndRefusals(func(_ string, how apiserver.Refusal) bool { return how == apiserver.OverQuota })
	case how == off:
		w.server.EndRefusals(func(of string, how apiserver.Refusal) bool { return of == kind && how != apiserver.OverQuota })
	default:
		w.server.SetRefusal(kind, how)
	}
	w.note("creations are refused: " + strings.TrimSpace(a.Target+" "+a.Detail))
	w.builtin.CheckAll()
}

// refusalOf returns the kind and the way of a quota or another refusal.
func refusalOf(a Action) (kind string, how apiserver.Refusal) {
	if a.Do == "quota" {
		return a.Target, apiserver.OverQuota
	}
	return a.Target, apiserver.Refusal(cmp.Or(a.Detail, string(apiserver.ByWebhook)))
}

// inVain says why nothing was refused.
func inVain(kind string, how apiserver.Refusal) string {
	switch how {
	case apiserver.BySecurity:
		return "nobody creates a Pod after that which violates the standard"
	case apiserver.NoAccount:
		return "nobody creates a Pod after that without an existing ServiceAccount"
	case apiserver.PortTaken:
		return "no Service asks for a node port after that"
	default:
		return fmt.Sprintf("nobody creates a %s after that", kind)
	}
}
