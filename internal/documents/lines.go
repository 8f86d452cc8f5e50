package documents

import (
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// mostLocated is the size in bytes of the largest document whose lines are searched, which takes
// many times the memory.
const mostLocated = 4 << 20

// Lines returns a function that tells the line, from 1 on, of the field at a path in a document: as
// in spec.containers[0].name, or of the last part of the path that exists. It returns 0 where that
// is not known. The document is parsed for the first field: few have any that is to be located.
func Lines(text []byte) func(path string) int {
	root := sync.OnceValue(func() *yaml.Node {
		var document yaml.Node
		if len(text) > mostLocated || yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
			return nil
		}
		return document.Content[0]
	})
	return func(path string) int {
		node := root()
		if node == nil {
			return 0
		}
		line := node.Line
		for key, value := node, node; value != nil; key, value, path = step(value, path) {
			line = key.Line
		}
		return line
	}
}

// step returns the member or item of a node for the first part of a path, its key, and the rest of
// the path. Keys may have dots: the longest counts.
func step(node *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	for node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		rest = path
		for i := 0; i+1 < len(node.Content); i += 2 {
			if after, found := after(node.Content[i].Value, path); found && len(after) < len(rest) {
				key, value, rest = node.Content[i], node.Content[i+1], after
			}
		}
	case yaml.SequenceNode:
		index, after, _ := strings.Cut(strings.TrimPrefix(path, "["), "]")
		if i, err := strconv.Atoi(index); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i], after
		}
	default: // has nothing below
	}
	return key, value, rest
}

// after returns what stands behind a key at the begin of a path: it is written key, .key or [key].
func after(key, path string) (rest string, found bool) {
	for _, form := range [...]string{key, "." + key, "[" + key + "]"} {
		if rest, found = strings.CutPrefix(path, form); found && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return rest, true
		}
	}
	return "", false
}
