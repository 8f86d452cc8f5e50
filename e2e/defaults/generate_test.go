package defaults

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
)

// kinds are those that hooks make, as empty objects.
var kinds = map[string]func() any{
	"v1 Pod":                   func() any { return &corev1.Pod{} },
	"v1 Service":               func() any { return &corev1.Service{} },
	"v1 ConfigMap":             func() any { return &corev1.ConfigMap{} },
	"v1 Secret":                func() any { return &corev1.Secret{} },
	"v1 ServiceAccount":        func() any { return &corev1.ServiceAccount{} },
	"v1 PersistentVolumeClaim": func() any { return &corev1.PersistentVolumeClaim{} },
	"apps/v1 Deployment":       func() any { return &appsv1.Deployment{} },
	"apps/v1 StatefulSet":      func() any { return &appsv1.StatefulSet{} },
	"apps/v1 DaemonSet":        func() any { return &appsv1.DaemonSet{} },
	"batch/v1 Job":             func() any { return &batchv1.Job{} },

	"rbac.authorization.k8s.io/v1 Role":        func() any { return &rbacv1.Role{} },
	"rbac.authorization.k8s.io/v1 RoleBinding": func() any { return &rbacv1.RoleBinding{} },
}

// newFiller returns what sets fields at random: about half of those that are
// optional, with the values on which defaults depend.
func newFiller(seed int64) *randfill.Filler {
	return randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.5).NumElements(1, 2).
		Funcs(slices.Concat(plainValues(), podValues(), otherValues())...)
}

func plainValues() []any {
	return slices.Concat(
		oneOf("", "web", "http"),
		oneOf[int32](0, 0, 1, 80),
		oneOf[int64](0, 0, 1, 30),
		oneOf(map[string]string(nil), map[string]string{}, map[string]string{"tier": "back"}),
		oneOf(intstr.IntOrString{}, intstr.FromInt32(80), intstr.FromString(""), intstr.FromString("25%")),
		oneOf(resource.MustParse("0"), resource.MustParse("1500u"), resource.MustParse("100m"), resource.MustParse("0.5"),
			resource.MustParse("1e3"), resource.MustParse("2Gi")),
		oneOf(metav1.TypeMeta{}),
		oneOf(metav1.Time{}),
		oneOf(metav1.ObjectMeta{}, metav1.ObjectMeta{Labels: map[string]string{"tier": "back"}, Annotations: map[string]string{"a": "b"}}),
		oneOf(corev1.ConditionStatus(""), corev1.ConditionFalse),
	)
}

func podValues() []any {
	return slices.Concat(
		// Containers are checked for requests that are over their limits.
		oneOf(corev1.ResourceRequirements{}, limited(corev1.ResourceList{}), limited(nil),
			limited(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1n")}),
			corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500u")}}),
		oneOf(corev1.DNSPolicy(""), corev1.DNSDefault),
		oneOf(corev1.PullPolicy(""), corev1.PullNever),
		oneOf(corev1.Protocol(""), corev1.ProtocolUDP),
		oneOf(corev1.TerminationMessagePolicy(""), corev1.TerminationMessageFallbackToLogsOnError),
		oneOf(corev1.URIScheme(""), corev1.URISchemeHTTPS),
		oneOf(corev1.HostPathUnset, corev1.HostPathDirectory),
		oneOf(corev1.AzureDataDiskCachingNone),
		oneOf(corev1.AzureManagedDisk),
		oneOf(corev1.PersistentVolumeBlock),
		// Unions: the API server refuses two members, and for some fills in one
		// where there is none.
		[]any{
			volumeSource, oneMember[corev1.VolumeProjection], oneMember[corev1.ProbeHandler],
			oneMember[corev1.LifecycleHandler], oneMember[corev1.EnvVarSource],
		},
	)
}

func otherValues() []any {
	return slices.Concat(
		oneOf(corev1.ServiceType(""), corev1.ServiceTypeClusterIP, corev1.ServiceTypeNodePort, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeExternalName),
		oneOf(corev1.ServiceAffinity(""), corev1.ServiceAffinityNone, corev1.ServiceAffinityClientIP),
		oneOf(corev1.ServiceExternalTrafficPolicy(""), corev1.ServiceExternalTrafficPolicyLocal),
		oneOf(corev1.ServiceInternalTrafficPolicyLocal),
		oneOf(corev1.SecretType(""), corev1.SecretTypeTLS),
		oneOf(appsv1.DeploymentStrategyType(""), appsv1.RollingUpdateDeploymentStrategyType, appsv1.RecreateDeploymentStrategyType),
		oneOf(appsv1.DaemonSetUpdateStrategyType(""), appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType),
		oneOf(appsv1.StatefulSetUpdateStrategyType(""), appsv1.RollingUpdateStatefulSetStrategyType, appsv1.OnDeleteStatefulSetStrategyType),
		oneOf(appsv1.PodManagementPolicyType(""), appsv1.ParallelPodManagement),
		oneOf(appsv1.PersistentVolumeClaimRetentionPolicyType(""), appsv1.DeletePersistentVolumeClaimRetentionPolicyType),
		oneOf(batchv1.NonIndexedCompletion, batchv1.IndexedCompletion),
		oneOf(batchv1.TerminatingOrFailed, batchv1.Failed),
		oneOf(rbacv1.Subject{Kind: rbacv1.UserKind}, rbacv1.Subject{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName},
			rbacv1.Subject{Kind: rbacv1.GroupKind}, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: "default"}),
	)
}

func limited(requests corev1.ResourceList) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: requests, Limits: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("0.0015"), corev1.ResourceMemory: resource.MustParse("64Mi"),
		"example.com/gpu": resource.MustParse("1"),
	}}
}

