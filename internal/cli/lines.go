package cli

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

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
	var root yaml.Node
	if d.firstLine == 0 || len(d.text) > mostLocated || yaml.Unmarshal(d.text, &root) != nil || len(root.Content) == 0 {
		return 0
	}
	return d.firstLine - 1 + lineOf(root.Content[0], path)
}

// lineOf returns the line of the field at a path below a node, or of the last
// part of the path that exists.
func lineOf(node *yaml.Node, path string) int {
	line := node.Line
	for {
		for node.Kind == yaml.AliasNode {
			node = node.Alias
		}
		key, value, rest := step(node, path)
		if value == nil {
			return line
		}
		line, node, path = key.Line, value, rest
	}
}

// step returns the member or item of a node for the first part of a path, its
// key, and the rest of the path. Keys may contain dots: the longest match
// counts.
func step(node *yaml.Node, path string) (key, value *yaml.Node, rest string) {
	switch node.Kind {
	case yaml.MappingNode:
		longest := -1
		for i := 0; i+1 < len(node.Content); i += 2 {
			name := node.Content[i].Value
			for _, written := range []string{name, "." + name, "[" + name + "]"} {
				after, found := strings.CutPrefix(path, written)
				if found && (after == "" || after[0] == '.' || after[0] == '[') && len(name) > longest {
					longest, key, value, rest = len(name), node.Content[i], node.Content[i+1], after
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
	return key, value, rest
}
