package crds

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
)

// nameOfISCSI is the qualified name of a target or of an initiator, in ASCII without
// control characters.
var nameOfISCSI = keywords{
	"maxLength": int64(223),
	"pattern":   `^(iqn\.[0-9]{4}-[0-9]{2}\.[A-Za-z0-9.-]+:[!-#%'-)+\--:<-{}~]+|eui\.[A-Za-z0-9]{16}|naa\.[A-Za-z0-9]{32})$`,
}

// notNone is a list with an entry.
var notNone = keywords{"minItems": int64(1)}

// shortWord is about the name of a kind.
var shortWord = keywords{"maxLength": int64(63), "pattern": `^[A-Za-z0-9]+$`}

// step is a part of a path that does not lead upwards.
const step = `(\.|\.?[^/.][^/]*|\.\.[^/]+)`

var (
	// pathInVolume is a path that does not leave its volume.
	pathInVolume = keywords{"maxLength": int64(4096), "pattern": `^(\.|\.?[^/.][^/]*)(/` + step + `?)*$`}
	// upless is a path that may be absolute, and does not lead upwards.
	upless  = keywords{"minLength": int64(1), "maxLength": int64(1024), "pattern": `^/?(` + step + `(/` + step + `?)*)?$`}
	subPath = keywords{"maxLength": int64(4096), "pattern": `^(` + step + `(/` + step + `?)*)?$`}
)

