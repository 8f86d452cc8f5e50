package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func admitConfigMap(_ *admission, config, old *corev1.ConfigMap) field.ErrorList {
	return checkImmutable(config.Immutable, old.Immutable, map[string][2]any{
		"data": {config.Data, old.Data}, "binaryData": {config.BinaryData, old.BinaryData},
	})
}

func admitSecret(a *admission, secret, old *corev1.Secret) field.ErrorList {
	set(&secret.Type, corev1.SecretTypeOpaque)
	for key, value := range secret.StringData {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
	if a.isNew {
		return nil
	}
	return append(apivalidation.ValidateImmutableField(secret.Type, old.Type, field.NewPath("type")),
		checkImmutable(secret.Immutable, old.Immutable, map[string][2]any{"data": {secret.Data, old.Data}})...)
}

func admitNamespace(a *admission, namespace, _ *corev1.Namespace) field.ErrorList {
	metav1.SetMetaDataLabel(&namespace.ObjectMeta, corev1.LabelMetadataName, namespace.Name)
	if a.isNew {
		namespace.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
		namespace.Status.Phase = corev1.NamespaceActive
	}
	return nil
}

func admitClaim(a *admission, claim, old *corev1.PersistentVolumeClaim) field.ErrorList {
	defaultClaim(claim)
	problems := checkClaim(&claim.Spec)
	if a.isNew {
		return problems
	}
	return append(problems, checkClaimUpdate(claim, old)...)
}

func defaultClaim(claim *corev1.PersistentVolumeClaim) {
	point(&claim.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	set(&claim.Status.Phase, corev1.ClaimPending)
	roundUp(claim.Spec.Resources.Requests)
	roundUp(claim.Spec.Resources.Limits)
}

// admitRoleBinding is for ClusterRoleBindings, too, which have the same fields.
func admitRoleBinding(a *admission, binding, old *rbacv1.RoleBinding) field.ErrorList {
	for i := range binding.Subjects {
		subject := &binding.Subjects[i]
		if subject.Kind == rbacv1.UserKind || subject.Kind == rbacv1.GroupKind {
			set(&subject.APIGroup, rbacv1.GroupName)
		}
	}
	set(&binding.RoleRef.APIGroup, rbacv1.GroupName)
	if a.isNew || binding.RoleRef == old.RoleRef {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("roleRef"), binding.RoleRef, "cannot change roleRef")}
}

func defaultVolume(source *corev1.VolumeSource) {
	switch {
	case equality.Semantic.DeepEqual(*source, corev1.VolumeSource{}):
		source.EmptyDir = &corev1.EmptyDirVolumeSource{}
	case source.Secret != nil:
		point(&source.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	case source.ConfigMap != nil:
		point(&source.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	case source.HostPath != nil:
		point(&source.HostPath.Type, corev1.HostPathUnset)
	case source.DownwardAPI != nil:
		point(&source.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		defaultFieldRefs(source.DownwardAPI.Items)
	case source.Projected != nil:
		point(&source.Projected.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
		for i := range source.Projected.Sources {
			defaultProjection(&source.Projected.Sources[i])
		}
	case source.Ephemeral != nil && source.Ephemeral.VolumeClaimTemplate != nil:
		claim := &source.Ephemeral.VolumeClaimTemplate.Spec
		point(&claim.VolumeMode, corev1.PersistentVolumeFilesystem)
		roundUp(claim.Resources.Requests)
		roundUp(claim.Resources.Limits)
	case source.Image != nil:
		set(&source.Image.PullPolicy, pullPolicy(source.Image.Reference))
	default:
		defaultDisk(source)
	}
}

func defaultDisk(source *corev1.VolumeSource) {
	switch {
	case source.ISCSI != nil:
		set(&source.ISCSI.ISCSIInterface, "default")
	case source.RBD != nil:
		set(&source.RBD.RBDPool, "rbd")
		set(&source.RBD.RadosUser, "admin")
		set(&source.RBD.Keyring, "/etc/ceph/keyring")
	case source.AzureDisk != nil:
		point(&source.AzureDisk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
		point(&source.AzureDisk.FSType, "ext4")
		point(&source.AzureDisk.ReadOnly, false)
		point(&source.AzureDisk.Kind, corev1.AzureSharedBlobDisk)
	case source.ScaleIO != nil:
		set(&source.ScaleIO.StorageMode, "ThinProvisioned")
		set(&source.ScaleIO.FSType, "xfs")
	}
}

func defaultProjection(projection *corev1.VolumeProjection) {
	if projection.DownwardAPI != nil {
		defaultFieldRefs(projection.DownwardAPI.Items)
	}
	if projection.ServiceAccountToken != nil {
		point(&projection.ServiceAccountToken.ExpirationSeconds, 3600)
	}
}

func defaultFieldRefs(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		if files[i].FieldRef != nil {
			set(&files[i].FieldRef.APIVersion, "v1")
		}
	}
}
