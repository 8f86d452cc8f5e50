package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

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

// defaultDisk fills in volumes that only some clusters can mount.
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
