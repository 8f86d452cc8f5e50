package manifests

import (
	"fmt"
	"strings"

	"github.com/operetta-dev/operetta/metacontroller"
)

// Row is a row of the table of kinds: an operator and the short names of its
// CRD.
type Row struct {
	Controller metacontroller.Controller
	ShortNames []string
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
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", c.Parent.Kind, c.Parent.APIVersion,
			strings.Join(row.ShortNames, ", "), strings.Join(children, ", "), strings.Join(hooks, ", "))
	}
	return []byte(b.String())
}

// Uninstall prints the commands that take everything away, in their order, as a
// block of Markdown. Each kind is named with its group: kubectl may take a name
// alone for a kind of somebody else's.
func Uninstall(controllers []metacontroller.Controller) []byte {
	kinds := make([]string, len(controllers))
	for i, c := range controllers {
		kinds[i] = c.Parent.Plural + "." + c.Parent.Group()
	}
	return fmt.Appendf(nil, "```sh\nkubectl delete --all --all-namespaces \\\n  %s\nkubectl delete -k deploy/\nkubectl delete -k deploy/metacontroller/\n```\n",
		strings.Join(kinds, ","))
}
