package metacontroller

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operetta-dev/operetta/internal/rawjson"
	"github.com/operetta-dev/operetta/internal/wire"
)

// builtIn has an object of each kind that is declared.
var builtIn = map[Object]Resource{
	&corev1.ConfigMap{}: ConfigMap, &corev1.Namespace{}: Namespace, &corev1.Node{}: Node,
	&corev1.PersistentVolume{}: PersistentVolume, &corev1.PersistentVolumeClaim{}: PersistentVolumeClaim, &corev1.Pod{}: Pod,
	&corev1.Secret{}: Secret, &corev1.Service{}: Service, &corev1.ServiceAccount{}: ServiceAccount,
	&appsv1.DaemonSet{}: DaemonSet, &appsv1.Deployment{}: Deployment, &appsv1.ReplicaSet{}: ReplicaSet, &appsv1.StatefulSet{}: StatefulSet,
	&batchv1.CronJob{}: CronJob, &batchv1.Job{}: Job,
	&autoscalingv2.HorizontalPodAutoscaler{}: HorizontalPodAutoscaler, &policyv1.PodDisruptionBudget{}: PodDisruptionBudget,
	&discoveryv1.EndpointSlice{}: EndpointSlice, &networkingv1.Ingress{}: Ingress, &coordinationv1.Lease{}: Lease,
	&networkingv1.NetworkPolicy{}: NetworkPolicy,
	&rbacv1.ClusterRole{}:         ClusterRole, &rbacv1.ClusterRoleBinding{}: ClusterRoleBinding, &rbacv1.Role{}: Role, &rbacv1.RoleBinding{}: RoleBinding,
}

func TestGoTypesTellTheirKinds(t *testing.T) {
	for object, kind := range builtIn {
		apiVersion, name := complete(object)
		require.Equal(t, kind.Key(), name+"."+apiVersion)
		apiVersion, name = object.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
		require.Equal(t, kind.Key(), name+"."+apiVersion, "it is filled in")
	}
	// The packages' own names for their groups, of which some have a domain.
	for declared, group := range map[reflect.Type]apischema.GroupVersion{
		reflect.TypeFor[corev1.Pod](): corev1.SchemeGroupVersion, reflect.TypeFor[appsv1.Deployment](): appsv1.SchemeGroupVersion, reflect.TypeFor[batchv1.Job](): batchv1.SchemeGroupVersion,
		reflect.TypeFor[autoscalingv2.HorizontalPodAutoscaler](): autoscalingv2.SchemeGroupVersion, reflect.TypeFor[policyv1.PodDisruptionBudget](): policyv1.SchemeGroupVersion,
		reflect.TypeFor[networkingv1.Ingress](): networkingv1.SchemeGroupVersion, reflect.TypeFor[rbacv1.Role](): rbacv1.SchemeGroupVersion, reflect.TypeFor[storagev1.StorageClass](): storagev1.SchemeGroupVersion,
		reflect.TypeFor[flowcontrolv1.FlowSchema](): flowcontrolv1.SchemeGroupVersion, reflect.TypeFor[coordinationv1.Lease](): coordinationv1.SchemeGroupVersion,
		reflect.TypeFor[discoveryv1.EndpointSlice](): discoveryv1.SchemeGroupVersion,
	} {
		require.Equal(t, group.String(), groupVersionOf(declared.PkgPath()))
	}
}

func TestWhatIsSetIsLeftAlone(t *testing.T) {
	half := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{Kind: "Secret"}}
	apiVersion, kind := complete(half)
	require.Equal(t, []string{"", "Secret"}, []string{apiVersion, kind})
	apiVersion, kind = complete(&unstructured.Unstructured{Object: map[string]any{}})
	require.Equal(t, []string{"", ""}, []string{apiVersion, kind})
}

// TestAnswerHasTheKindThatTheTypeTells: whoever asks first, the hash is the same.
func TestAnswerHasTheKindThatTheTypeTells(t *testing.T) {
	whole := stampOf(t, configMap("a"))
	bare := func() *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}} }
	for name, before := range map[string]func(Object, Observed) error{
		"answered": func(Object, Observed) error { return nil },
		"compared": func(child Object, seen Observed) error {
			diff, err := seen.Compare([]Object{child})
			require.Equal(t, []string{"ConfigMap/a"}, diff.Missing)
			return err
		},
		"stamped": func(child Object, _ Observed) error { return Stamp(child) },
		"hashed":  func(child Object, _ Observed) error { _, err := Hash(child); return err },
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := controllerOf(func(_ *greeting, seen Observed) (greetingResult, error) {
				child := bare()
				return greetingResult{Status: map[string]any{}, Children: []Object{child}}, before(child, seen)
			}).Call(SyncHook, noon, ask(false, "", ""))
			require.NoError(t, err)
			require.Contains(t, string(answer.Body), `"children":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"annotations":{"operetta.dev/hash":"`+whole+`"}`)
		})
	}
}

func TestClaimTemplatesAreCompleted(t *testing.T) {
	block := corev1.PersistentVolumeBlock
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{
		{ObjectMeta: metav1.ObjectMeta{Name: "data"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "raw"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeMode: &block}},
	}
	require.NoError(t, Stamp(set))
	require.JSONEq(t, `[
		{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},"spec":{"volumeMode":"Filesystem"},"status":{"phase":"Pending"}},
		{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"raw"},"spec":{"volumeMode":"Block"},"status":{"phase":"Pending"}}]`,
		claimsOf(t, set))
}

// claimsOf returns the claim templates of a StatefulSet as they are sent.
func claimsOf(t *testing.T, set *appsv1.StatefulSet) string {
	wire, err := wire.AppendObject(nil, set)
	require.NoError(t, err)
	return string(rawjson.Lookup(wire, "spec", "volumeClaimTemplates"))
}
