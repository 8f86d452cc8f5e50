package operator

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// DropEmpty removes what means nothing from a Pod's spec, in place, such as securityContext: {}.
// Under server-side apply an object of which all members are taken away goes as a whole, also where
// {} is applied, and the next apply adds it: a new template, and new Pods. A volume's source of {},
// which means something, gets the API server's default mode: it would become an emptyDir.
func DropEmpty(spec *corev1.PodSpec) {
	if affinity := spec.Affinity; affinity != nil {
		if node := affinity.NodeAffinity; node != nil {
			node.PreferredDuringSchedulingIgnoredDuringExecution = slices.DeleteFunc(node.PreferredDuringSchedulingIgnoredDuringExecution, isWithoutPreference)
		}
		drop(&affinity.NodeAffinity)
		drop(&affinity.PodAffinity)
		drop(&affinity.PodAntiAffinity)
	}
	drop(&spec.Affinity)
	drop(&spec.DNSConfig)
	if context := spec.SecurityContext; context != nil {
		drop(&context.SELinuxOptions)
		drop(&context.WindowsOptions)
	}
	drop(&spec.SecurityContext)
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			if context := list[i].SecurityContext; context != nil {
				drop(&context.Capabilities)
				drop(&context.SELinuxOptions)
				drop(&context.WindowsOptions)
			}
			drop(&list[i].SecurityContext)
			drop(&list[i].Lifecycle)
		}
	}
	for i := range spec.Volumes {
		if source := spec.Volumes[i].DownwardAPI; source != nil && len(source.Items) == 0 && source.DefaultMode == nil {
			source.DefaultMode = new(corev1.DownwardAPIVolumeSourceDefaultMode)
		}
		if source := spec.Volumes[i].Projected; source != nil && len(source.Sources) == 0 && source.DefaultMode == nil {
			source.DefaultMode = new(corev1.ProjectedVolumeSourceDefaultMode)
		}
	}
}

func isWithoutPreference(term corev1.PreferredSchedulingTerm) bool {
	return len(term.Preference.MatchExpressions)+len(term.Preference.MatchFields) == 0
}

// drop removes a struct that has nothing in it but empty lists.
func drop[T any](field **T) {
	if *field == nil {
		return
	}
	for _, value := range reflect.ValueOf(**field).Fields() {
		if !value.IsZero() && (value.Kind() != reflect.Slice || value.Len() > 0) {
			return
		}
	}
	*field = nil
}
