package manifests

import (
	_ "embed"

	"github.com/operetta-dev/operetta/metacontroller"
)

//go:embed health.lua
var healthScript string

// ArgoCDHealth prints a patch for the ConfigMap argocd-cm with the health check
// of each kind.
func ArgoCDHealth(controllers []metacontroller.Controller) ([]byte, error) {
	data := map[string]string{}
	for _, c := range controllers {
		data["resource.customizations.health."+c.Parent.Group()+"_"+c.Parent.Kind] = healthScript
	}
	return document(map[string]any{"data": data})
}
