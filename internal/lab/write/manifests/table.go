package manifests

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Row is a row of the table of kinds: an operator, the short names of its CRD,
// and the path of its page, if it has one.
type Row struct {
	Controller metacontroller.Controller
	ShortNames []string
	Page       string
}

// KindsTable prints the kinds as a Markdown table. Its hooks are those that the
// CompositeController declares.
func KindsTable(rows []Row) []byte {
	var b strings.Builder
	b.WriteString("| kind | apiVersion | short name | children | hooks |\n| --- | --- | --- | --- | --- |\n")
	for _, row := range rows {
		c := row.Controller
		children := make([]string, len(c.Children))
		for i, child := range c.Children {
			children[i] = child.Kind
		}
		hooks := make([]string, 0, len(c.Hooks()))
		for _, hook := range declared(c) {
			hooks = append(hooks, string(hook))
		}
		kind := c.Parent.Kind
		if row.Page != "" {
			kind = "[" + kind + "](" + row.Page + ")"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", kind, c.Parent.APIVersion,
			strings.Join(row.ShortNames, ", "), strings.Join(children, ", "), strings.Join(hooks, ", "))
	}
	return []byte(b.String())
}

// Uninstall prints the commands that take everything away, in their order, as a
// block of Markdown. Each kind is named with its group: kubectl may take a name
// alone for a kind of somebody else's. The children are waited for, because the
// garbage collector cannot tell that an owner is gone whose CRD is. Then what was
// installed goes, the kustomizations in the reverse of their order: what goes with its
// namespace may be gone before kubectl comes to it.
func (in Installation) Uninstall(controllers []metacontroller.Controller, installed []string) []byte {
	var parents, children []string
	for _, c := range controllers {
		parents = append(parents, qualified(c.Parent))
		for _, child := range c.Children {
			children = append(children, qualified(child.Resource))
		}
	}
	slices.Sort(children)
	text := fmt.Appendf(nil, "```sh\n"+
		"kubectl delete --all --all-namespaces \\\n  %s\n"+
		"kubectl wait --for=delete --all-namespaces --selector=app.kubernetes.io/managed-by=%s --timeout=5m \\\n  %s\n",
		strings.Join(parents, ","), in.ManagedBy, strings.Join(slices.Compact(children), ","))
	for _, folder := range slices.Backward(installed) {
		text = fmt.Appendf(text, "kubectl delete --ignore-not-found -k %s\n", folder)
	}
	return append(text, "```\n"...)
}

// qualified returns the name of a kind that kubectl takes for no other.
func qualified(r metacontroller.Resource) string {
	return strings.TrimSuffix(r.Plural+"."+r.Group(), ".")
}
