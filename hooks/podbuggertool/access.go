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

// permissions returns what the Jobs may do to the Pods of these names or,
// without names, what Metacontroller needs to grant that. kubectl debug reads
// the Pod and patches its subresource; an update of it is equivalent. Both
// requests name the Pod in the URL, so that resourceNames apply. Everyone may
// use discovery, which kubectl does first.
func permissions(names ...string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: names, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"pods/ephemeralcontainers"}, ResourceNames: names, Verbs: []string{"patch", "update"}},
	}
}

// access returns the ServiceAccount of the Jobs and, once it is observed, the
// Role and RoleBinding for the Pods of these names. Whoever may create Pods or
// tokens in the namespace can act as any ServiceAccount: so it is deleted while
// no Pod waits for its Job, and its tokens with it. A rule without names would
// allow every Pod. Without hasRights a Role and a RoleBinding that are there are deleted.
func access(tool *PodBuggerTool, names []string, hasRights bool) []metacontroller.Object {
	if len(names) == 0 {
		return nil
	}
	meta := metav1.ObjectMeta{Name: accessName(tool), Namespace: tool.Namespace, Labels: childLabels(tool, "access")}
	account := &corev1.ServiceAccount{
		ObjectMeta: *meta.DeepCopy(),
		// Only Pods that ask for the token get it, as the Jobs' do.
		AutomountServiceAccountToken: new(false),
	}
	if !hasRights {
		return []metacontroller.Object{account}
	}
	return []metacontroller.Object{
		account,
		&rbacv1.Role{
			ObjectMeta: *meta.DeepCopy(),
			Rules:      permissions(names...),
		},
		&rbacv1.RoleBinding{
			ObjectMeta: meta,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: metacontroller.Role.Kind, Name: meta.Name},
			Subjects:   []rbacv1.Subject{subject(tool)},
		},
	}
}

// subject returns the ServiceAccount of the Jobs as a RoleBinding names it.
func subject(tool *PodBuggerTool) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: accessName(tool), Namespace: namespace(tool)}
}

// bindsOthers reports whether the RoleBinding gives the rights of the Jobs to somebody
// else, or theirs to another Role. Under dynamic-apply Metacontroller leaves a subject
// that others have added, and somebody may add one who could not grant these rights: so
// the RoleBinding is deleted and made anew.
func bindsOthers(tool *PodBuggerTool, children metacontroller.Objects) (bool, error) {
	object, found := children.Find(metacontroller.RoleBinding.APIVersion, metacontroller.RoleBinding.Kind, accessName(tool))
	if !found {
		return false, nil
	}
	var binding struct {
		RoleRef  rbacv1.RoleRef   `json:"roleRef"`
		Subjects []rbacv1.Subject `json:"subjects"`
	}
	if err := object.Decode(&binding); err != nil {
		return true, err
	}
	isOther := func(other rbacv1.Subject) bool { return other != subject(tool) }
	return slices.ContainsFunc(binding.Subjects, isOther) || binding.RoleRef.Name != "" && binding.RoleRef.Name != accessName(tool), nil
}

// observeAccount reports whether the ServiceAccount is one of the tool's
// children, and is not being deleted. A RoleBinding refers to it by name alone:
// one that somebody has created before, or taken over, must get no rights,
// because it would keep them when the tool is deleted.
func observeAccount(tool *PodBuggerTool, children metacontroller.Objects) bool {
	account, found := children.Find(metacontroller.ServiceAccount.APIVersion, metacontroller.ServiceAccount.Kind, accessName(tool))
	return found && !account.Terminating
}

// observeAccess returns the names of the Pods for which a Job has all rights
// that it needs: an observed RoleBinding, and a Role that allows what
// [permissions] lists.
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
