package page

import (
	"maps"

	"github.com/operetta-dev/operetta/internal/lab/player"
)

// shown returns what is shown of an object.
func shown(object player.Object) map[string]any {
	content := maps.Clone(object.Object)
	metadata, _ := content["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	delete(metadata, "managedFields")
	if annotations, ok := metadata["annotations"].(map[string]any); ok {
		annotations = maps.Clone(annotations)
		for _, name := range player.LastApplied {
			delete(annotations, name)
		}
		metadata["annotations"] = annotations
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	content["metadata"] = metadata
	if object.GetKind() != "Secret" {
		return content
	}
	for _, member := range []string{"data", "stringData"} {
		if values, ok := content[member].(map[string]any); ok {
			values = maps.Clone(values)
			for key := range values {
				values[key] = player.Hidden
			}
			content[member] = values
		}
	}
	return content
}
