package commands

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/lab/kube"
	"github.com/operetta-dev/operetta/metacontroller"
)

// renderFlags are the flags of render.
type renderFlags struct {
	hook, now    string
	namespace    string
	output       string
	childrenOnly bool
	validate     bool
}

func newRenderCommand(p *program) *cobra.Command {
	var flags renderFlags
	cmd := &cobra.Command{
		Use:   "render FILE",
		Short: "Print what a hook answers to a request or a custom resource",
		Long: `Render prints what a hook answers, as YAML. FILE, or - for the standard input,
holds a hook request, or a bare custom resource for which no children are
observed, in YAML or JSON; objects of other kinds beside it are ignored. What a
request leaves out because it is empty is filled in. Where an operator creates its
children in stages, a bare custom resource gets the children of the first stage. The
namespace is --namespace, then the namespace in the file, then default. A file may have
64 MiB, a YAML document a million values.

` + validateHelp,
		Example: `  operetta render deploy/samples/modelbox.yaml
  operetta render deploy/samples/modelbox.yaml --children-only | kubectl diff -f -`,
		Args: cli.Exactly(1, "one file"),
		RunE: func(_ *cobra.Command, args []string) error { return render(p, args[0], &flags) },
	}
	cmd.Flags().StringVarP(&flags.output, "output", "o", "yaml", "form of the output: yaml or json")
	cmd.Flags().StringVarP(&flags.namespace, "namespace", "n", "", "namespace of the custom resource (default: the namespace in the file, or default)")
	cmd.Flags().StringVar(&flags.hook, "hook", "sync", "hook to call: sync, finalize or customize")
	cmd.Flags().StringVar(&flags.now, "now", "", "time that the hook is handed, as in 2026-01-02T15:04:05Z (default the current time)")
	cmd.Flags().BoolVar(&flags.childrenOnly, "children-only", false, "print the children as a stream for kubectl apply -f -")
	completeWords(cmd, "output", "yaml", "json")
	completeWords(cmd, "hook", "sync", "finalize", "customize")
	validateFlag(cmd, &flags.validate)
	cli.AddPolicies(cmd, p.Program)
	return cmd
}

func render(p *program, path string, flags *renderFlags) error {
	if flags.output != "yaml" && flags.output != "json" {
		return cli.Usagef("--output %q is not supported: use yaml or json", flags.output)
	}
	if flags.childrenOnly && flags.hook == string(metacontroller.CustomizeHook) {
		return cli.Usagef("--children-only is for sync and finalize: customize answers with no children")
	}
	now := time.Now()
	if flags.now != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, flags.now); err != nil {
			return cli.Usagef("--now %q is no time like 2026-01-02T15:04:05Z", flags.now)
		}
	}
	input, controller, err := p.only(path)
	if err != nil {
		return err
	}
	hook := metacontroller.HookName(flags.hook)
	if !slices.Contains(controller.Hooks(), hook) {
		return cli.Usagef("--hook %q: %s has the hooks %v", flags.hook, controller.Name(), controller.Hooks())
	}
	if input, err = inNamespace(input, controller, flags.namespace); err != nil {
		return err
	}
	if input, err = p.admit(input, controller, hook, flags.validate); err != nil {
		return err
	}
	if !flags.validate {
		controller.CRD = nil
	}
	request, err := corpus.Complete(controller, hook, input.json)
	if err != nil {
		return fmt.Errorf("%s: %w", input.source, err)
	}
	var answer metacontroller.Answer
	err = p.catch(controller.Name()+"/"+flags.hook, func() error {
		answer, err = controller.Call(hook, now, request)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", input.source, err)
	}
	if flags.childrenOnly {
		return p.printChildren(answer, flags.output)
	}
	if err := printData(p.Out, flags.output, json.RawMessage(answer.Body)); err != nil {
		return fmt.Errorf("printing the answer: %w", err)
	}
	return nil
}

// inNamespace returns a document whose custom resource is in a namespace, as one in a cluster is: hashes cover it.
func inNamespace(d document, c metacontroller.Controller, namespace string) (document, error) {
	if c.CRD != nil && crd.ScopeIn(c.CRD.Text()) == apiextensionsv1.ClusterScoped {
		return d, nil
	}
	content, err := kube.ParseJSON(d.json)
	if err != nil {
		return d, fmt.Errorf("%s: %w", d.source, err)
	}
	object := content
	if parent, isRequest := content["parent"].(map[string]any); isRequest {
		if object = parent; namespace != "" {
			return d, cli.Usagef("--namespace is for a custom resource: %s is a request, whose children have a namespace, too", d.source)
		}
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return d, nil // the API server's rules say what is missing
	}
	own, isText := metadata["namespace"].(string)
	if metadata["namespace"] != nil && !isText {
		return d, nil
	}
	metadata["namespace"] = cmp.Or(namespace, own, metav1.NamespaceDefault)
	d.json, err = json.Marshal(content)
	return d, err
}

// printChildren prints the desired children, without kept ones, which have no
// content of their own to apply.
func (p *program) printChildren(answer metacontroller.Answer, output string) error {
	var response struct {
		Children []map[string]any `json:"children"`
	}
	if err := json.Unmarshal(answer.Body, &response); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	for i, child := range response.Children {
		if answer.Children[i].Kept {
			continue
		}
		metadata := child["metadata"].(map[string]any) // checked by Call
		if metadata["namespace"] == nil && answer.Parent.Namespace != "" {
			metadata["namespace"] = answer.Parent.Namespace
		}
		if output == "yaml" {
			fmt.Fprintln(p.Out, "---")
		}
		if err := printData(p.Out, output, child); err != nil {
			return fmt.Errorf("printing the children: %w", err)
		}
	}
	return nil
}
