package apiserver

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkHandlers refuses probes and hooks that do nothing, or two things.
func checkHandlers(c *corev1.Container, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	check := func(name string, handlers any) {
		switch set := countSet(handlers); {
		case set == 0:
			problems = append(problems, field.Required(path.Child(name), "must specify a handler type"))
		case set > 1:
			problems = append(problems, field.Forbidden(path.Child(name), "may not specify more than 1 handler type"))
		}
	}
	probes := []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe}
	for i, name := range []string{"livenessProbe", "readinessProbe", "startupProbe"} {
		if probes[i] != nil {
			check(name, probes[i].ProbeHandler)
		}
	}
	if c.Lifecycle != nil && c.Lifecycle.PostStart != nil {
		check("lifecycle.postStart", *c.Lifecycle.PostStart)
	}
	if c.Lifecycle != nil && c.Lifecycle.PreStop != nil {
		check("lifecycle.preStop", *c.Lifecycle.PreStop)
	}
	return problems
}

// checkEnv refuses variables that come from nowhere, or from two places.
func checkEnv(c *corev1.Container, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	check := func(path *field.Path, sources any, hasValue bool, all string) {
		problem := ""
		switch set := countSet(sources); {
		case set == 0:
			problem = "must specify one of: " + all
		case hasValue:
			problem = "may not be specified when `value` is not empty"
		case set > 1:
			problem = "may not have more than one field specified at a time"
		default:
			return
		}
		problems = append(problems, field.Invalid(path, "", problem))
	}
	for i, variable := range c.Env {
		if variable.ValueFrom != nil {
			check(path.Child("env").Index(i).Child("valueFrom"), *variable.ValueFrom, variable.Value != "",
				"`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`")
		}
	}
	for _, from := range c.EnvFrom {
		check(path.Child("envFrom"), from, false, "`configMapRef` or `secretRef`")
	}
	return problems
}

// countSet counts the pointers in a struct that are not nil.
func countSet(union any) (set int) {
	for _, member := range reflect.ValueOf(union).Fields() {
		if member.Kind() == reflect.Pointer && !member.IsNil() {
			set++
		}
	}
	return set
}
