package manifests

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/metacontroller"
)

// grant is a rule with its reason, which is printed above it.
type grant struct {
	reason string
	rule   rbacv1.PolicyRule
}

// MetacontrollerRole prints the permissions that Metacontroller needs for one
// kind, and nothing else needs them: a ClusterRole and its binding to the
// ServiceAccount of Metacontroller. Each kind has a binding of its own, rather
// than a label that one aggregated role collects: what is granted stands in one
// file, and nobody adds to it by labelling a role.
func (in Installation) MetacontrollerRole(c metacontroller.Controller) ([]byte, error) {
	name := in.Prefix + "metacontroller-" + c.Name()
	role, err := clusterRole(metav1.ObjectMeta{Name: name}, metacontrollerGrants(c))
	if err != nil {
		return nil, err
	}
	binding, err := document(rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{
			Kind: rbacv1.ServiceAccountKind, Name: in.Metacontroller, Namespace: in.Metacontroller,
		}},
	})
	if err != nil {
		return nil, err
	}
	return Stream(role, binding), nil
}

func metacontrollerGrants(c metacontroller.Controller) []grant {
	parent := c.Parent
	grants := []grant{
		{"Parents, and the finalizer on them.", rule(parent.Group(), []string{parent.Plural}, "get", "list", "watch", "update")},
		{"Their status, and owner references that block their deletion, which some clusters ask for.",
			rule(parent.Group(), []string{parent.Plural + "/finalizers", parent.Plural + "/status"}, "update")},
	}
	var children []metacontroller.Resource
	for _, child := range c.Children {
		children = append(children, child.Resource)
	}
	plurals := pluralsByGroup(children)
	for _, group := range slices.Sorted(maps.Keys(plurals)) {
		grants = append(grants, grant{
			"Children: get to adopt, patch for server-side apply.",
			rule(group, plurals[group], "get", "list", "watch", "create", "update", "patch", "delete"),
		})
	}
	for _, related := range c.Related {
		grants = append(grants, grant{
			"Related objects.", rule(related.Group(), []string{related.Plural}, "list", "watch"),
		})
	}
	for _, passed := range c.EscalationRules {
		grants = append(grants, grant{"Passed on by a child: nobody can grant what they do not have.", passed})
	}
	return grants
}

// UserRoles prints two ClusterRoles for people, who get them by way of the
// ClusterRoles view, edit and admin of Kubernetes. A kind whose children pass
// permissions on is for the admins of a namespace to write. The scale
// subresource is granted where the CRD has one.
func (in Installation) UserRoles(c metacontroller.Controller, hasScale bool) ([]byte, error) {
	group, plural := c.Parent.Group(), c.Parent.Plural
	readable := []string{plural, plural + "/status"}
	edit := []grant{
		{"", rule(group, []string{plural}, "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")},
		{"The status is Metacontroller's to write.", rule(group, []string{plural + "/status"}, "get")},
	}
	if hasScale {
		readable = append(readable, plural+"/scale")
		edit = append(edit, grant{"", rule(group, []string{plural + "/scale"}, "get", "update", "patch")})
	}
	viewers, err := clusterRole(aggregated(in.Name(c)+"-view", "view", "edit", "admin"),
		[]grant{{"", rule(group, readable, "get", "list", "watch")}})
	if err != nil {
		return nil, err
	}
	to := []string{"edit", "admin"}
	if len(c.EscalationRules) > 0 {
		to = []string{"admin"}
	}
	editors, err := clusterRole(aggregated(in.Name(c)+"-edit", to...), edit)
	if err != nil {
		return nil, err
	}
	return Stream(viewers, editors), nil
}

// aggregated returns the metadata of a ClusterRole whose rules Kubernetes adds
// to those of its own roles.
func aggregated(name string, to ...string) metav1.ObjectMeta {
	labels := map[string]string{}
	for _, role := range to {
		labels["rbac.authorization.k8s.io/aggregate-to-"+role] = "true"
	}
	return metav1.ObjectMeta{Name: name, Labels: labels}
}

// clusterRole prints a ClusterRole, with a reason above each rule that has one.
func clusterRole(meta metav1.ObjectMeta, grants []grant) ([]byte, error) {
	text, err := document(struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
	}{metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"}, meta})
	if err != nil {
		return nil, err
	}
	b := bytes.NewBuffer(text)
	b.WriteString("rules:\n")
	for i, grant := range grants {
		if grant.reason != "" && (i == 0 || grants[i-1].reason != grant.reason) {
			fmt.Fprintf(b, "# %s\n", grant.reason)
		}
		rule, err := document([]rbacv1.PolicyRule{grant.rule})
		if err != nil {
			return nil, err
		}
		b.Write(rule)
	}
	return b.Bytes(), nil
}

func rule(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
}

// pluralsByGroup returns the plurals of kinds by their API group, each once and sorted.
func pluralsByGroup(resources []metacontroller.Resource) map[string][]string {
	plurals := map[string][]string{}
	for _, r := range resources {
		plurals[r.Group()] = append(plurals[r.Group()], r.Plural)
	}
	for group := range plurals {
		slices.Sort(plurals[group])
		plurals[group] = slices.Compact(plurals[group])
	}
	return plurals
}
