package workbench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/printable"
	"github.com/operetta-dev/operetta/metacontroller"
)

// validateFlag adds --validate to a command.
func validateFlag(cmd *cobra.Command, validate *bool) {
	cmd.Flags().BoolVar(validate, "validate", true,
		"refuse what the API server would refuse, and warn of fields that it would drop")
}

// validateHelp is the help text about it.
const validateHelp = `A custom resource is held to its CustomResourceDefinition with the API server's own
code: defaults are filled in, what the API server would refuse is refused, in its
words and with the line, and a field that it does not know is left out and told in
a warning. The API server only drops such a field; kubectl apply refuses to send
it, unless it is called with --validate=warn. --validate=false turns off both.`

// refused returns an error of the API server as kubectl prints it, with the line
// of each field.
func (d document) refused(err error) error {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsInvalid(err) || status.ErrStatus.Details == nil || len(status.ErrStatus.Details.Causes) == 0 {
		return fmt.Errorf("%s: %w", d.source, err)
	}
	details := status.ErrStatus.Details
	head := fmt.Sprintf("The %s %q is invalid:", details.Kind, details.Name)
	var reasons []string
	for _, cause := range d.inOrder(details.Causes) {
		reasons = append(reasons, fmt.Sprintf("%s: %s (%s)", cause.Field, withoutMiddle(cause.Message), d.at(cause.Field)))
	}
	if len(reasons) == 1 {
		return cli.LinesError{Lines: []string{head + " " + reasons[0]}}
	}
	lines := []string{head}
	for _, reason := range reasons {
		lines = append(lines, "* "+reason)
	}
	return cli.LinesError{Lines: lines}
}

// withoutMiddle shortens a long reason, which begins with a quoted value,
// possibly a whole file, and ends with what is wrong with it.
func withoutMiddle(reason string) string {
	const longest, head, tail = 2000, 200, 1000
	if len(reason) <= longest {
		return reason
	}
	return strings.ToValidUTF8(reason[:head], "") + " … " + strings.ToValidUTF8(reason[len(reason)-tail:], "")
}

// inOrder returns each cause once, in the order of the lines. Those about the
// whole object come last.
func (d document) inOrder(causes []metav1.StatusCause) []metav1.StatusCause {
	line := map[string]int{crd.WholeObject: math.MaxInt}
	for _, cause := range causes {
		if _, known := line[cause.Field]; !known {
			line[cause.Field] = d.line(cause.Field)
		}
	}
	sorted := slices.SortedFunc(slices.Values(causes), func(a, b metav1.StatusCause) int {
		return cmp.Or(cmp.Compare(line[a.Field], line[b.Field]), cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(sorted)
}

// mostWarnings is how many unknown fields of a document are named.
const mostWarnings = 100

// warn prints the fields that the API server would drop.
func (p *program) warn(d document, prefix string, unknown []string) {
	for i, path := range unknown {
		if i == mostWarnings {
			fmt.Fprintf(p.Err, "warning: %d more unknown fields (%s)\n", len(unknown)-i, d.source)
			return
		}
		fmt.Fprintf(p.Err, "warning: %s\n", printable.Line(fmt.Sprintf("unknown field %q (%s)", prefix+path, d.at(prefix+path)), cli.MaxMessage))
	}
}

// schemaOf returns the schema of an operator's custom resource, or nil where it
// has none.
func schemaOf(c metacontroller.Controller) (*crd.Schema, error) {
	if len(c.CRD) == 0 {
		return nil, nil //nolint:nilnil // nothing is validated
	}
	return crd.Compiled(c.CRD, c.Parent.Version())
}

// unknownFields returns the fields of a custom resource that the API server
// drops.
func unknownFields(c metacontroller.Controller, object []byte) ([]string, error) {
	definition, err := schemaOf(c)
	if err != nil || definition == nil {
		return nil, err
	}
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(object, &content); err != nil {
		return nil, err
	}
	return definition.Complete(content), nil
}

// admit returns a document in which the custom resource is as the API server
// would have stored it. A custom resource that is being deleted is not refused.
func (p *program) admit(d document, c metacontroller.Controller, hook metacontroller.HookName, validate bool) (document, error) {
	definition, err := schemaOf(c)
	if err != nil || definition == nil {
		return d, err
	}
	var request map[string]json.RawMessage
	if err := json.Unmarshal(d.json, &request); err != nil {
		return d, fmt.Errorf("%s: %w", d.source, err)
	}
	text, prefix := d.json, ""
	if parent, ok := request["parent"]; ok {
		text, prefix = parent, "parent."
	}
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &content); err != nil || content == nil {
		return d, nil //nolint:nilerr // the hook reports it
	}
	object := &unstructured.Unstructured{Object: content}
	unknown, problems := definition.Admit(context.Background(), content, nil)
	if validate {
		p.warn(d, prefix, unknown)
		teardown := hook == metacontroller.FinalizeHook || object.GetDeletionTimestamp() != nil
		if len(problems) > 0 && !teardown {
			kind := schema.GroupKind{Group: c.Parent.Group(), Kind: c.Parent.Kind}
			return d, d.refused(withPrefix(apierrors.NewInvalid(kind, object.GetName(), problems), prefix))
		}
	}
	if d.json, err = json.Marshal(content); err != nil {
		return d, fmt.Errorf("%s: %w", d.source, err)
	}
	if prefix != "" {
		request["parent"] = d.json
		d.json, err = json.Marshal(request)
	}
	return d, err
}

// withPrefix prefixes each field with the path of the custom resource in its
// document.
func withPrefix(err *apierrors.StatusError, prefix string) error {
	if prefix == "" {
		return err
	}
	for i := range err.ErrStatus.Details.Causes {
		cause := &err.ErrStatus.Details.Causes[i]
		if cause.Field != crd.WholeObject {
			cause.Field = prefix + strings.TrimPrefix(cause.Field, ".")
		}
	}
	return err
}

// withoutCRDs returns operators without validation.
func withoutCRDs(controllers []metacontroller.Controller) []metacontroller.Controller {
	list := make([]metacontroller.Controller, len(controllers))
	for i, c := range controllers {
		c.CRD = nil
		list[i] = c
	}
	return list
}