// aboutVolumes is what is asked of volumes and of where they are mounted.
var aboutVolumes = map[reflect.Type]asked{
	reflect.TypeFor[corev1.VolumeMount](): {
		fields: map[string]keywords{
			"name":              {"minLength": int64(1), "maxLength": int64(63)},
			"mountPath":         matching(`^([A-Za-z]:)?[^:]+$`), // which begins with a drive on Windows
			"mountPropagation":  oneOf("None", "HostToContainer", "Bidirectional"),
			"recursiveReadOnly": oneOf("Disabled", "IfPossible", "Enabled"),
			"subPath":           subPath,
			"subPathExpr":       subPath,
		},
		rules: []rule{
			{"!has(self.subPath) || self.subPath == '' || !has(self.subPathExpr) || self.subPathExpr == ''",
				"subPath and subPathExpr cannot both be set: remove one of them"},
			{"!has(self.recursiveReadOnly) || self.recursiveReadOnly == 'Disabled' || " +
				"(has(self.readOnly) && self.readOnly && (!has(self.mountPropagation) || self.mountPropagation == 'None'))",
				"recursiveReadOnly needs readOnly true, and cannot be set with mountPropagation other than None"},
		},
	},
	reflect.TypeFor[corev1.VolumeDevice](): {fields: map[string]keywords{
		"name": notEmpty, "devicePath": upless,
	}},
	// A name and what it is of; where that is left out, it is an emptyDir.
	reflect.TypeFor[corev1.Volume](): {fields: map[string]keywords{"name": label}, itself: keywords{"maxProperties": int64(2)}},
	reflect.TypeFor[corev1.EmptyDirVolumeSource](): {fields: map[string]keywords{
		"medium": matching(`^(Memory|HugePages(-[0-9]+[KMG]i)?)?$`),
	}},
	reflect.TypeFor[corev1.HostPathVolumeSource](): {fields: map[string]keywords{
		"path": upless, "type": oneOf("", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"),
	}},
	reflect.TypeFor[corev1.ImageVolumeSource](): {
		fields: map[string]keywords{"pullPolicy": oneOf("Always", "IfNotPresent", "Never"), "reference": matching(trimmedPattern)},
		itself: keywords{"required": []any{"reference"}},
	},
	reflect.TypeFor[corev1.SecretVolumeSource](): {
		fields: map[string]keywords{"secretName": subdomain, "defaultMode": mode, "items": onceBy("path")},
		rules:  []rule{{"has(self.secretName)", "a Secret volume needs secretName: set secretName"}},
	},
	reflect.TypeFor[corev1.ConfigMapVolumeSource](): {
		fields: map[string]keywords{"name": maybeSubdomain, "defaultMode": mode, "items": onceBy("path")}, rules: []rule{namesAnObject},
	},
	reflect.TypeFor[corev1.ConfigMapProjection]():           {fields: map[string]keywords{"name": maybeSubdomain, "items": onceBy("path")}, rules: []rule{namesAnObject}},
	reflect.TypeFor[corev1.SecretProjection]():              {fields: map[string]keywords{"name": maybeSubdomain, "items": onceBy("path")}, rules: []rule{namesAnObject}},
	reflect.TypeFor[corev1.ServiceAccountTokenProjection](): {fields: map[string]keywords{"expirationSeconds": between(600, 1<<32), "path": pathInVolume}},
	reflect.TypeFor[corev1.ClusterTrustBundleProjection](): {fields: map[string]keywords{
		"path": pathInVolume, "labelSelector.matchExpressions": {"maxItems": int64(8)},
	}},
	reflect.TypeFor[corev1.EphemeralVolumeSource](): {itself: keywords{"required": []any{"volumeClaimTemplate"}}, fields: map[string]keywords{
		"volumeClaimTemplate.metadata.name":                  {"maxLength": int64(0)},
		"volumeClaimTemplate.metadata.namespace":             {"maxLength": int64(0)},
		"volumeClaimTemplate.metadata.finalizers":            {"maxItems": int64(0)},
		"volumeClaimTemplate.spec.selector.matchExpressions": {"maxItems": int64(8)},
	}},
	reflect.TypeFor[corev1.PersistentVolumeClaimSpec](): {itself: keywords{"required": []any{"accessModes", "resources"}}, fields: map[string]keywords{
		"storageClassName": maybeSubdomain, "volumeAttributesClassName": maybeSubdomain, "volumeMode": oneOf("Filesystem", "Block"),
		"resources":   {"required": []any{"requests"}},
		"accessModes": {"minItems": int64(1), "maxItems": int64(4)}, "accessModes[]": oneOf("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"),
	}, rules: []rule{
		{"has(self.resources) && has(self.resources.requests) && 'storage' in self.resources.requests", "a volume needs a size: set resources.requests.storage"},
		{"!has(self.accessModes) || !('ReadWriteOncePod' in self.accessModes) || size(self.accessModes) == 1", "ReadWriteOncePod cannot be set with another access mode: remove the others"},
		{"!has(self.dataSource) || self.dataSource.kind == 'PersistentVolumeClaim' || (has(self.dataSource.apiGroup) && self.dataSource.apiGroup != '')",
			"a dataSource of another kind than PersistentVolumeClaim needs apiGroup: set dataSource.apiGroup"},
		{"!has(self.dataSource) || !has(self.dataSourceRef)", "dataSource and dataSourceRef say the same: remove one of them"},
	}},
	reflect.TypeFor[corev1.TypedLocalObjectReference](): {fields: map[string]keywords{"apiGroup": maybeSubdomain, "kind": shortWord, "name": subdomain}},
	reflect.TypeFor[corev1.TypedObjectReference](): {fields: map[string]keywords{
		"apiGroup": maybeSubdomain, "kind": shortWord, "name": subdomain, "namespace": labelOrNone,
	}},
	reflect.TypeFor[corev1.GitRepoVolumeSource](): {fields: map[string]keywords{"repository": notEmpty, "directory": subPath}},
	reflect.TypeFor[corev1.QuobyteVolumeSource](): {fields: map[string]keywords{
		// The API server has an error for each part of a registry, which quotes the whole.
		"registry": {"minLength": int64(1), "maxLength": int64(1024), "pattern": `^[^:,\[\]]*:[^:,\[\]]*(,[^:,\[\]]*:[^:,\[\]]*)*$`},
		"tenant":   {"maxLength": int64(64)},
		"volume":   notEmpty,
	}},
	reflect.TypeFor[corev1.StorageOSVolumeSource](): {
		fields: map[string]keywords{"volumeName": label, "volumeNamespace": labelOrNone}, itself: keywords{"required": []any{"volumeName"}},
	},
	reflect.TypeFor[corev1.ScaleIOVolumeSource](): {
		fields: map[string]keywords{"gateway": notEmpty, "system": notEmpty, "volumeName": notEmpty}, itself: keywords{"required": []any{"gateway", "secretRef", "system", "volumeName"}},
	},
	reflect.TypeFor[corev1.AzureDiskVolumeSource](): {
		fields: map[string]keywords{
			"diskName": notEmpty, "diskURI": notEmpty, "kind": oneOf("Shared", "Dedicated", "Managed"), "cachingMode": oneOf("None", "ReadOnly", "ReadWrite"),
		},
		rules: []rule{{"self.diskURI.startsWith(has(self.kind) && self.kind == 'Managed' ? '/subscriptions/' : 'https://')",
			"diskURI begins with /subscriptions/ where kind is Managed, and with https:// otherwise: correct it, or set kind"}},
	},
	reflect.TypeFor[corev1.FCVolumeSource](): {rules: []rule{
		{"(has(self.targetWWNs) && size(self.targetWWNs) > 0) != (has(self.wwids) && size(self.wwids) > 0)",
			"a Fibre Channel volume needs exactly one of targetWWNs and wwids"},
		{"!has(self.targetWWNs) || size(self.targetWWNs) == 0 || (has(self.lun) && self.lun >= 0 && self.lun <= 255)",
			"targetWWNs need lun: set a number from 0 to 255"},
	}},
	reflect.TypeFor[corev1.ISCSIVolumeSource](): {
		fields: map[string]keywords{"targetPortal": notEmpty, "iqn": nameOfISCSI, "initiatorName": nameOfISCSI, "lun": between(0, 255)},
		rules: []rule{{"has(self.secretRef) || !(has(self.chapAuthDiscovery) && self.chapAuthDiscovery) && !(has(self.chapAuthSession) && self.chapAuthSession)",
			"chapAuthDiscovery and chapAuthSession need secretRef: set secretRef"}},
	},
	reflect.TypeFor[corev1.GCEPersistentDiskVolumeSource]():    {fields: map[string]keywords{"pdName": notEmpty, "partition": between(0, 255)}},
	reflect.TypeFor[corev1.AWSElasticBlockStoreVolumeSource](): {fields: map[string]keywords{"volumeID": notEmpty, "partition": between(0, 255)}},
	reflect.TypeFor[corev1.FlockerVolumeSource](): {fields: map[string]keywords{"datasetName": matching(`^[^/]*$`)}, rules: []rule{
		{"(has(self.datasetName) && self.datasetName != '') != (has(self.datasetUUID) && self.datasetUUID != '')",
			"a Flocker volume needs exactly one of datasetName and datasetUUID"},
	}},
	reflect.TypeFor[corev1.GlusterfsVolumeSource]():            {fields: map[string]keywords{"endpoints": notEmpty, "path": notEmpty}},
	reflect.TypeFor[corev1.RBDVolumeSource]():                  {fields: map[string]keywords{"monitors": notNone, "image": notEmpty}},
	reflect.TypeFor[corev1.CephFSVolumeSource]():               {fields: map[string]keywords{"monitors": notNone}},
	reflect.TypeFor[corev1.FlexVolumeSource]():                 {fields: map[string]keywords{"driver": notEmpty}},
	reflect.TypeFor[corev1.CinderVolumeSource]():               {fields: map[string]keywords{"volumeID": notEmpty}},
	reflect.TypeFor[corev1.PortworxVolumeSource]():             {fields: map[string]keywords{"volumeID": notEmpty}},
	reflect.TypeFor[corev1.AzureFileVolumeSource]():            {fields: map[string]keywords{"secretName": notEmpty, "shareName": notEmpty}},
	reflect.TypeFor[corev1.VsphereVirtualDiskVolumeSource]():   {fields: map[string]keywords{"volumePath": notEmpty}},
	reflect.TypeFor[corev1.PhotonPersistentDiskVolumeSource](): {fields: map[string]keywords{"pdID": notEmpty}},
	reflect.TypeFor[corev1.CSIVolumeSource](): {fields: map[string]keywords{
		"driver": {"maxLength": int64(63), "pattern": `^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?)*$`},
	}},
	reflect.TypeFor[corev1.PersistentVolumeClaimVolumeSource](): {fields: map[string]keywords{"claimName": subdomain}},
	reflect.TypeFor[corev1.ProjectedVolumeSource]():             {fields: map[string]keywords{"defaultMode": mode, "sources": {"maxItems": int64(20)}}},
	reflect.TypeFor[corev1.VolumeProjection]():                  {itself: keywords{"minProperties": int64(1), "maxProperties": int64(1)}},
	reflect.TypeFor[corev1.DownwardAPIVolumeSource]():           {fields: map[string]keywords{"defaultMode": mode, "items": onceBy("path")}},
	reflect.TypeFor[corev1.DownwardAPIProjection]():             {fields: map[string]keywords{"items": onceBy("path")}},
	reflect.TypeFor[corev1.DownwardAPIVolumeFile](): {
		fields: map[string]keywords{
			"path": pathInVolume, "mode": mode, "resourceFieldRef": {"required": []any{"containerName", "resource"}}, "resourceFieldRef.containerName": notEmpty,
			"fieldRef.fieldPath": {"maxLength": int64(340), "pattern": `^metadata\.(name|namespace|uid|labels|annotations|(labels|annotations)\['` + qualifiedKey + `'\])$`},
		},
		rules: []rule{{"has(self.fieldRef) != has(self.resourceFieldRef)", "a downward API file needs exactly one of fieldRef and resourceFieldRef"}},
	},
	reflect.TypeFor[corev1.KeyToPath]():       {fields: map[string]keywords{"key": keyOfObject, "mode": mode, "path": pathInVolume}},
	reflect.TypeFor[corev1.NFSVolumeSource](): {fields: map[string]keywords{"server": notEmpty, "path": matching(`^/[^\n]*$`)}},
}
