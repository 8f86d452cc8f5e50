package why

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Node is an object with what it owns.
type Node struct {
	Ref

	// State is how far it is, in a few words; conditions that are Unknown are told.
	State string `json:"state,omitempty"`
	// Because is set for an object with a cause of its own.
	Because string `json:"because,omitempty"`
	Below   []Node `json:"below,omitempty"`
}

// Tree returns a custom resource with what it owns, and the children that are asked for and are
// not there.
func (c *Cluster) Tree(parent Object, plan Plan) Node {
	reasons := map[Ref]string{}
	for _, cause := range c.Explain(parent, plan).Because {
		if reasons[cause.Ref] == "" && cause.Ref != kube.RefOf(parent) {
			reasons[cause.Ref] = cause.Reason
		}
	}
	root := c.node(parent, reasons, map[types.UID]bool{})
	for ref, reason := range reasons {
		if live := c.get(ref); live == nil {
			root.Below = append(root.Below, Node{Ref: ref, State: "does not exist", Because: reason})
		}
	}
	slices.SortFunc(root.Below, func(a, b Node) int { return a.Compare(b.Ref) })
	return root
}

func (c *Cluster) node(object Object, reasons map[Ref]string, seen map[types.UID]bool) Node {
	ref := kube.RefOf(object)
	n := Node{Ref: ref, State: treeState(object), Because: reasons[ref]}
	for _, child := range c.below(object) {
		if !seen[child.GetUID()] {
			seen[child.GetUID()] = true
			n.Below = append(n.Below, c.node(child, reasons, seen))
		}
	}
	return n
}

// treeState is the state of an object by itself: of a Pod what its containers wait for.
func treeState(object Object) string {
	state := kube.Words(object)
	if kube.RefOf(object).Is(metacontroller.Pod) && object.GetDeletionTimestamp() == nil {
		if p := podOf(object); p.Status.IsStuck() {
			state = p.Status.Activity()
		}
	}
	for _, c := range kube.ConditionsIn(object.Object["status"]) {
		if text := strings.TrimSpace(c.Type + "=Unknown " + c.Reason); c.Status == "Unknown" && !strings.Contains(state, text) {
			state = strings.TrimPrefix(state+", "+text, ", ")
		}
	}
	return state
}

// TreeText prints trees as kubectl prints a table.
func TreeText(out io.Writer, roots []Node) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "KIND\tNAMESPACE\tNAME\tSTATE")
	for _, root := range roots {
		root.rows(table, "")
	}
	return table.Flush()
}

func (n Node) rows(table io.Writer, indent string) {
	state := printable.Line(n.State, maxMessage/2)
	if n.Because != "" {
		state = "! " + state
	}
	fmt.Fprintf(table, "%s%s\t%s\t%s\t%s\n", indent, printable.Escaped(n.kind()), printable.Escaped(n.Namespace), printable.Escaped(n.Name), state)
	for _, child := range n.Below {
		child.rows(table, indent+"  ")
	}
}

// kind returns kind and group, as in Deployment.apps.
func (n Node) kind() string {
	group, _, hasGroup := strings.Cut(n.APIVersion, "/")
	if !hasGroup {
		return n.Kind
	}
	return n.Kind + "." + group
}

// TreeDot prints trees for Graphviz.
func TreeDot(out io.Writer, roots []Node) {
	fmt.Fprintln(out, "digraph operetta {\n  rankdir=LR;\n  node [shape=box];")
	for _, root := range roots {
		root.dot(out, "")
	}
	fmt.Fprintln(out, "}")
}

func (n Node) dot(out io.Writer, owner string) {
	id := dotQuoted(strings.Join([]string{n.kind(), n.Namespace, n.Name}, " "))
	style := ""
	switch {
	case n.State == "does not exist":
		style = ", style=dashed"
	case n.Because != "":
		style = ", shape=octagon"
	}
	label := dotQuoted(n.kind() + "\n" + n.Name + "\n" + printable.Line(n.State, maxMessage/4))
	fmt.Fprintf(out, "  %s [label=%s%s];\n", id, label, style)
	if owner != "" {
		fmt.Fprintf(out, "  %s -> %s;\n", owner, id)
	}
	for _, child := range n.Below {
		child.dot(out, id)
	}
}

// dotQuoted quotes a text for Graphviz, in which a line feed is \n.
func dotQuoted(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.ReplaceAll(strings.ReplaceAll(printable.Escaped(lines[i]), `\`, `\\`), `"`, `\"`)
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}
