package explore

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// LargeEdit is an edit of some hundred kilobytes. There are thousands of a kind, so that each
// is only made when it is wanted.
type LargeEdit struct {
	// Path is the field, as in spec.ports[0].name.
	Path string
	// Make returns the custom resource after the edit, or nil where the field cannot be
	// written: its list is of texts, say.
	Make func() map[string]any
}

// Largest returns edits that write the largest texts and keys that a schema admits into
// each field, once and as often as the lists around the field have items, up to about most
// bytes. The texts are of the forms that Kubernetes refuses somewhere.
func Largest(controller *metacontroller.Controller, object simulate.Object, most int) ([]LargeEdit, error) {
	return (&largest{most: most, base: object.Object}).ofAll(controller)
}

// Shortest is Largest with as many short and different texts and keys as there may be, and as
// many numbers and words: an API server says in a sentence what is wrong with each.
func Shortest(controller *metacontroller.Controller, object simulate.Object, most int) ([]LargeEdit, error) {
	return (&largest{most: most, base: object.Object, isShort: true}).ofAll(controller)
}

type largest struct {
	most    int
	isShort bool
	base    map[string]any
	edits   []LargeEdit
}

func (l *largest) ofAll(controller *metacontroller.Controller) ([]LargeEdit, error) {
	root, err := specSchema(controller)
	if err != nil {
		return nil, err
	}
	eachField([]step{newStep("spec", root)}, l.add)
	return l.edits, nil
}

// valuesOf returns large texts for a field of text, and lists and maps of them.
func (l *largest) valuesOf(schema map[string]any) []any {
	items, _ := schema["items"].(map[string]any)
	values, _ := schema["additionalProperties"].(map[string]any)
	switch {
	case l.isShort && (schema["enum"] != nil || schema["type"] == "integer" || schema["type"] == "boolean"):
		return valuesOf(schema, 0)
	case schema["enum"] != nil:
		return nil
	case schema["type"] == "string" || schema["x-kubernetes-int-or-string"] == true:
		return l.texts(schema)
	case items != nil && items["type"] == "string":
		return l.lists(schema, items)
	case values != nil:
		return l.maps(schema, values)
	}
	return nil
}

// texts returns the longest texts of a schema.
func (l *largest) texts(schema map[string]any) []any {
	length := l.most / 2
	if most, ok := number(schema["maxLength"]); ok {
		length = min(length, int(most))
	}
	matches := func(string) bool { return true }
	if pattern, ok := schema["pattern"].(string); ok {
		matches = compiled(pattern).MatchString
	}
	var list []any
	if l.isShort {
		length = min(length, 3)
	}
	for _, form := range []string{"\x7f", "a", "-", ":", "/", "a/", "a.", ".", "A", "0", "_", " ", "=", "a=", "..", ",", "../", "http://", "a..b", "[]:,", "1k"} {
		text := strings.Repeat(form, length/len(form)+1)[:length]
		for _, text := range []string{text, strings.Trim(text, "./-"), form} {
			if matches(text) {
				list = append(list, text)
				break
			}
		}
	}
	return list
}

// times returns how many values of a size a list or map may have.
func (l *largest) times(schema map[string]any, keyword string, size int) int {
	count := l.most/size + 1
	if most, ok := number(schema[keyword]); ok {
		count = min(count, int(most))
	}
	return count
}

func (l *largest) lists(schema, items map[string]any) []any {
	var all []any
	for _, value := range l.valuesOf(items) {
		text, isText := value.(string)
		list := make([]any, l.times(schema, "maxItems", len(text)+2))
		for i := range list {
			list[i] = value
			if isText && items["enum"] == nil {
				list[i] = numbered(text, i)
			}
		}
		all = append(all, list)
	}
	return all
}

