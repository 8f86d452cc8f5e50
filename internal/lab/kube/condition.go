package kube

import (
	"time"
)

// Condition is a condition of any kind of object.
type Condition struct {
	Type, Status, Reason, Message string
	// Since is lastTransitionTime, or zero where nobody has written it: a CRD may have 1970 as its default.
	Since time.Time
}

// ConditionOf returns an object's condition of a type, or an empty one. The object may be nil.
func ConditionOf(object Object, conditionType string) Condition {
	if object == nil {
		return Condition{}
	}
	return ConditionIn(object.Object["status"], conditionType)
}

// ConditionIn returns the condition of a type in a status, or an empty one.
func ConditionIn(status any, conditionType string) Condition {
	for _, item := range conditionsIn(status) {
		if fields, _ := item.(map[string]any); fields["type"] == conditionType {
			return conditionFrom(fields)
		}
	}
	return Condition{}
}

// ConditionsIn returns the conditions in a status, in their order.
func ConditionsIn(status any) []Condition {
	var conditions []Condition
	for _, item := range conditionsIn(status) {
		fields, _ := item.(map[string]any)
		conditions = append(conditions, conditionFrom(fields))
	}
	return conditions
}

func conditionsIn(status any) []any {
	fields, _ := status.(map[string]any)
	list, _ := fields["conditions"].([]any)
	return list
}

func conditionFrom(fields map[string]any) Condition {
	text := func(name string) string { value, _ := fields[name].(string); return value }
	since, _ := time.Parse(time.RFC3339, text("lastTransitionTime"))
	if since.Unix() <= 0 {
		since = time.Time{}
	}
	return Condition{text("type"), text("status"), text("reason"), text("message"), since}
}
