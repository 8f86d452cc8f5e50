package operator

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// SecurityContext returns what a user wrote, with the seccomp profile
// RuntimeDefault where they wrote none: it breaks no image.
func SecurityContext(wanted *corev1.PodSecurityContext) *corev1.PodSecurityContext {
	context := &corev1.PodSecurityContext{}
	if wanted != nil {
		*context = *wanted
	}
	if context.SeccompProfile == nil {
		context.SeccompProfile = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
	}
	return context
}

// UsersSecurityContext returns the security context of a Pod whose spec a user
// wrote as a whole. The API server refuses every seccomp profile on Windows.
func UsersSecurityContext(spec *corev1.PodSpec) *corev1.PodSecurityContext {
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		return spec.SecurityContext
	}
	return SecurityContext(spec.SecurityContext)
}

// NameServiceAccount writes the deprecated field serviceAccount as serviceAccountName,
// in place. The API server takes the one for the other in a new Pod, but of an existing
// one it leaves serviceAccount aside without an error: server-side apply, by a hook that
// has not heard of the Pod yet, would change its labels to those of another template.
func NameServiceAccount(spec *corev1.PodSpec) {
	spec.ServiceAccountName = cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.DeprecatedServiceAccount = ""
}

// Restricted returns the security context of a container whose image the hook
// itself chooses. Together with [SecurityContext] for its Pod it meets the
// restricted Pod Security Standard, and its root file system is read-only. The
// user must be another than 0.
func Restricted(user int64) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		RunAsNonRoot:             new(true),
		RunAsUser:                &user,
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}