// maps returns maps with large keys, and maps with large values.
func (l *largest) maps(schema, values map[string]any) []any {
	var all []any
	usual := valuesOf(values, 0)
	add := func(key string, value any) {
		whole := map[string]any{}
		for i := range l.times(schema, "maxProperties", len(encode(map[string]any{key: value}))) {
			whole[numbered(key, i)] = value
		}
		all = append(all, whole)
	}
	for _, form := range []string{"\x7f", "a", "a/", "-", "hugepages-"} {
		lengths := []int{63, 317, 1024}
		if l.isShort {
			lengths = []int{4}
		}
		if form == "hugepages-" { // what follows is a quantity
			if len(usual) > 0 {
				add(form+strings.Repeat("0", 63-len(form)-1)+"M", usual[0])
				add(form+"00000M", usual[0])
			}
			continue
		}
		for _, length := range lengths {
			if len(usual) > 0 {
				add(strings.Repeat(form, length), usual[0])
			}
		}
	}
	for _, text := range l.valuesOf(values) {
		add(strings.Repeat("a", 10), text)
		for _, key := range validatedAnnotations {
			all = append(all, map[string]any{key: text})
		}
	}
	if values["type"] == "string" && !l.isShort {
		all = append(all, map[string]any{validatedAnnotations[0]: "[" + strings.Repeat("{},", 4000) + "{}]"})
	}
	return all
}

// validatedAnnotations are annotations of Pods whose values the API server validates.
var validatedAnnotations = []string{
	"scheduler.alpha.kubernetes.io/tolerations", "kubernetes.io/config.mirror", "controller.kubernetes.io/pod-deletion-cost",
	"container.apparmor.security.beta.kubernetes.io/other", "seccomp.security.alpha.kubernetes.io/pod", "container.seccomp.security.alpha.kubernetes.io/other",
}

// numbered returns a text of the same length with a number in it, before its end.
func numbered(text string, i int) string {
	number := fmt.Sprint(i)
	if len(text) <= len(number) {
		return number
	}
	at := len(text) - len(number) - 1
	return text[:at] + number + text[len(text)-1:]
}

// add adds edits with each large value of a field: once, and in lists of as many items as
// there may be.
func (l *largest) add(path []step) {
	schema := path[len(path)-1].schema
	for i := range l.valuesOf(schema) {
		once := func() map[string]any {
			object := runtime.DeepCopyJSON(l.base)
			if !put(object, path, l.valuesOf(schema)[i]) {
				return nil
			}
			return object
		}
		repeated := func() map[string]any {
			object := once()
			if object == nil || !l.repeat(object, path) {
				return nil
			}
			return object
		}
		l.edits = append(l.edits, LargeEdit{pathText(path), once}, LargeEdit{pathText(path), repeated})
	}
}

// repeat repeats the first item of each list on a path, the innermost first, and reports
// whether there is one.
func (l *largest) repeat(object map[string]any, path []step) bool {
	name := path[0].name
	if len(path) == 1 {
		return false
	}
	if path[1].name != "" {
		inner, _ := object[name].(map[string]any)
		return inner != nil && l.repeat(inner, path[1:])
	}
	list, _ := object[name].([]any)
	first, _ := list[0].(map[string]any)
	if first == nil || len(path) < 3 {
		return false
	}
	l.repeat(first, path[2:])
	keys, _ := path[0].schema["x-kubernetes-list-map-keys"].([]any)
	text, err := json.Marshal(first)
	if err != nil {
		return false
	}
	count := l.times(path[0].schema, "maxItems", len(text))
	items := make([]any, 0, max(count, 1))
	for i := range max(count, 1) {
		item := runtime.DeepCopyJSON(first)
		for _, key := range keys {
			if old, isText := item[fmt.Sprint(key)].(string); isText && i > 0 {
				item[fmt.Sprint(key)] = unique(old, i)
			} else if number, isNumber := item[fmt.Sprint(key)].(int64); isNumber {
				item[fmt.Sprint(key)] = number + int64(i)
			}
		}
		items = append(items, item)
	}
	object[name] = items
	return true
}

// unique returns another text for each number, of at most 63 characters where the text has
// no more.
func unique(text string, i int) string {
	if len(text) < 50 {
		return fmt.Sprintf("%s-%d", text, i)
	}
	return numbered(text, i)
}
