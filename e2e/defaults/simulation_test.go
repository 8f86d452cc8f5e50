package defaults

import (
	"encoding/json"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
)

// bySimulation returns an object as the simulated API server stores it. The error
// is a refusal.
func bySimulation(object kube.Object) (map[string]any, error) {
	server := apiserver.New(apiserver.Options{Kinds: apiserver.NewCatalogue(nil), Now: func() time.Time { return time.Unix(0, 0) }})
	stored, err := server.Create(apiserver.ByUser, object)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(stored.Object)
	if err != nil {
		return nil, err
	}
	return kube.ParseJSON(text)
}
