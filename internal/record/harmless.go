package record

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// rule says what is known of a value from its place.
type rule int

const (
	typed   rule = iota // a field of Kubernetes or of the parent's CRD
	byUser              // below a name that a user chose, or the value of an annotation
	labels              // the value of a label
	amounts             // a quantity or a percentage
)

// place is where a value stands.
type place struct {
	rule
	field, within string         // the names of its field and of the enclosing one
	schema        map[string]any // in the parent's CRD; nil elsewhere
	child         string         // the child, as corpus.Ref has it
	isObject      bool           // an object with metadata
	isStatus      bool           // within a status
}

// Fields of Kubernetes that hold names, and words that are one of a few. So do those whose names
// end in Name, and in Policy, Type or Mode.
var (
	nameFields = strings.Fields("apiVersion kind name namespace generateName uid resourceVersion finalizers manager subresource container topologyKey fieldPath port targetPort result env")
	wordFields = strings.Fields("type status phase reason protocol operator effect operation fieldsType state")
)

// ruleOf returns the rule for the members of a field by its name.
func ruleOf(field string) rule {
	switch field {
	case "labels", "matchLabels", "nodeSelector", "selector":
		return labels
	case "requests", "limits", "capacity", "allocatable", "allocatedResources", "overhead", "sizeLimit", "divisor", "maxSurge", "maxUnavailable", "minAvailable":
		return amounts
	case "annotations", "data", "stringData", "binaryData", "volumeAttributes", "parameters", "options":
		return byUser
	}
	return typed
}

// enter returns the place of a member.
func (p place) enter(key string) place {
	to := place{rule: p.rule, field: key, within: p.field, child: p.child, isStatus: p.isStatus || p.isObject && key == "status"}
	switch {
	case p.isObject && (key == "apiVersion" || key == "kind" || key == "metadata"):
		to.rule = typed
	case p.rule == labels && key == "matchExpressions":
		to.rule = typed
	case p.rule != typed:
	case p.schema == nil:
		to.rule = ruleOf(key)
	default:
		to = to.described(propertyOf(p.schema, key))
		if property(p.schema, "properties", key) == nil {
			to.field = "" // a user chose it
		}
	}
	return to
}

// described returns a place with its schema. What has none is a user's.
func (p place) described(schema map[string]any) place {
	p.schema = schema
	switch r := ruleOf(p.field); {
	case r == labels, p.field == "annotations":
		p.rule, p.schema = r, nil
	case schema == nil:
		p.rule = byUser
	}
	return p
}

// propertyOf returns the schema of a member, or nil.
func propertyOf(schema map[string]any, key string) map[string]any {
	if declared := property(schema, "properties", key); declared != nil {
		return declared
	}
	return property(schema, "additionalProperties")
}

func property(schema map[string]any, path ...string) map[string]any {
	found, _ := at(schema, path...).(map[string]any)
	return found
}

// isName reports whether a string in a place may be a name that is recorded elsewhere.
func (p place) isName() bool {
	return p.rule == labels || p.rule == typed && (p.isStatus || p.field == "key" || p.within == "matchExpressions")
}

var (
	nameForm   = regexp.MustCompile(`^[-A-Za-z0-9_./]{1,317}$`) // with a prefix, as keys of labels have
	wordForm   = regexp.MustCompile(`^[A-Z][A-Za-z]{0,47}$`)
	imageForm  = regexp.MustCompile(`^[-A-Za-z0-9_./:]{1,255}(@sha256:[0-9a-f]{64})?$`)
	amountForm = regexp.MustCompile(`^[-+]?[0-9.]{1,15}(e[-+]?[0-9]{1,2}|[munk]|[KMGTPE]i?|%)?$`)
)

func isName(text string) bool { return nameForm.MatchString(text) }
func isWord(text string) bool { return wordForm.MatchString(text) }

// keeps reports whether a string is harmless where it stands. Every other one is replaced.
func (p place) keeps(text string) bool {
	enum, _ := p.schema["enum"].([]any)
	switch {
	case slices.Contains([]string{"", "True", "False", "true", "false"}, text), isTime(text):
		return true
	case p.rule == amounts:
		return amountForm.MatchString(text)
	case p.rule != typed:
		return false
	case takesNumbers(p.schema) && amountForm.MatchString(text):
		return true
	case slices.Contains(enum, any(text)):
		return true
	case p.isField("image", "Image"):
		return imageForm.MatchString(text)
	case slices.Contains(nameFields, p.field) || p.isField("Name"):
		return isName(text)
	case slices.Contains(wordFields, p.field) || p.isField("Policy", "Type", "Mode"):
		return isWord(text)
	}
	return false
}

// takesNumbers reports whether a schema admits numbers beside texts: one of an int-or-string, or a quantity
// in a map, which has no type.
func takesNumbers(schema map[string]any) bool {
	return schema["x-kubernetes-int-or-string"] == true || schema["type"] == nil && schema["pattern"] != nil
}

// isField reports whether a place's field has one of these endings.
func (p place) isField(endings ...string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(p.field, ending) })
}

// isTime reports whether a string is a time or a duration.
func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	_, noDuration := time.ParseDuration(text)
	return err == nil || noDuration == nil
}
