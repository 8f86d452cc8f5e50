package apiserver

import (
	"fmt"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/operetta-dev/operetta/metacontroller"
)

// scaler is who writes numbers of replicas besides the hooks.
const scaler = "kube-controller-manager"

// replicasOf returns the path of the number of replicas, or nil where a kind has no scale
// subresource.
func (s *Server) replicasOf(ref kube.Ref) []string {
	for _, kind := range []metacontroller.Resource{metacontroller.Deployment, metacontroller.ReplicaSet, metacontroller.StatefulSet} {
		if ref.Is(kind) {
			return []string{"spec", "replicas"}
		}
	}
	kind := s.Kind(ref.APIVersion, ref.Kind)
	if kind.definition == nil {
		return nil
	}
	if definition, err := kind.definition(); err == nil {
		return definition.Replicas()
	}
	return nil
}

// Replicas returns the number of replicas in an object's scale subresource. The error is that of
// the API server.
func (s *Server) Replicas(ref kube.Ref) (int32, error) {
	object, err := s.Live(ref)
	if err != nil {
		return 0, err
	}
	path := s.replicasOf(ref)
	if path == nil {
		return 0, apierrors.NewNotFound(s.Kind(ref.APIVersion, ref.Kind).GroupResource(), ref.Name+"/scale")
	}
	replicas, found, err := unstructured.NestedInt64(object.Object, path...)
	if err == nil && !found {
		err = fmt.Errorf("the spec replicas field %v does not exist", path)
	}
	return int32(replicas), err
}

// SetReplicas writes the number of replicas through an object's scale subresource, as an
// autoscaler does: the field is its own from then on.
func (s *Server) SetReplicas(ref kube.Ref, replicas int32) error {
	if _, err := s.Replicas(ref); err != nil {
		return err
	}
	path, scaled := s.replicasOf(ref), s.Get(ref).DeepCopy()
	if err := unstructured.SetNestedField(scaled.Object, int64(replicas), path...); err != nil {
		return err
	}
	var noted []any
	if applied := s.objects[ref].stillApplied(ByKubernetes, scaled); applied != nil {
		entry, err := appliedEntry(ref.APIVersion, applied)
		if err != nil {
			return err
		}
		noted = append(noted, entry)
	}
	fields := map[string]any{}
	for i := len(path) - 1; i >= 0; i-- {
		fields = map[string]any{"f:" + path[i]: fields}
	}
	_, err := s.update(ByKubernetes, scaled, append(noted, map[string]any{
		"manager": scaler, "operation": "Update", "subresource": "scale", "apiVersion": ref.APIVersion, "fieldsType": "FieldsV1", "fieldsV1": fields,
	}))
	return err
}

// scalers returns the entries in an object's managedFields of those who have scaled it, unless a
// configuration that is applied takes the number from them.
func (s *Server) scalers(object kube.Object, desired *Configuration) (left []any) {
	entries, _, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata", "managedFields")
	list, _ := entries.([]any)
	for _, entry := range list {
		if fields, _ := entry.(map[string]any); fields["manager"] == scaler && !desired.fields.Has(pathOf(s.replicasOf(kube.RefOf(object)))) {
			left = append(left, entry)
		}
	}
	return left
}

func pathOf(names []string) fieldpath.Path {
	var path fieldpath.Path
	for _, name := range names {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}

// TargetOf returns what a HorizontalPodAutoscaler scales.
func TargetOf(autoscaler kube.Object) kube.Ref {
	target, _, _ := unstructured.NestedFieldNoCopy(autoscaler.Object, "spec", "scaleTargetRef")
	fields, _ := target.(map[string]any)
	text := func(name string) string { value, _ := fields[name].(string); return value }
	return kube.Ref{APIVersion: text("apiVersion"), Kind: text("kind"), Namespace: autoscaler.GetNamespace(), Name: text("name")}
}
