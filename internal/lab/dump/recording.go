package dump

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/internal/rawjson"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Last returns the last request about each custom resource that is recorded in a folder, of those that
// are selected.
func Last(dir string, controllers []metacontroller.Controller, selected func(metacontroller.Controller, kube.Ref) bool) (map[kube.Ref]corpus.Case, error) {
	last := map[kube.Ref]corpus.Case{}
	err := corpus.Each(dir, "*", controllers, func(c corpus.Case) error {
		parent, err := kube.ParseObject(rawjson.Lookup(c.Request, "parent"))
		if err != nil {
			return fmt.Errorf("%s: the parent: %w", c.Name, err)
		}
		ref := kube.RefOf(parent)
		if other, isKnown := last[ref]; c.Hook != metacontroller.CustomizeHook && selected(c.Controller, ref) && (!isKnown || !c.Now.Before(other.Now)) {
			last[ref] = c
		}
		return nil
	})
	return last, err
}

// Recorded returns the objects of the last request about each custom resource that is recorded in a
// folder, one after the other in JSON.
func Recorded(dir string, controllers []metacontroller.Controller) ([]byte, error) {
	last, err := Last(dir, controllers, func(metacontroller.Controller, kube.Ref) bool { return true })
	if err != nil {
		return nil, err
	}
	if len(last) == 0 {
		return nil, fmt.Errorf("there is no <kind>/<hook>/<case>.in.yaml below %s", dir)
	}
	var texts [][]byte
	for _, ref := range slices.SortedFunc(maps.Keys(last), kube.Ref.Compare) {
		texts = append(texts, ObjectsOf(last[ref].Request))
	}
	return bytes.Join(texts, []byte("\n")), nil
}

// ObjectsOf returns all objects of a request, one after the other.
func ObjectsOf(request []byte) []byte {
	objects := slices.Clone(rawjson.Lookup(request, "parent"))
	for _, member := range []string{"children", "related"} {
		rawjson.Members(rawjson.Lookup(request, member), func(_, group []byte) bool {
			rawjson.Members(group, func(_, object []byte) bool {
				objects = append(append(objects, '\n'), object...)
				return true
			})
			return true
		})
	}
	return objects
}
