package corpus

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Sample is a custom resource as a user writes it, as the sync request of which
// nothing is observed yet. Its name is the path of its file below the folder of
// samples, without the ending.
type Sample struct {
	Case

	// Path is the file.
	Path string
	// Parent is the custom resource in JSON, Beside the objects that follow it in
	// the file.
	Parent []byte
	Beside [][]byte
}

// Objects returns all objects of the file in JSON, the custom resource first.
func (s Sample) Objects() [][]byte { return append([][]byte{s.Parent}, s.Beside...) }

// Samples returns the custom resources below a folder, in the order of their paths:
// each is the first document of a file. Kustomizations are left out. A folder that
// is not there has none. An error names the file and says what to write.
func Samples(dir string, controllers metacontroller.Controllers) ([]Sample, error) {
	var samples []Sample
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" || entry.Name() == "kustomization.yaml" {
			return err
		}
		sample, err := readSample(path, controllers)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		relative, err := filepath.Rel(dir, strings.TrimSuffix(path, ".yaml"))
		sample.Name = filepath.ToSlash(relative)
		samples = append(samples, sample)
		return err
	})
	return samples, err
}

func readSample(path string, controllers metacontroller.Controllers) (Sample, error) {
	text, err := documents.ReadFile(path)
	if err != nil {
		return Sample{}, err
	}
	objects, err := documents.Objects(text)
	if err != nil {
		return Sample{}, err
	}
	sample := Sample{Path: path}
	if len(objects) > 0 {
		sample.Parent, sample.Beside = objects[0], objects[1:]
	}
	var id struct{ APIVersion, Kind string }
	if err := json.Unmarshal(sample.Parent, &id); err != nil || id.APIVersion == "" || id.Kind == "" {
		return sample, errors.New("the first document is no object: set apiVersion and kind")
	}
	controller := controllers.Of(id.APIVersion, id.Kind)
	if controller == nil {
		return sample, fmt.Errorf("there is no operator for the kind %s of %s: the custom resource comes first, and what is beside it after that", id.Kind, id.APIVersion)
	}
	sample.Controller, sample.Hook, sample.Now = *controller, metacontroller.SyncHook, StandardNow
	sample.Request, err = Complete(sample.Controller, metacontroller.SyncHook, sample.Parent)
	return sample, err
}
