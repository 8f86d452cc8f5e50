package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func admitConfigMap(_ *admission, config, old *corev1.ConfigMap) field.ErrorList {
	if old == nil || old.Immutable == nil || !*old.Immutable {
		return nil
	}
	return append(unchanged(field.NewPath("data"), config.Data, old.Data),
		unchanged(field.NewPath("binaryData"), config.BinaryData, old.BinaryData)...)
}

func admitSecret(_ *admission, secret, old *corev1.Secret) field.ErrorList {
	set(&secret.Type, corev1.SecretTypeOpaque)
	for key, value := range secret.StringData {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
	if old == nil {
		return nil
	}
	problems := unchanged(field.NewPath("type"), secret.Type, old.Type)
	if old.Immutable != nil && *old.Immutable {
		problems = append(problems, unchanged(field.NewPath("data"), secret.Data, old.Data)...)
	}
	return problems
}

func admitNamespace(_ *admission, namespace, old *corev1.Namespace) field.ErrorList {
	if namespace.Labels == nil {
		namespace.Labels = map[string]string{}
	}
	namespace.Labels[corev1.LabelMetadataName] = namespace.Name
	if old == nil {
		namespace.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
		namespace.Status.Phase = corev1.NamespaceActive
	}
	return nil
}

func admitClaim(_ *admission, claim, _ *corev1.PersistentVolumeClaim) field.ErrorList {
	defaultClaim(claim)
	return nil
}

func defaultClaim(claim *corev1.PersistentVolumeClaim) {
	point(&claim.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	set(&claim.Status.Phase, corev1.ClaimPending)
	roundUp(claim.Spec.Resources.Requests)
	roundUp(claim.Spec.Resources.Limits)
}

func admitRoleBinding(_ *admission, binding, old *rbacv1.RoleBinding) field.ErrorList {
	defaultSubjects(binding.Subjects)
	set(&binding.RoleRef.APIGroup, rbacv1.GroupName)
	if old == nil || binding.RoleRef == old.RoleRef {
		return nil
	}
	return refuseRoleRef(binding.RoleRef)
}

func admitClusterRoleBinding(_ *admission, binding, old *rbacv1.ClusterRoleBinding) field.ErrorList {
	defaultSubjects(binding.Subjects)
	set(&binding.RoleRef.APIGroup, rbacv1.GroupName)
	if old == nil || binding.RoleRef == old.RoleRef {
		return nil
	}
	return refuseRoleRef(binding.RoleRef)
}

func defaultSubjects(subjects []rbacv1.Subject) {
	for i := range subjects {
		if subjects[i].Kind == rbacv1.UserKind || subjects[i].Kind == rbacv1.GroupKind {
			set(&subjects[i].APIGroup, rbacv1.GroupName)
		}
	}
}

func refuseRoleRef(now rbacv1.RoleRef) field.ErrorList {
	return field.ErrorList{field.Invalid(field.NewPath("roleRef"), now, "cannot change roleRef")}
}
