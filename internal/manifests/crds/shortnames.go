package crds

// shortNames are those that kubectl takes for a kind of Kubernetes' own, as
// `kubectl api-resources` prints them. It never takes such a name for a custom resource.
var shortNames = map[string]string{
	"cj": "cronjobs", "cm": "configmaps", "crd": "customresourcedefinitions", "crds": "customresourcedefinitions", "cs": "componentstatuses",
	"csr": "certificatesigningrequests", "deploy": "deployments", "ds": "daemonsets", "ep": "endpoints", "ev": "events", "hpa": "horizontalpodautoscalers",
	"ing": "ingresses", "ip": "ipaddresses", "limits": "limitranges", "netpol": "networkpolicies", "no": "nodes", "ns": "namespaces",
	"pc": "priorityclasses", "pdb": "poddisruptionbudgets", "po": "pods", "pv": "persistentvolumes", "pvc": "persistentvolumeclaims",
	"quota": "resourcequotas", "rc": "replicationcontrollers", "rs": "replicasets", "sa": "serviceaccounts", "sc": "storageclasses",
	"sts": "statefulsets", "svc": "services", "vac": "volumeattributesclasses",
}
