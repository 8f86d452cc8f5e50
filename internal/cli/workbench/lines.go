package workbench

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// mostLocated is the size in bytes of the largest document whose lines are
// searched, which takes many times the memory.
const mostLocated = 4 << 20

// firstLines returns the line on which each part of a text begins, counted from
// 1, or 0 if unknown.
func firstLines(text []byte, parts [][]byte) []int {
	lines := make([]int, len(parts))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) // the parts have \n
	line := 1
	for i, part := range parts {
		at := bytes.Index(text, part)
		if at < 0 {
			return lines
		}
		line += bytes.Count(text[:at], []byte("\n"))
		lines[i] = line
		line += bytes.Count(part, []byte("\n"))
		text = text[at+len(part):]
	}
	return lines
}

// at returns the place of a field, as in box.yaml:7, or of its closest parent.
// The path is that of the API server's errors: spec.containers[0].name.
func (d document) at(path string) string {
	if line := d.line(path); line > 0 {
		return fmt.Sprintf("%s:%d", sourceOf(d.path), line)
	}
	return d.source
}

// line returns the line of a field, or 0 if unknown.
func (d document) line(path string) int {
	if d.firstLine == 0 {
		return 0
	}
	return d.places().line(d.firstLine, path)
}

// places are the lines of the fields of a document in YAML.
type places struct {
	root *yaml.Node // nil if they are not known
	keys map[*yaml.Node]keys
}

// keys are those of a mapping.
type keys struct {
	at      map[string]int // where a key stands in the content
	lengths map[int]bool
}

// placesIn returns a function that parses a text when it is first called: few documents
// have anything that is to be located.
func placesIn(text []byte) func() *places {
	return sync.OnceValue(func() *places {
		var document yaml.Node
		if len(text) > mostLocated || yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
			return &places{}
		}
		return &places{document.Content[0], map[*yaml.Node]keys{}}
	})
}

// line returns the line of the field at a path, or of the last part of the path that exists,
// of a document that begins on the line first. It returns 0 if the lines are not known.
func (p *places) line(first int, path string) int {
	if p.root == nil {
		return 0
	}
	node := p.root
	line := node.Line
	for {
		for node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		key, value, rest := p.step(node, path)
		if value == nil {
			return first - 1 + line
		}
		line, node, path = key.Line, value, rest
	}
}

// step returns the member or item of a node for the first part of a path, its
// key, and the rest of the path. Keys may contain dots: the longest match
// counts.
func (p *places) step(node *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	switch node.Kind {
	case yaml.MappingNode:
		keys := p.keysOf(node)
		for _, end := range slices.Backward(ends(path)) {
			for _, name := range names(path[:end]) {
				if !keys.lengths[len(name)] { // a path may be long, and hashing each part of it slow
					continue
				}
				if at, ok := keys.at[name]; ok {
					return node.Content[at], node.Content[at+1], path[end:]
				}
			}
		}
	case yaml.SequenceNode:
		index, after, found := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(index); found && err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i], after
		}
	default: // has nothing below
	}
	return nil, nil, ""
}

func (p *places) keysOf(mapping *yaml.Node) keys {
	known, ok := p.keys[mapping]
	if !ok {
		known = keys{map[string]int{}, map[int]bool{}}
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			name := mapping.Content[i].Value
			known.at[name], known.lengths[len(name)] = i, true
		}
		p.keys[mapping] = known
	}
	return known
}

// ends returns where a first part of a path may end: before a dot or a bracket, or at
// its end.
func ends(path string) []int {
	var all []int
	for i := 1; i < len(path); i++ {
		if path[i] == '.' || path[i] == '[' {
			all = append(all, i)
		}
	}
	if path != "" {
		all = append(all, len(path))
	}
	return all
}

// names returns the keys that a part of a path may stand for: it is written name, .name or
// [name].
func names(part string) []string {
	all := []string{part}
	if name, ok := strings.CutPrefix(part, "."); ok {
		all = append(all, name)
	}
	if name, ok := strings.CutPrefix(part, "["); ok && strings.HasSuffix(name, "]") {
		all = append(all, strings.TrimSuffix(name, "]"))
	}
	return all
}
