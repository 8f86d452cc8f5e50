package composite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Call calls a hook: it posts a body to a path such as /modelbox/sync, and
// returns the status and body of the response. Now is the simulated time, for a
// server whose clock can be set. The error is that of the transport.
type Call func(now time.Time, path string, body []byte) (status int, answer []byte, err error)

type response struct {
	Status             map[string]any    `json:"status"`
	Children           []json.RawMessage `json:"children"`
	ResyncAfterSeconds float64           `json:"resyncAfterSeconds"`
	Finalized          bool              `json:"finalized"`
}

type rules struct {
	RelatedResources []*metacontroller.Rule `json:"relatedResources"`
}

type group struct {
	kind    apiserver.Kind
	objects []kube.Object
}

// requestBody returns the body of a request. Without groups it is that of a customize hook.
func (m *Metacontroller) requestBody(p *Parent, object kube.Object, children, related []group, finalizing bool) []byte {
	var b bytes.Buffer
	b.Grow(p.requested + p.requested/8)
	b.WriteString(`{"controller":`)
	b.Write(m.manifest(p.controller))
	b.WriteString(`,"parent":`)
	b.Write(m.cache.JSON(object))
	if children != nil {
		b.WriteString(`,"children":`)
		m.writeGroups(&b, children)
		b.WriteString(`,"related":`)
		m.writeGroups(&b, related)
		fmt.Fprintf(&b, `,"finalizing":%t`, finalizing)
	}
	b.WriteByte('}')
	p.requested = b.Len()
	return b.Bytes()
}

// writeGroups writes objects by kind and by key, in the order of the keys. Keys
// are names in hook version v1.
func (m *Metacontroller) writeGroups(b *bytes.Buffer, groups []group) {
	sortedGroups := slices.Clone(groups)
	slices.SortFunc(sortedGroups, func(a, b group) int { return bytes.Compare([]byte(a.kind.Key()), []byte(b.kind.Key())) })
	b.WriteByte('{')
	for i, g := range sortedGroups {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "%q:{", g.kind.Key())
		for j, object := range g.objects {
			if j > 0 {
				b.WriteByte(',')
			}
			ref := kube.RefOf(object)
			key := ref.Key()
			if m.options.HookVersion == "v1" {
				key = ref.Name
			}
			fmt.Fprintf(b, "%q:", key)
			b.Write(m.cache.JSON(object))
		}
		b.WriteByte('}')
	}
	b.WriteByte('}')
}

func (m *Metacontroller) manifest(c *metacontroller.Controller) []byte {
	if text, made := m.memory.manifests[c.Name()]; made {
		return text
	}
	text, err := m.storedManifest(c)
	if err != nil {
		panic(err) // every declaration can be printed
	}
	m.memory.manifests[c.Name()] = text
	return text
}

func (m *Metacontroller) storedManifest(c *metacontroller.Controller) ([]byte, error) {
	printed, err := m.options.Installation.CompositeController(*c, "")
	if err != nil {
		return nil, err
	}
	object := map[string]any{}
	if err := yaml.Unmarshal(printed, &object); err != nil {
		return nil, err
	}
	for name, hook := range object["spec"].(map[string]any)["hooks"].(map[string]any) {
		hook.(map[string]any)["version"] = m.version(c, metacontroller.HookName(name))
	}
	object["metadata"].(map[string]any)["generation"] = 1
	object["status"] = map[string]any{}
	return json.Marshal(object)
}

// version returns the version in which a hook is called: v1 if all are, or as it is installed.
func (m *Metacontroller) version(c *metacontroller.Controller, hook metacontroller.HookName) string {
	if m.options.HookVersion == "v1" {
		return "v1"
	}
	return manifests.HookVersion(*c, hook)
}

func (m *Metacontroller) call(p *Parent, hook metacontroller.HookName, body []byte, into any) ([]byte, error) {
	p.Calls++
	status, answer, err := m.options.Call(m.server.Now(), "/"+p.controller.Name()+"/"+string(hook), body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s hook: %w", hook, err)
	case status != http.StatusOK:
		return nil, fmt.Errorf("%s hook: %d: %s", hook, status, bytes.TrimSpace(answer))
	}
	strict, err := kjson.UnmarshalStrict(answer, into)
	if err == nil && m.version(p.controller, hook) != "v1" {
		err = errors.Join(strict...)
	}
	if err != nil {
		return nil, fmt.Errorf("%s hook: its answer cannot be read: %w", hook, err)
	}
	return answer, nil
}

func checkChildren(children []*desired) error {
	for i, child := range children {
		if child == nil {
			return fmt.Errorf("children[%d] is null: Metacontroller crashes", i)
		}
		if child.ref.Name == "" {
			return fmt.Errorf("children[%d], a %s, has no name", i, child.ref.Kind)
		}
	}
	return nil
}