// oneOf returns what fills in one of some values, and what fills in a pointer to one,
// or nil: randfill itself leaves no pointer to such a type nil.
func oneOf[T any](values ...T) []any {
	return []any{
		func(into *T, c randfill.Continue) { *into = values[c.Intn(len(values))] },
		func(into **T, c randfill.Continue) {
			*into = nil
			if c.Bool() {
				*into = &values[c.Intn(len(values))]
			}
		},
	}
}

// oneMember sets one pointer of a struct, or none.
func oneMember[T any](into *T, c randfill.Continue) {
	members := reflect.ValueOf(into).Elem()
	if chosen := c.Intn(members.NumField() + 1); chosen < members.NumField() {
		member := reflect.New(members.Field(chosen).Type().Elem())
		c.Fill(member.Interface())
		members.Field(chosen).Set(member)
	}
}

// volumeSource sets one member, or none, and often the one with a union of its own.
func volumeSource(into *corev1.VolumeSource, c randfill.Continue) {
	if c.Intn(4) > 0 {
		oneMember(into, c)
		return
	}
	into.Projected = &corev1.ProjectedVolumeSource{}
	c.Fill(into.Projected)
}

// The images have the forms that the default of the pull policy tells apart. One that
// is no reference, as with capital letters, is left out: Kubernetes takes it for one
// with a tag, the simulation for one without.
var images = []string{
	"nginx", "nginx:1.27", "nginx:latest", "registry:5000/nginx", "registry:5000/team/nginx:1.27",
	"nginx@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	"nginx:latest@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
}

// newObject returns an object of one of the kinds that is made of a seed.
func newObject(name string, seed int64) apiserver.Object {
	typed := kinds[name]()
	g := &generator{filler: newFiller(seed), random: rand.New(rand.NewSource(seed))}
	g.fill(typed)
	object := apiserver.Encode(typed)
	version, kind, _ := strings.Cut(name, " ")
	object.SetAPIVersion(version)
	object.SetKind(kind)
	object.SetName("example")
	object.SetNamespace("default")
	return object
}

// generator makes objects that the API server takes. What a field means is left to
// chance; only what the simulation checks is put right.
type generator struct {
	filler *randfill.Filler
	random *rand.Rand
}

// fill sets fields of an object of one of the kinds at random.
func (g *generator) fill(object any) {
	g.filler.Fill(object)
	switch o := object.(type) {
	case *corev1.Pod:
		o.Status = corev1.PodStatus{}
		g.repairPod(&o.Spec, "", corev1.RestartPolicyAlways, corev1.RestartPolicyNever)
		o.Spec.EphemeralContainers = nil // which are added to a Pod that is there
	case *corev1.Service:
		o.Status = corev1.ServiceStatus{}
		g.repairService(&o.Spec)
	case *corev1.PersistentVolumeClaim:
		o.Status = corev1.PersistentVolumeClaimStatus{}
	default:
		g.repairWorkload(object)
	}
}

