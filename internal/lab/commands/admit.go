package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
		"refuse what the API server would refuse, and warn of fields that it drops")
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
	details, causes := causesOf(err)
	if len(causes) == 0 {
		return fmt.Errorf("%s: %w", d.source, err)
	}
	lines := cli.LinesError{fmt.Sprintf("The %s %q is invalid:", details.Kind, details.Name)}
	for _, cause := range causes {
		lines = append(lines, fmt.Sprintf("* %s: %s (%s)", cause.Field, cause.Message, d.at(cause.Field)))
	}
	if lines = slices.Compact(lines); len(lines) == 2 {
		return cli.LinesError{lines[0] + strings.TrimPrefix(lines[1], "*")}
	}
	return lines
}

// causesOf returns what is wrong with which field, if that is why the API server refuses an object.
func causesOf(err error) (*metav1.StatusDetails, []metav1.StatusCause) {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok || !apierrors.IsInvalid(err) || status.ErrStatus.Details == nil {
		return nil, nil
	}
	return status.ErrStatus.Details, status.ErrStatus.Details.Causes
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

// definitionOf returns the CRD of an operator, or nil, and the content of a document.
func definitionOf(d document, c metacontroller.Controller) (definition *crd.Schema, content map[string]any, err error) {
	if definition, err = c.Schema(); err != nil || definition == nil {
		return nil, nil, err
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(d.json, &content); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.source, err)
	}
	return definition, content, nil
}

// admit returns a document in which the custom resource is as the API server
// would have stored it. A custom resource that is being deleted is not refused.
func (p *program) admit(d document, c metacontroller.Controller, hook metacontroller.HookName, validate bool) (document, error) {
	definition, request, err := definitionOf(d, c)
	if err != nil || definition == nil {
		return d, err
	}
	content, prefix := request, ""
	if parent, ok := request["parent"].(map[string]any); ok {
		content, prefix = parent, "parent."
	}
	unknown, problems := definition.Admit(context.Background(), content, nil)
	if validate {
		p.warn(d, prefix, unknown)
		object := &unstructured.Unstructured{Object: content}
		if len(problems) > 0 && hook != metacontroller.FinalizeHook && object.GetDeletionTimestamp() == nil {
			for _, problem := range problems {
				if prefix != "" && problem.Field != crd.WholeObject {
					problem.Field = prefix + strings.TrimPrefix(problem.Field, ".")
				}
			}
			return d, d.refused(apierrors.NewInvalid(schema.GroupKind{Group: c.Parent.Group(), Kind: c.Parent.Kind}, object.GetName(), problems))
		}
	}
	d.json, err = json.Marshal(request)
	return d, err
}
