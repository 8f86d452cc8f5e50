package operator

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// SecurityContext returns the user's security context, with the seccomp profile
// RuntimeDefault if there is none: it breaks no image.
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

// UsersSecurityContext returns the security context of a Pod whose whole spec
// is the user's. The API server refuses every seccomp profile on Windows.
func UsersSecurityContext(spec *corev1.PodSpec) *corev1.PodSecurityContext {
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		return spec.SecurityContext
	}
	return SecurityContext(spec.SecurityContext)
}

// NameServiceAccount moves the deprecated field serviceAccount to serviceAccountName, in place: the
// API server copies one to the other in a new Pod, and ignores serviceAccount in an update.
func NameServiceAccount(spec *corev1.PodSpec) {
	spec.ServiceAccountName = cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.DeprecatedServiceAccount = ""
}

// Restricted returns the security context of a container whose image the hook chooses. Together
// with [SecurityContext] for its Pod it meets the restricted Pod Security Standard, with a
// read-only root file system. The user must not be 0.
func Restricted(user int64) *corev1.SecurityContext {
	return &corev1.SecurityContext{
		RunAsNonRoot:             new(true),
		RunAsUser:                &user,
		AllowPrivilegeEscalation: new(false),
		ReadOnlyRootFilesystem:   new(true),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}