// repairWorkload makes a workload one that is taken.
func (g *generator) repairWorkload(object any) {
	switch o := object.(type) {
	case *appsv1.Deployment:
		o.Status = appsv1.DeploymentStatus{}
		o.Spec.Selector = g.repairTemplate(&o.Spec.Template, "", corev1.RestartPolicyAlways)
		o.Spec.MinReadySeconds = min(o.Spec.MinReadySeconds, 1)
		if deadline := o.Spec.ProgressDeadlineSeconds; deadline != nil {
			o.Spec.ProgressDeadlineSeconds = new(*deadline + 2)
		}
		if o.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
			o.Spec.Strategy.RollingUpdate = nil
		}
	case *appsv1.StatefulSet:
		o.Status = appsv1.StatefulSetStatus{}
		o.Spec.Selector = g.repairTemplate(&o.Spec.Template, "", corev1.RestartPolicyAlways)
		if o.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
			o.Spec.UpdateStrategy.RollingUpdate = nil
		}
		for i := range o.Spec.VolumeClaimTemplates {
			o.Spec.VolumeClaimTemplates[i].Name = fmt.Sprintf("claim-%d", i)
			o.Spec.VolumeClaimTemplates[i].Status = corev1.PersistentVolumeClaimStatus{}
		}
	case *appsv1.DaemonSet:
		o.Status = appsv1.DaemonSetStatus{}
		o.Spec.Selector = g.repairTemplate(&o.Spec.Template, "", corev1.RestartPolicyAlways)
	case *batchv1.Job:
		o.Status = batchv1.JobStatus{}
		labels := o.Spec.Template.Labels
		g.repairTemplate(&o.Spec.Template, corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure)
		o.Spec.Selector, o.Spec.ManualSelector, o.Spec.Template.Labels = nil, nil, labels
	}
}

// repairTemplate makes a template one that is taken, and returns its selector.
func (g *generator) repairTemplate(template *corev1.PodTemplateSpec, policies ...corev1.RestartPolicy) *metav1.LabelSelector {
	template.Labels = map[string]string{"app": "web"}
	g.repairPod(&template.Spec, policies...)
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
}

func (g *generator) repairPod(spec *corev1.PodSpec, policies ...corev1.RestartPolicy) {
	spec.RestartPolicy = policies[g.random.Intn(len(policies))]
	if len(spec.Containers) == 0 {
		spec.Containers = make([]corev1.Container, 1)
	}
	for i := range spec.Volumes {
		spec.Volumes[i].Name = fmt.Sprintf("volume-%d", i)
	}
	for i := range spec.Containers {
		g.repairContainer(&spec.Containers[i], fmt.Sprintf("container-%d", i), spec.Volumes)
	}
	for i := range spec.InitContainers {
		g.repairContainer(&spec.InitContainers[i], fmt.Sprintf("init-%d", i), spec.Volumes)
	}
	for i := range spec.EphemeralContainers {
		g.repairContainer((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon), fmt.Sprintf("debug-%d", i), spec.Volumes)
	}
}

func (g *generator) repairContainer(c *corev1.Container, name string, volumes []corev1.Volume) {
	c.Name, c.Image = name, images[g.random.Intn(len(images))]
	if len(volumes) == 0 {
		c.VolumeMounts = nil
	}
	for i := range c.VolumeMounts {
		c.VolumeMounts[i].Name = volumes[i%len(volumes)].Name
		c.VolumeMounts[i].MountPath = fmt.Sprintf("/mnt/%d", i)
	}
}

func (g *generator) repairService(spec *corev1.ServiceSpec) {
	spec.ClusterIP, spec.ClusterIPs = "", nil
	if spec.Type == "" && g.random.Intn(2) == 0 {
		spec.ClusterIP, spec.ExternalIPs = corev1.ClusterIPNone, nil
	}
	if len(spec.Ports) == 0 {
		spec.Ports = make([]corev1.ServicePort, 1)
	}
	for i := range spec.Ports {
		port := &spec.Ports[i]
		port.Name, port.Port, port.NodePort = fmt.Sprintf("port-%d", i), int32(80+i), 0
	}
}
