package apiserver

import (
	"testing"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	templateOfA = `template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: x}]}}`
	jobTemplate = `template: {spec: {restartPolicy: Never, containers: [{name: c, image: x}]}}`
	claimSpec   = `accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}`
)

// TestImmutableFields has what k8s.io/kubernetes refuses of an update: validation.go below pkg/apis.
func TestImmutableFields(t *testing.T) {
	const (
		immutable = `field is immutable`
		set       = "field is immutable when `immutable` is set"
	)
	for name, c := range map[string]struct{ object, patch, words string }{
		"Deployment's selector":      {`apiVersion: apps/v1, kind: Deployment, spec: {selector: {matchLabels: {a: b}}, ` + templateOfA + `}`, `{"spec":{"selector":{"matchLabels":{"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}}}}}`, `spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: ` + immutable},
		"ReplicaSet's selector":      {`apiVersion: apps/v1, kind: ReplicaSet, spec: {selector: {matchLabels: {a: b}}, ` + templateOfA + `}`, `{"spec":{"selector":{"matchLabels":{"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}}}}}`, `spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: ` + immutable},
		"DaemonSet's selector":       {`apiVersion: apps/v1, kind: DaemonSet, spec: {selector: {matchLabels: {a: b}}, ` + templateOfA + `}`, `{"spec":{"selector":{"matchLabels":{"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}}}}}`, `spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: ` + immutable},
		"StatefulSet's service":      {`apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: x, selector: {matchLabels: {a: b}}, ` + templateOfA + `}`, `{"spec":{"serviceName":"y"}}`, "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"},
		"StatefulSet's replicas":     {`apiVersion: apps/v1, kind: StatefulSet, spec: {serviceName: x, selector: {matchLabels: {a: b}}, ` + templateOfA + `}`, `{"spec":{"replicas":3}}`, ""},
		"Job's template":             {`apiVersion: batch/v1, kind: Job, spec: {` + jobTemplate + `}`, `{"spec":{"template":{"spec":{"priorityClassName":"high"}}}}`, immutable},
		"Job's completions":          {`apiVersion: batch/v1, kind: Job, spec: {` + jobTemplate + `}`, `{"spec":{"completions":2}}`, `spec.completions: Invalid value: 2: ` + immutable},
		"Job's success policy":       {`apiVersion: batch/v1, kind: Job, spec: {completionMode: Indexed, completions: 2, ` + jobTemplate + `}`, `{"spec":{"successPolicy":{"rules":[{"succeededCount":1}]}}}`, `spec.successPolicy: Invalid value: {"rules":[{"succeededCount":1}]}: ` + immutable},
		"indexed Job's completions":  {`apiVersion: batch/v1, kind: Job, spec: {completionMode: Indexed, completions: 2, parallelism: 2, ` + jobTemplate + `}`, `{"spec":{"completions":3}}`, `spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism`},
		"indexed Job's size":         {`apiVersion: batch/v1, kind: Job, spec: {completionMode: Indexed, completions: 2, parallelism: 2, ` + jobTemplate + `}`, `{"spec":{"completions":3,"parallelism":3}}`, ""},
		"suspended Job's image":      {`apiVersion: batch/v1, kind: Job, spec: {suspend: true, ` + jobTemplate + `}`, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"y"}]}}}}`, immutable},
		"suspended Job's node":       {`apiVersion: batch/v1, kind: Job, spec: {suspend: true, ` + jobTemplate + `}`, `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"},"affinity":{"nodeAffinity":{}}}}}}`, ""},
		"suspended Job's resources":  {`apiVersion: batch/v1, kind: Job, spec: {suspend: true, ` + jobTemplate + `}`, `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x","resources":{"requests":{"cpu":"1"}}}]}}}}`, ""},
		"running Job's node":         {`apiVersion: batch/v1, kind: Job, spec: {` + jobTemplate + `}`, `{"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}}`, immutable},
		"Service's address":          {`apiVersion: v1, kind: Service, spec: {ports: [{port: 1}]}`, `{"spec":{"clusterIP":"10.96.9.9","clusterIPs":["10.96.9.9"]}}`, `spec.clusterIPs[0]: Invalid value: ["10.96.9.9"]: may not change once set`},
		"Service that loses its own": {`apiVersion: v1, kind: Service, spec: {ports: [{port: 1}]}`, `{"spec":{"clusterIP":"None","clusterIPs":["None"]}}`, `spec.clusterIPs[0]: Invalid value: ["None"]: may not change once set`},
		"claim's modes":              {`apiVersion: v1, kind: PersistentVolumeClaim, spec: {` + claimSpec + `}`, `{"spec":{"accessModes":["ReadWriteMany"]}}`, "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"},
		"claim's size before a bind": {`apiVersion: v1, kind: PersistentVolumeClaim, spec: {` + claimSpec + `}`, `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`, "spec: Forbidden: spec is immutable after creation"},
		"claim's smaller size":       {`apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Bound, capacity: {storage: 1Gi}}, spec: {` + claimSpec + `}`, `{"spec":{"resources":{"requests":{"storage":"1Mi"}}}}`, "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"},
		"bound claim's size":         {`apiVersion: v1, kind: PersistentVolumeClaim, status: {phase: Bound, capacity: {storage: 1Gi}}, spec: {` + claimSpec + `}`, `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`, ""},
		"claim's volume":             {`apiVersion: v1, kind: PersistentVolumeClaim, spec: {volumeName: v, ` + claimSpec + `}`, `{"spec":{"volumeName":"w"}}`, "spec: Forbidden: spec is immutable after creation"},
		"ConfigMap's data":           {`apiVersion: v1, kind: ConfigMap, immutable: true, data: {a: b}`, `{"data":{"a":"c"}}`, "data: Forbidden: " + set},
		"ConfigMap's immutability":   {`apiVersion: v1, kind: ConfigMap, immutable: true, data: {a: b}`, `{"immutable":null}`, "immutable: Forbidden: " + set},
		"Secret's data":              {`apiVersion: v1, kind: Secret, immutable: true, data: {a: Yg==}`, `{"data":{"a":"Yw=="}}`, "data: Forbidden: " + set},
		"Secret's immutability":      {`apiVersion: v1, kind: Secret, immutable: true, data: {a: Yg==}`, `{"immutable":false}`, "immutable: Forbidden: " + set},
		"Secret's type":              {`apiVersion: v1, kind: Secret, data: {a: Yg==}`, `{"type":"other"}`, `type: Invalid value: "other": ` + immutable},
	} {
		t.Run(name, func(t *testing.T) {
			s := emptyServer()
			object := &unstructured.Unstructured{Object: parse(t, `{metadata: {name: a, namespace: default}, `+c.object+`}`)}
			_, err := s.Create(ByUser, object)
			require.NoError(t, err)
			if status, found := object.Object["status"].(map[string]any); found {
				_, err = s.UpdateStatus(ByKubernetes, kube.RefOf(object), status)
				require.NoError(t, err)
			}
			err = s.Patch(ByUser, kube.RefOf(object), []byte(c.patch))
			if c.words == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.words)
			}
		})
	}
}

// TestIncompleteObjects are refused when they are created.
func TestIncompleteObjects(t *testing.T) {
	for object, words := range map[string]string{
		`apiVersion: apps/v1, kind: ReplicaSet, spec: {selector: {matchLabels: {a: b}}}`:                                         "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
		`apiVersion: apps/v1, kind: ReplicaSet, spec: {` + templateOfA + `}`:                                                     `spec.selector: Required value`,
		`apiVersion: apps/v1, kind: ReplicaSet, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}}}`: `spec.template.spec.containers: Required value`,
		`apiVersion: v1, kind: PersistentVolumeClaim, spec: {}`:                                                                  `spec.accessModes: Required value: at least 1 access mode is required, spec.resources[storage]: Required value`,
	} {
		_, err := emptyServer().Create(ByUser, &unstructured.Unstructured{Object: parse(t, `{metadata: {name: a, namespace: default}, `+object+`}`)})
		require.ErrorContains(t, err, words)
	}
}
