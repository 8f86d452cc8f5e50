package crds

import (
	"maps"
	"math"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// keywords are keywords of a schema.
type keywords map[string]any

// asked is what is asked of a type.
type asked struct {
	// fields are by their names, as in name, by a path, as in fieldRef.fieldPath, or
	// what is in a list or a map, as in values[] and matchLabels{}.
	fields map[string]keywords
	itself keywords // of the type
	rules  []rule
}

// rule is a validation rule in CEL.
type rule struct{ says, message string }

// constrain adds the API server's validation of Pods to the schema of a
// Kubernetes type and everything below it, as far as a schema can express it,
// so that every admitted template makes a valid Pod.
func constrain(schema map[string]any, t reflect.Type) {
	t = pointedTo(t)
	if t == reflect.TypeFor[resource.Quantity]() {
		refuseNegative(schema)
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		constrainList(schema, t.Elem())
		if items := member(schema, "items"); items != nil {
			constrain(items, t.Elem())
		}
	case reflect.Map:
		if values := member(schema, "additionalProperties"); values != nil {
			constrain(values, t.Elem())
		}
	case reflect.Struct:
		constrainStruct(schema, t)
	default: // has nothing below
	}
}

func constrainStruct(schema map[string]any, t reflect.Type) {
	properties := member(schema, "properties")
	if properties == nil {
		return
	}
	fieldsOf(properties, t, constrain)
	wanted := podValidation[t]
	maps.Copy(schema, wanted.itself)
	for path, words := range wanted.fields {
		if field := fieldAt(properties, path); field != nil {
			maps.Copy(field, words)
		}
	}
	for _, rule := range wanted.rules {
		addRule(schema, rule)
	}
}

func addRule(schema map[string]any, r rule) {
	before, _ := schema["x-kubernetes-validations"].([]any)
	schema["x-kubernetes-validations"] = append(before, map[string]any{"rule": r.says, "message": r.message})
}

// fieldsOf calls visit with the schema and the type of each field of a Kubernetes type, those of
// what it embeds included.
func fieldsOf(properties map[string]any, t reflect.Type, visit func(schema map[string]any, t reflect.Type)) {
	t = pointedTo(t)
	if t.Kind() != reflect.Struct { // a map can be embedded, too
		return
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch inner := member(properties, name); {
		case name == "" && field.Anonymous:
			fieldsOf(properties, field.Type, visit)
		case inner != nil && field.Type != reflect.TypeFor[[]corev1.EphemeralContainer](): // which are refused
			visit(inner, field.Type)
		}
	}
}

// fieldAt returns the schema at a path, or nil.
func fieldAt(properties map[string]any, path string) map[string]any {
	name, rest, isDeeper := strings.Cut(path, ".")
	var field map[string]any
	switch {
	case strings.HasSuffix(name, "[]"):
		field = member(member(properties, strings.TrimSuffix(name, "[]")), "items")
	case strings.HasSuffix(name, "{}"):
		field = member(member(properties, strings.TrimSuffix(name, "{}")), "additionalProperties")
	default:
		field = member(properties, name)
	}
	if !isDeeper {
		return field
	}
	return fieldAt(member(field, "properties"), rest)
}

// refuseNegative removes the sign from the pattern of a quantity: no Pod can have less
// than nothing of anything.
func refuseNegative(quantity map[string]any) {
	quantity["minimum"] = int64(0)
	if pattern, ok := quantity["pattern"].(string); ok {
		quantity["pattern"] = strings.Replace(pattern, `^(\+|-)?`, `^\+?`, 1)
	}
}

func oneOf(values ...any) keywords { return keywords{"enum": values} }

func between(least, most int64) keywords { return keywords{"minimum": least, "maximum": most} }

func atLeast(least int64) keywords { return keywords{"minimum": least} }

// onceBy is a list without duplicates of a field. Under dynamic-apply
// Metacontroller merges items by that field.
func onceBy(field string) keywords {
	return keywords{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{field}}
}

func matching(pattern string) keywords { return keywords{"pattern": pattern} }

// mostResources is how many kinds of resources a container may ask for: a rule is
// reckoned to compare all of them.
const mostResources = 16

// mostTerms is how many terms an affinity may have: rules are about each value in
// each.
const mostTerms = int64(64)

const mostID = math.MaxInt32 // of users and groups

// podValidation is, by type, what ValidatePod of Kubernetes' pkg/apis/core/validation
// asks. What compares parts of a Pod that are far apart is left out: the cost of
// such a rule, as the API server reckons it, is above what it allows.
var podValidation = merged(aboutPods, aboutContainers, aboutVariables, aboutScheduling, aboutVolumes)

func merged(tables ...map[reflect.Type]asked) map[reflect.Type]asked {
	all := map[reflect.Type]asked{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// What names have to look like.
const (
	labelPattern     = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	subdomainPattern = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	portPattern      = `^([a-z0-9]+-)*[0-9]*[a-z][a-z0-9]*(-[a-z0-9]+)*$`
	// qualifiedKey is that of the keys of labels.
	qualifiedKey     = `([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`
	qualifiedPattern = `^` + qualifiedKey + `$`
)

var (
	label          = keywords{"maxLength": int64(63), "pattern": labelPattern}
	labelOrNone    = keywords{"maxLength": int64(63), "pattern": labelPattern + "|^$"}
	subdomain      = keywords{"maxLength": int64(253), "pattern": subdomainPattern}
	maybeSubdomain = keywords{"maxLength": int64(253), "pattern": subdomainPattern + "|^$"}
	qualified      = keywords{"maxLength": int64(317), "pattern": qualifiedPattern}
	maybeQualified = keywords{"maxLength": int64(317), "pattern": qualifiedPattern + "|^$"}
	labelValue     = keywords{"maxLength": int64(63), "pattern": `^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`}
	keyOfObject    = keywords{"maxLength": int64(253), "pattern": `^([-_a-zA-Z0-9]|\.[-_a-zA-Z0-9])[-._a-zA-Z0-9]*$`}
	mode           = between(0, 0o777)
	notEmpty       = keywords{"minLength": int64(1)}
)

// namesAnObject is asked of what refers to a Secret or the like by a name that may
// be left out in the type, and not in a Pod.
var namesAnObject = rule{"has(self.name) && self.name != ''", "the reference needs a name: set name"}
