package catset

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// templateHashLabel tells which template a Pod is of.
const templateHashLabel = "catsets.ctl.enisoc.com/template-hash"

// templateHash returns a hash of the template as the user wrote it.
func templateHash(set *CatSet) (string, error) {
	return metacontroller.Hash(&corev1.PodTemplate{Template: set.Spec.Template})
}

// wantedReplicas returns the number of Pods, with the default of the CRD.
func wantedReplicas(set *CatSet) int {
	if set.Spec.Replicas == nil {
		return 1
	}
	return int(*set.Spec.Replicas)
}

func podName(set *CatSet, ordinal int) string { return set.Name + "-" + strconv.Itoa(ordinal) }

func claimName(set *CatSet, volume string, ordinal int) string {
	return volume + "-" + podName(set, ordinal)
}

// kept returns the Pods but one.
func (o observed) kept(goes int) []metacontroller.Object {
	var kept []metacontroller.Object
	for _, ordinal := range slices.Sorted(maps.Keys(o)) {
		if ordinal != goes {
			kept = append(kept, metacontroller.Keep(o[ordinal].Snapshot))
		}
	}
	return kept
}

// pod returns the Pod of an ordinal.
func pod(set *CatSet, ordinal int, hash string) *corev1.Pod {
	template := set.Spec.Template.DeepCopy()
	labels := map[string]string{templateHashLabel: hash}
	maps.Copy(labels, template.Labels)
	spec := template.Spec
	spec.Hostname, spec.Subdomain = podName(set, ordinal), set.Spec.ServiceName
	for _, claim := range set.Spec.VolumeClaimTemplates {
		name := claim.Metadata.Name
		spec.Volumes = slices.DeleteFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(set, name, ordinal)},
		}})
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: podName(set, ordinal), Labels: labels, Annotations: template.Annotations},
		Spec:       spec,
	}
}

// newClaims returns the claims that are missing.
func newClaims(set *CatSet, observed metacontroller.Objects) []metacontroller.Object {
	var missing []metacontroller.Object
	kind := metacontroller.PersistentVolumeClaim
	for _, template := range set.Spec.VolumeClaimTemplates {
		for ordinal := range wantedReplicas(set) {
			name := claimName(set, template.Metadata.Name, ordinal)
			if _, found := observed.Find(kind.APIVersion, kind.Kind, name); found {
				continue
			}
			missing = append(missing, &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Name: name, Labels: template.Metadata.Labels, Annotations: template.Metadata.Annotations},
				Spec:       template.Spec,
			})
		}
	}
	return missing
}

// keptClaims returns the claims that exist, those of Pods that are gone included.
func keptClaims(observed metacontroller.Objects) []metacontroller.Object {
	var kept []metacontroller.Object
	for _, claim := range observed.All(metacontroller.PersistentVolumeClaim.APIVersion, metacontroller.PersistentVolumeClaim.Kind) {
		kept = append(kept, metacontroller.Keep(claim))
	}
	return kept
}
