package dataservice

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// environment returns the variables, each once: the user's replace the others and come after them,
// so that they can refer to them.
func (p *product) environment(u *unit) []corev1.EnvVar {
	var all []corev1.EnvVar
	add := func(variable corev1.EnvVar) {
		isThere := func(v corev1.EnvVar) bool { return v.Name == variable.Name }
		_, isUsers := u.said.Env[variable.Name]
		if !isUsers && !slices.ContainsFunc(u.said.EnvVars, isThere) && !slices.ContainsFunc(all, isThere) {
			all = append(all, variable)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.env)) {
		add(corev1.EnvVar{Name: name, Value: u.env[name]})
	}
	if u.said.credentials != nil {
		for _, key := range slices.Sorted(maps.Keys(u.secretEnv)) {
			variable := fromSecret(u.secretEnv[key], u.said.credentials, key)
			if u.user == "" {
				variable = optional(variable)
			}
			add(variable)
		}
	}
	for _, key := range u.uses {
		if used := p.unit(key); used != nil {
			for _, variable := range used.credentialEnv() {
				add(variable)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(u.said.Env)) {
		if !slices.ContainsFunc(u.said.EnvVars, func(v corev1.EnvVar) bool { return v.Name == name }) {
			all = append(all, corev1.EnvVar{Name: name, Value: u.said.Env[name]})
		}
	}
	return append(all, u.said.EnvVars...)
}
