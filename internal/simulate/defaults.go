package simulate

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// orDefault fills in a field that is empty.
func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// orPointer fills in a field that is nil.
func orPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func defaultDeployment(d *appsv1.Deployment) {
	orPointer(&d.Spec.Replicas, 1)
	orPointer(&d.Spec.RevisionHistoryLimit, 10)
	orPointer(&d.Spec.ProgressDeadlineSeconds, 600)
	orDefault(&d.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	if d.Spec.Strategy.Type == appsv1.RollingUpdateDeploymentStrategyType {
		orPointer(&d.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
		orPointer(&d.Spec.Strategy.RollingUpdate.MaxUnavailable, intstr.FromString("25%"))
		orPointer(&d.Spec.Strategy.RollingUpdate.MaxSurge, intstr.FromString("25%"))
	}
	defaultPodSpec(&d.Spec.Template.Spec)
}

func defaultStatefulSet(s *appsv1.StatefulSet) {
	orPointer(&s.Spec.Replicas, 1)
	orPointer(&s.Spec.RevisionHistoryLimit, 10)
	orDefault(&s.Spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	orDefault(&s.Spec.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
	if s.Spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		orPointer(&s.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
		orPointer(&s.Spec.UpdateStrategy.RollingUpdate.Partition, 0)
	}
	orPointer(&s.Spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
		WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
	})
	for i := range s.Spec.VolumeClaimTemplates {
		claim := &s.Spec.VolumeClaimTemplates[i]
		claim.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}
		orPointer(&claim.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
		orDefault(&claim.Status.Phase, corev1.ClaimPending)
	}
	defaultPodSpec(&s.Spec.Template.Spec)
}

func defaultDaemonSet(d *appsv1.DaemonSet) {
	orPointer(&d.Spec.RevisionHistoryLimit, 10)
	orDefault(&d.Spec.UpdateStrategy.Type, appsv1.RollingUpdateDaemonSetStrategyType)
	if d.Spec.UpdateStrategy.Type == appsv1.RollingUpdateDaemonSetStrategyType {
		orPointer(&d.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
		orPointer(&d.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable, intstr.FromInt32(1))
		orPointer(&d.Spec.UpdateStrategy.RollingUpdate.MaxSurge, intstr.FromInt32(0))
	}
	defaultPodSpec(&d.Spec.Template.Spec)
}

func defaultJob(j *batchv1.Job) {
	orPointer(&j.Spec.Completions, 1)
	orPointer(&j.Spec.Parallelism, 1)
	orPointer(&j.Spec.BackoffLimit, 6)
	orPointer(&j.Spec.Suspend, false)
	defaultPodSpec(&j.Spec.Template.Spec)
}

func defaultPodSpec(spec *corev1.PodSpec) {
	orDefault(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	orDefault(&spec.DNSPolicy, corev1.DNSClusterFirst)
	orDefault(&spec.SchedulerName, corev1.DefaultSchedulerName)
	orPointer(&spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	orPointer(&spec.SecurityContext, corev1.PodSecurityContext{})
	if spec.ServiceAccountName != "" {
		spec.DeprecatedServiceAccount = spec.ServiceAccountName
	}
	for i := range spec.InitContainers {
		defaultContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		defaultContainer(&spec.Containers[i])
	}
	for i := range spec.Volumes {
		defaultVolume(&spec.Volumes[i].VolumeSource)
	}
}

func defaultContainer(c *corev1.Container) {
	orDefault(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	orDefault(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	pull := corev1.PullIfNotPresent
	if _, tag, tagged := strings.Cut(c.Image[strings.LastIndex(c.Image, "/")+1:], ":"); !tagged || tag == "latest" {
		pull = corev1.PullAlways
	}
	orDefault(&c.ImagePullPolicy, pull)
	for i := range c.Ports {
		orDefault(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if source := c.Env[i].ValueFrom; source != nil && source.FieldRef != nil {
			orDefault(&source.FieldRef.APIVersion, "v1")
		}
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe == nil {
			continue
		}
		orDefault(&probe.TimeoutSeconds, 1)
		orDefault(&probe.PeriodSeconds, 10)
		orDefault(&probe.SuccessThreshold, 1)
		orDefault(&probe.FailureThreshold, 3)
		if probe.HTTPGet != nil {
			orDefault(&probe.HTTPGet.Scheme, corev1.URISchemeHTTP)
			orDefault(&probe.HTTPGet.Path, "/")
		}
		if probe.GRPC != nil {
			orPointer(&probe.GRPC.Service, "")
		}
	}
}

func defaultVolume(v *corev1.VolumeSource) {
	const mode = int32(0o644)
	if v.ConfigMap != nil {
		orPointer(&v.ConfigMap.DefaultMode, mode)
	}
	if v.Secret != nil {
		orPointer(&v.Secret.DefaultMode, mode)
	}
	if v.HostPath != nil {
		orPointer(&v.HostPath.Type, corev1.HostPathUnset)
	}
	if v.DownwardAPI != nil {
		orPointer(&v.DownwardAPI.DefaultMode, mode)
		defaultFiles(v.DownwardAPI.Items)
	}
	if v.Projected == nil {
		return
	}
	orPointer(&v.Projected.DefaultMode, mode)
	for _, source := range v.Projected.Sources {
		if source.ServiceAccountToken != nil {
			orPointer(&source.ServiceAccountToken.ExpirationSeconds, 3600)
		}
		if source.DownwardAPI != nil {
			defaultFiles(source.DownwardAPI.Items)
		}
	}
}

func defaultFiles(files []corev1.DownwardAPIVolumeFile) {
	for _, file := range files {
		if file.FieldRef != nil {
			orDefault(&file.FieldRef.APIVersion, "v1")
		}
	}
}
