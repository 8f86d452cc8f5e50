package dataservice

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/operetta-dev/operetta/operator"
)

const (
	// escapedVolume holds what the init container writes. It is in memory only.
	escapedVolume = "credentials"
	escapedDir    = configDir + "-credentials"
	// locationVariable is where Spring finds additional configuration.
	locationVariable = "SPRING_CONFIG_ADDITIONAL_LOCATION"
)

// escapeScript writes a property with the user and the password percent-encoded
// for a URL. Spring has no function for that, and the hook never reads the
// Secret.
var escapeScript = strings.Join([]string{
	`escape() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g'; }`,
	`printf 'eureka-user: "%s:%s"\n' "$(escape "$EUREKA_USERNAME")" "$(escape "$EUREKA_PASSWORD")" > ` + escapedDir + `/application.yml`,
}, "\n")

// needsEscaping reports whether a component reads an application.yml with the URL
// of a registry that asks for a user and a password.
func (p *product) needsEscaping(u *unit) bool {
	registry := p.unit("eureka")
	_, isSpring := u.env[locationVariable]
	return isSpring && registry != nil && !registry.runsHere() && registry.said.thirdParty.AuthType == AuthBasic
}

// escapeCredentials adds an init container to a template that percent-encodes
// the credentials for its main container.
func (p *product) escapeCredentials(u *unit, template *corev1.PodTemplateSpec) {
	mount := corev1.VolumeMount{Name: u.volumeName(escapedVolume), MountPath: escapedDir}
	small := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("16Mi")}
	limit := resource.MustParse("1Mi")
	template.Spec.InitContainers = []corev1.Container{{
		Name: "escape-credentials", Image: p.policy.EscapeImage,
		Command: []string{"sh", "-ec", escapeScript}, Env: p.unit("eureka").credentialEnv(),
		Resources:       corev1.ResourceRequirements{Requests: small, Limits: small},
		SecurityContext: operator.Restricted(65534), VolumeMounts: []corev1.VolumeMount{mount},
	}}
	template.Spec.Volumes = append(template.Spec.Volumes, corev1.Volume{Name: mount.Name, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory, SizeLimit: &limit},
	}})
	mount.ReadOnly = true
	container := &template.Spec.Containers[0]
	container.VolumeMounts = append(container.VolumeMounts, mount)
	for i := range container.Env {
		if container.Env[i].Name == locationVariable && container.Env[i].ValueFrom == nil {
			container.Env[i].Value += ",file:" + escapedDir + "/"
		}
	}
}
