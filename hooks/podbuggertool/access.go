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

// permissions returns all that the Jobs may do to the Pods of these names, or
// what Metacontroller needs to pass that on, where there is none. Kubectl debug
// reads the Pod and patches its subresource; an update of it is the same thing in
// another form. Both name the Pod in the URL, so that a list of names holds them.
// Discovery, which kubectl does first, is everybody's.
func permissions(names ...string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: names, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"pods/ephemeralcontainers"}, ResourceNames: names, Verbs: []string{"patch", "update"}},
	}
}

// access returns the ServiceAccount of the Jobs and, where that is observed, what
// allows it to do what they do, to the Pods of these names in the tool's namespace.
// Whoever may create Pods or tokens there can act as any ServiceAccount of the
// namespace: so there is none while no Pod waits for its Job, and with it go the
// tokens that somebody had made for it. A rule without names would be about every Pod.
func access(tool *PodBuggerTool, names []string, hasAccount bool) []metacontroller.Object {
	if len(names) == 0 {
		return nil
	}
	meta := metav1.ObjectMeta{Name: accessName(tool), Namespace: tool.Namespace, Labels: childLabels(tool, "access")}
	account := &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: metacontroller.ServiceAccount.APIVersion, Kind: metacontroller.ServiceAccount.Kind},
		ObjectMeta: *meta.DeepCopy(),
		// No Pod gets the token but those that ask for it, as the Jobs' do.
		AutomountServiceAccountToken: new(false),
	}
	if !hasAccount {
		return []metacontroller.Object{account}
	}
	return []metacontroller.Object{
		account,
		&rbacv1.Role{
			TypeMeta:   metav1.TypeMeta{APIVersion: metacontroller.Role.APIVersion, Kind: metacontroller.Role.Kind},
			ObjectMeta: *meta.DeepCopy(),
			Rules:      permissions(names...),
		},
		&rbacv1.RoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: metacontroller.RoleBinding.APIVersion, Kind: metacontroller.RoleBinding.Kind},
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: metacontroller.Role.Kind, Name: meta.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: meta.Name, Namespace: namespace(tool)}},
		},
	}
}

// observeAccount reports whether the ServiceAccount is one of the tool's children,
// and is to stay. A RoleBinding knows it by its name alone: one that somebody has
// created before, or made their own, must get nothing, for no Job would ever run as
// it and end that, and it stays when the tool goes.
func observeAccount(tool *PodBuggerTool, children metacontroller.Objects) bool {
	account, found := children.Find(metacontroller.ServiceAccount.APIVersion, metacontroller.ServiceAccount.Kind, accessName(tool))
	return found && !account.Terminating
}

// observeAccess returns the names of the Pods for which all that a Job needs beside
// the ServiceAccount is observed: the binding, and a Role that allows what
// [permissions] does.
func observeAccess(tool *PodBuggerTool, children metacontroller.Objects) (map[string]bool, error) {
	name := accessName(tool)
	if object, found := children.Find(metacontroller.RoleBinding.APIVersion, metacontroller.RoleBinding.Kind, name); !found || object.Terminating {
		return nil, nil
	}
	object, found := children.Find(metacontroller.Role.APIVersion, metacontroller.Role.Kind, name)
	if !found || object.Terminating {
		return nil, nil
	}
	var role struct {
		Rules []rbacv1.PolicyRule `json:"rules"`
	}
	if err := object.Decode(&role); err != nil {
		return nil, err
	}
	allowed := map[string]bool{}
	for _, pod := range namesIn(role.Rules, "get", "pods") {
		allowed[pod] = false
	}
	for _, pod := range namesIn(role.Rules, "patch", "pods/ephemeralcontainers") {
		if _, both := allowed[pod]; both {
			allowed[pod] = true
		}
	}
	return allowed, nil
}

// namesIn returns the names for which rules allow a verb on a resource.
func namesIn(rules []rbacv1.PolicyRule, verb, resource string) []string {
	var names []string
	for _, rule := range rules {
		if slices.Contains(rule.Verbs, verb) && slices.Contains(rule.Resources, resource) {
			names = append(names, rule.ResourceNames...)
		}
	}
	return names
}

// accessName returns the name of the ServiceAccount, Role and RoleBinding. It is
// not the tool's, for an application may well have a ServiceAccount of that name.
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
