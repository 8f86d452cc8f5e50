package dataservice

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Keys of the Secrets that a user names.
const (
	usernameKey = "username"
	passwordKey = "password"
	tokenKey    = "token"
)

// variable returns the name of the environment variable that holds a part of a
// component's credentials, MYSQL_PASSWORD for example.
func (u *unit) variable(key string) string {
	return strings.ToUpper(u.key + "_" + key)
}

// credentialEnv returns the environment variables with which another component
// reaches this one. The values are in a Secret, and nowhere else.
func (u *unit) credentialEnv() []corev1.EnvVar {
	if u.said.thirdParty != nil {
		return u.thirdPartyEnv()
	}
	if u.said.credentials == nil {
		return nil
	}
	if u.user != "" {
		return []corev1.EnvVar{
			{Name: u.variable(usernameKey), Value: u.user},
			fromSecret(u.variable(passwordKey), u.said.credentials, passwordKey),
		}
	}
	var all []corev1.EnvVar
	for _, key := range []string{usernameKey, passwordKey, tokenKey} {
		all = append(all, optional(fromSecret(u.variable(key), u.said.credentials, key)))
	}
	return all
}

func (u *unit) thirdPartyEnv() []corev1.EnvVar {
	secret := u.said.thirdParty.CredentialsSecretRef
	if secret == nil {
		return nil
	}
	switch u.said.thirdParty.AuthType {
	case AuthBasic:
		return []corev1.EnvVar{
			fromSecret(u.variable(usernameKey), secret, usernameKey),
			fromSecret(u.variable(passwordKey), secret, passwordKey),
		}
	case AuthToken:
		return []corev1.EnvVar{fromSecret(u.variable(tokenKey), secret, tokenKey)}
	default:
		return nil
	}
}

// fromSecret returns a variable whose value stays in its Secret.
func fromSecret(name string, secret *SecretRef, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: secret.Name}, Key: key,
	}}}
}

// optional lets a container start if the key is missing.
func optional(variable corev1.EnvVar) corev1.EnvVar {
	variable.ValueFrom.SecretKeyRef.Optional = new(true)
	return variable
}
