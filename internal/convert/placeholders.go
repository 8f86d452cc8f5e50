package main

import (
	"fmt"
	"regexp"
	"strings"
)

// placeholders are what stands for $(...) in a Task.
type placeholders struct {
	params, workspaces fields
	unknown            []string
}

// resultFolder is where the steps of a Build write results.
const resultFolder = "/operetta/results/"

var (
	placeholder = regexp.MustCompile(`\$\(([a-z]+)([.\[][^()\s]+)\)`)
	quotedKey   = regexp.MustCompile(`\[["']([^"']*)["']\]`)
)

// add adds a param with its default, or with a value that is made up.
func (p *placeholders) add(param fields) {
	name, _ := param["name"].(string)
	value := param["default"]
	switch {
	case value != nil:
	case param["type"] == "array":
		value = []any{"value"}
	default:
		value = "value"
	}
	p.params[name] = value
	for key := range at(param, "properties") {
		p.params[name+"."+key] = "value"
	}
	for key, inner := range at(param, "default") {
		p.params[name+"."+key] = inner
	}
}

// replace returns a value with its placeholders replaced. That of a whole array, as an item of
// a list, becomes the items.
func (p *placeholders) replace(value any) any {
	switch value := value.(type) {
	case string:
		return placeholder.ReplaceAllStringFunc(value, p.value)
	case fields:
		replaced := fields{}
		for name, inner := range value {
			replaced[name] = p.replace(inner)
		}
		return replaced
	case []any:
		replaced := []any{}
		for _, item := range value {
			text, _ := item.(string)
			name := strings.TrimSuffix(strings.TrimSuffix(text, ")"), "[*]")
			if array, ok := p.params[name[strings.LastIndex(name, ".")+1:]].([]any); ok && strings.HasPrefix(text, "$(") {
				replaced = append(replaced, array...)
			} else {
				replaced = append(replaced, p.replace(item))
			}
		}
		return replaced
	}
	return value
}

// value returns what stands for a placeholder, or the placeholder, which may be of a shell.
func (p *placeholders) value(text string) string {
	parts := placeholder.FindStringSubmatch(text)
	kind, name := parts[1], strings.TrimPrefix(quotedKey.ReplaceAllString(parts[2], ".$1"), ".")
	if kind == "inputs" { // of v1alpha1
		kind, name, _ = strings.Cut(name, ".")
	}
	owner, field, _ := strings.Cut(name, ".")
	switch folder, isBound := p.workspaces[owner].(string); {
	case kind == "params":
		switch param := p.params[strings.TrimSuffix(name, "[*]")].(type) {
		case string:
			return param
		case []any:
			return strings.Trim(fmt.Sprint(param), "[]")
		}
	case kind == "workspaces" && field == "path" && isBound:
		return folder
	case kind == "workspaces" && field == "bound":
		return "true"
	case kind == "results" && field == "path":
		return resultFolder + owner
	case kind == "context":
		return "build"
	case kind == "resources", kind == "outputs":
		return "/workspace"
	case kind != "workspaces" && kind != "credentials" && kind != "steps" && kind != "step" && kind != "tasks":
		return text
	}
	p.unknown = append(p.unknown, "$("+kind+"...)")
	return text
}
