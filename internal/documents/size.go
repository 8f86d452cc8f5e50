package documents

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// checkSize refuses a YAML document that would take too much memory, before it
// does.
func checkSize(text []byte) error {
	if about := countValues(text); about > MaxValues {
		return fmt.Errorf("has about %d values, and %d are the most: write it as JSON, or split it", about, MaxValues)
	}
	if !bytes.ContainsRune(text, '*') || !bytes.ContainsRune(text, '&') {
		return nil // nothing stands for something else
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return fmt.Errorf("is neither YAML nor JSON: %w", err)
	}
	_, err := sizes{}.of(&root)
	return err
}

// countValues returns about how many values a document has, without taking it
// apart: one stands at the beginning, and before each of the others one of these
// bytes. A byte inside a text counts too. What is not written, as the null in
// {a,}, does not, so that there may be twice as many.
func countValues(text []byte) int {
	count := 1
	for _, b := range text {
		switch b {
		case '\n', '\r', ',', ':', '?', '[', '{', '-':
			count++
		}
	}
	return count
}

// size is how much a node stands for with its aliases written out.
type size struct{ values, bytes int }

// sizes remembers the nodes that several aliases may stand for. One that is being
// looked at has no size yet.
type sizes map[*yaml.Node]*size

var errExpands = fmt.Errorf("has aliases that stand for more than %d values or %d MiB: write out what is meant", MaxValues, MaxBytes>>20)

func (s sizes) of(node *yaml.Node) (size, error) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if known, found := s[node]; found {
		if known == nil {
			return size{}, errors.New("has an anchor that contains itself: write out what is meant")
		}
		return *known, nil
	}
	if node.Anchor != "" {
		s[node] = nil
	}
	total := size{1, len(node.Value)}
	for _, part := range node.Content {
		one, err := s.of(part)
		if err != nil {
			return size{}, err
		}
		total.values += one.values
		total.bytes += one.bytes
		if total.values > MaxValues || total.bytes > MaxBytes {
			return size{}, errExpands
		}
	}
	if node.Anchor != "" {
		s[node] = &total
	}
	return total, nil
}
