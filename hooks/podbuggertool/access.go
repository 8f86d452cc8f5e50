package podbuggertool

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operator"
)

// permissions returns what the Jobs may do to the Pods of these names or, without names, what
// Metacontroller needs to grant that. kubectl debug reads the Pod and patches its subresource; an
// update of it is equivalent. Both requests name the Pod in the URL, so that resourceNames apply.
// Everyone may use discovery, which kubectl does first.
func permissions(names ...string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: names, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"pods/ephemeralcontainers"}, ResourceNames: names, Verbs: []string{"patch", "update"}},
	}
}

// access returns the ServiceAccount of the Jobs and, once that is the tool's own, the Role
// and RoleBinding for the Pods of these names. Whoever may create Pods in the namespace can
// act as any ServiceAccount, so all three go while no Pod waits for its Job. A rule without
// names would allow every Pod.
func access(tool *PodBuggerTool, names []string, hasRights bool) []metacontroller.Object {
	if len(names) == 0 {
		return nil
	}
	meta := metav1.ObjectMeta{Name: accessName(tool), Namespace: tool.Namespace, Labels: childLabels(tool, "access")}
	children := []metacontroller.Object{&corev1.ServiceAccount{
		ObjectMeta: *meta.DeepCopy(),
		// Only Pods that ask for the token get it, as the Jobs' do.
		AutomountServiceAccountToken: new(false),
	}}
	if !hasRights {
		return children
	}
	return append(children,
		&rbacv1.Role{ObjectMeta: *meta.DeepCopy(), Rules: permissions(names...)},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: metacontroller.Role.Kind, Name: meta.Name},
			Subjects:   []rbacv1.Subject{subject(tool)},
		})
}

// subject returns the ServiceAccount of the Jobs as a RoleBinding names it.
func subject(tool *PodBuggerTool) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: accessName(tool), Namespace: namespace(tool)}
}

// observedAccess is what the hook reads of a ServiceAccount, a Role or a RoleBinding.
type observedAccess struct {
	metacontroller.Snapshot `json:"-"`

	RoleRef  rbacv1.RoleRef      `json:"roleRef"`
	Subjects []rbacv1.Subject    `json:"subjects"`
	Rules    []rbacv1.PolicyRule `json:"rules"`
}

// isThere reports whether the object exists and is not being deleted.
func (a *observedAccess) isThere() bool { return a != nil && !a.Terminating }

// bindsOthers reports whether the RoleBinding gives the rights of the Jobs to somebody else,
// who could not grant them to themselves, or theirs to another Role. Under dynamic-apply a
// subject that others have added stays, so it is deleted and made anew.
func (a *observedAccess) bindsOthers(tool *PodBuggerTool) bool {
	return a != nil && (a.RoleRef.Name != "" && a.RoleRef.Name != accessName(tool) ||
		slices.ContainsFunc(a.Subjects, func(s rbacv1.Subject) bool { return s != subject(tool) }))
}

// observeAccess reads which rights the Jobs have. A RoleBinding refers to the ServiceAccount
// by name alone: one that is not the tool's child gets none, because it would keep them when
// the tool is deleted.
func (o *observed) observeAccess(tool *PodBuggerTool, children metacontroller.Objects) error {
	found := map[string]*observedAccess{}
	for _, resource := range []metacontroller.Resource{metacontroller.ServiceAccount, metacontroller.RoleBinding, metacontroller.Role} {
		object, err := metacontroller.Get[observedAccess](children, resource.APIVersion, resource.Kind, accessName(tool))
		if err != nil {
			return err
		}
		found[resource.Kind] = object
	}
	binding, role := found[metacontroller.RoleBinding.Kind], found[metacontroller.Role.Kind]
	o.hasRights = found[metacontroller.ServiceAccount.Kind].isThere() && !binding.bindsOthers(tool)
	if !o.hasRights || !binding.isThere() || !role.isThere() {
		return nil
	}
	for _, rule := range role.Rules {
		if slices.Contains(rule.Verbs, "patch") && slices.Contains(rule.Resources, "pods/ephemeralcontainers") {
			o.allowed = append(o.allowed, rule.ResourceNames...)
		}
	}
	return nil
}

// accessName returns the name of the ServiceAccount, Role and RoleBinding. It
// is not the tool's name, which a ServiceAccount of an application may have.
func accessName(tool *PodBuggerTool) string {
	return operator.JoinName(operator.MaxSubdomain, "podbuggertool", tool.Name)
}

// namespace returns the tool's namespace, which a request written by hand may
// leave out.
func namespace(tool *PodBuggerTool) string { return cmp.Or(tool.Namespace, metav1.NamespaceDefault) }

// childLabels returns the labels of a child.
func childLabels(tool *PodBuggerTool, component string) map[string]string {
	return operator.App{Name: tool.Name, Instance: tool.Name, Component: component, PartOf: "podbuggertool"}.Labels()
}
