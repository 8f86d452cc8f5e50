package podbuggertool

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/labels"
	"github.com/operetta-dev/operetta/internal/names"
	"github.com/operetta-dev/operetta/metacontroller"
)

// permissions returns all that the Jobs may do. Kubectl debug reads the Pod and
// patches its subresource; an update of it is the same thing in another form.
// Discovery, which kubectl does first, is everybody's.
func permissions() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"pods/ephemeralcontainers"}, Verbs: []string{"patch", "update"}},
	}
}

// access returns the ServiceAccount of the Jobs, and what allows it to do what
// they do, in the tool's namespace.
func access(tool *PodBuggerTool) []metacontroller.Object {
	meta := metav1.ObjectMeta{Name: accessName(tool), Namespace: tool.Namespace, Labels: childLabels(tool, "access")}
	return []metacontroller.Object{
		&corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: serviceAccountKind.APIVersion, Kind: serviceAccountKind.Kind},
			ObjectMeta: *meta.DeepCopy(),
			// No Pod gets the token but those that ask for it, as the Jobs' do.
			AutomountServiceAccountToken: new(false),
		},
		&rbacv1.Role{
			TypeMeta:   metav1.TypeMeta{APIVersion: roleKind.APIVersion, Kind: roleKind.Kind},
			ObjectMeta: *meta.DeepCopy(),
			Rules:      permissions(),
		},
		&rbacv1.RoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: roleBindingKind.APIVersion, Kind: roleBindingKind.Kind},
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: roleKind.Kind, Name: meta.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: meta.Name, Namespace: namespace(tool)}},
		},
	}
}

// accessName returns the name of the ServiceAccount, Role and RoleBinding. It is
// not the tool's, for an application may well have a ServiceAccount of that name.
func accessName(tool *PodBuggerTool) string {
	return names.Join(names.MaxSubdomain, "podbuggertool", tool.Name)
}

// namespace returns the tool's namespace, which a request written by hand may
// leave out.
func namespace(tool *PodBuggerTool) string { return cmp.Or(tool.Namespace, metav1.NamespaceDefault) }

// childLabels returns the labels of a child.
func childLabels(tool *PodBuggerTool, component string) map[string]string {
	return labels.App{Name: tool.Name, Instance: tool.Name, Component: component, PartOf: "podbuggertool"}.Labels()
}
