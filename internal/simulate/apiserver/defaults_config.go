package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func admitConfigMap(a *admission) field.ErrorList {
	config := a.new.(*corev1.ConfigMap)
	if a.old == nil {
		return nil
	}
	old := a.old.(*corev1.ConfigMap)
	if old.Immutable == nil || !*old.Immutable {
		return nil
	}
	return append(unchanged(field.NewPath("data"), config.Data, old.Data),
		unchanged(field.NewPath("binaryData"), config.BinaryData, old.BinaryData)...)
}

func admitSecret(a *admission) field.ErrorList {
	secret := a.new.(*corev1.Secret)
	set(&secret.Type, corev1.SecretTypeOpaque)
	for key, value := range secret.StringData {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
	if a.old == nil {
		return nil
	}
	old := a.old.(*corev1.Secret)
	problems := unchanged(field.NewPath("type"), secret.Type, old.Type)
	if old.Immutable != nil && *old.Immutable {
		problems = append(problems, unchanged(field.NewPath("data"), secret.Data, old.Data)...)
	}
	return problems
}

func admitNamespace(a *admission) field.ErrorList {
	namespace := a.new.(*corev1.Namespace)
	if namespace.Labels == nil {
		namespace.Labels = map[string]string{}
	}
	namespace.Labels[corev1.LabelMetadataName] = namespace.Name
	if a.old == nil {
		namespace.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
		namespace.Status.Phase = corev1.NamespaceActive
	}
	return nil
}

func admitClaim(a *admission) field.ErrorList {
	claim := a.new.(*corev1.PersistentVolumeClaim)
	defaultClaim(claim)
	return nil
}

func defaultClaim(claim *corev1.PersistentVolumeClaim) {
	point(&claim.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	set(&claim.Status.Phase, corev1.ClaimPending)
	roundUp(claim.Spec.Resources.Requests)
	roundUp(claim.Spec.Resources.Limits)
}

func admitRoleBinding(a *admission) field.ErrorList {
	binding := a.new.(*rbacv1.RoleBinding)
	defaultSubjects(binding.Subjects)
	set(&binding.RoleRef.APIGroup, rbacv1.GroupName)
	if a.old == nil {
		return nil
	}
	return checkRoleRef(binding.RoleRef, a.old.(*rbacv1.RoleBinding).RoleRef)
}

func admitClusterRoleBinding(a *admission) field.ErrorList {
	binding := a.new.(*rbacv1.ClusterRoleBinding)
	defaultSubjects(binding.Subjects)
	set(&binding.RoleRef.APIGroup, rbacv1.GroupName)
	if a.old == nil {
		return nil
	}
	return checkRoleRef(binding.RoleRef, a.old.(*rbacv1.ClusterRoleBinding).RoleRef)
}

func defaultSubjects(subjects []rbacv1.Subject) {
	for i := range subjects {
		if subjects[i].Kind == rbacv1.UserKind || subjects[i].Kind == rbacv1.GroupKind {
			set(&subjects[i].APIGroup, rbacv1.GroupName)
		}
	}
}

func checkRoleRef(now, old rbacv1.RoleRef) field.ErrorList {
	if now == old {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("roleRef"), now, "cannot change roleRef")}
}
