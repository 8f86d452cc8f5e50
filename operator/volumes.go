package operator

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// CompleteVolumes sets the API server's defaults where Metacontroller would not leave them alone,
// in place: in a list of items without names, and in a volume without a source, to which the
// emptyDir would stick when it gets one.
func CompleteVolumes(volumes []corev1.Volume) {
	for i := range volumes {
		if volumes[i].VolumeSource == (corev1.VolumeSource{}) {
			volumes[i].EmptyDir = &corev1.EmptyDirVolumeSource{}
		}
		if volumes[i].Projected == nil {
			continue
		}
		for j := range volumes[i].Projected.Sources {
			completeSource(&volumes[i].Projected.Sources[j])
		}
	}
}

// The API server's defaults in projected sources, in seconds.
const (
	tokenExpiration          = int64(3600)
	certificateMaxExpiration = int32(86400)
)

func completeSource(source *corev1.VolumeProjection) {
	if token := source.ServiceAccountToken; token != nil && token.ExpirationSeconds == nil {
		token.ExpirationSeconds = new(tokenExpiration)
	}
	if certificate := source.PodCertificate; certificate != nil && certificate.MaxExpirationSeconds == nil {
		certificate.MaxExpirationSeconds = new(certificateMaxExpiration)
	}
	if source.DownwardAPI == nil {
		return
	}
	for _, file := range source.DownwardAPI.Items {
		if file.FieldRef != nil {
			file.FieldRef.APIVersion = cmp.Or(file.FieldRef.APIVersion, "v1")
		}
		if amount := file.ResourceFieldRef; amount != nil && amount.Divisor.IsZero() {
			amount.Divisor = *resource.NewQuantity(0, resource.DecimalSI) // which means 1
		}
	}
}
