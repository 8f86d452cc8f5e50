package manifests

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/metacontroller"
)

// ShardLabel is the label by which a custom resource chooses its shard, and by which a
// Metacontroller finds the CompositeControllers of its own.
const ShardLabel = "operetta.dev/shard"

// MaxShards is the largest number of shards. Each Metacontroller watches everything.
const MaxShards = 32

// CheckShards refuses a number of shards. None and one are the same: no shards.
func CheckShards(n int) error {
	if n < 0 || n > MaxShards {
		return fmt.Errorf("%d is no number of shards: write one from 1 to %d", n, MaxShards)
	}
	return nil
}

// shard is one of several Metacontrollers that divide the custom resources. Its number is
// below that of all, which is at least two.
type shard struct{ number, all int }

func shardsOf(n int) []shard {
	list := make([]shard, max(0, n))
	for i := range list {
		list[i] = shard{i, n}
	}
	return list
}

// suffix ends the names of what a shard has beside the first. The first has the names of
// an installation without shards: the finalizers on the custom resources that are there
// stay those of a CompositeController that exists.
func (s shard) suffix() string {
	if s.number == 0 {
		return ""
	}
	return "-shard-" + s.label()
}

func (s shard) label() string { return strconv.Itoa(s.number) }

// others are the labels that the first shard leaves to the others.
func (s shard) others() []string {
	var labels []string
	for _, other := range shardsOf(s.all)[1:] {
		labels = append(labels, other.label())
	}
	return labels
}

// parents selects the custom resources of a shard. Those without the label, or with one
// that is no shard's, are the first's: none is without a Metacontroller.
func (s shard) parents() *metav1.LabelSelector {
	if s.number > 0 {
		return &metav1.LabelSelector{MatchLabels: map[string]string{ShardLabel: s.label()}}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: ShardLabel, Operator: metav1.LabelSelectorOpNotIn, Values: s.others()},
	}}
}

// controllers selects the CompositeControllers of a shard, in the form of a flag. Those of
// others, which have no such label, are the first's.
func (s shard) controllers() string {
	if s.number > 0 {
		return ShardLabel + "=" + s.label()
	}
	return ShardLabel + " notin (" + strings.Join(s.others(), ",") + ")"
}

// CompositeControllers prints the CompositeControllers of an operator for n shards, as
// [Installation.CompositeController] prints the one without shards.
func (in Installation) CompositeControllers(c metacontroller.Controller, hookURL string, n int) ([]byte, error) {
	if n < 2 {
		return in.CompositeController(c, hookURL)
	}
	documents := make([][]byte, n)
	for i, s := range shardsOf(n) {
		object := in.compositeController(c, hookURL)
		object.Metadata.Name += s.suffix()
		if object.Metadata.Labels == nil {
			object.Metadata.Labels = map[string]string{}
		}
		object.Metadata.Labels[ShardLabel] = s.label()
		object.Spec.ParentResource.LabelSelector = s.parents()
		var err error
		if documents[i], err = object.document(); err != nil {
			return nil, err
		}
	}
	return Stream(documents...), nil
}

// Overlay returns the kustomizations of n shards, by their paths below deploy/overlays/sharded:
// that of deploy/, whose kustomization.yaml is whole, and that of deploy/metacontroller/.
// Files of whole that are no folders have to be copied beside.
func (in Installation) Overlay(whole []byte, n int) (map[string][]byte, error) {
	var root map[string]any
	if err := yaml.Unmarshal(whole, &root); err != nil {
		return nil, fmt.Errorf("reading deploy/kustomization.yaml: %w", err)
	}
	listed, _ := root["resources"].([]any)
	resources := []any{}
	for _, resource := range listed {
		switch name, _ := resource.(string); {
		case name == "controllers":
			for _, s := range shardsOf(n) {
				resources = append(resources, "shard-"+s.label())
			}
		case IsFile(name):
			resources = append(resources, name)
		default:
			resources = append(resources, "../../"+name)
		}
	}
	root["resources"] = resources
	files := map[string][]byte{}
	text, err := document(root)
	if err != nil {
		return nil, err
	}
	files["kustomization.yaml"] = append(fmt.Appendf(nil, rootComment, n), text...)
	for _, s := range shardsOf(n) {
		if files["shard-"+s.label()+"/kustomization.yaml"], err = s.controllersKustomization(); err != nil {
			return nil, err
		}
	}
	files["metacontroller/copies/kustomization.yaml"] = in.copies(n)
	files["metacontroller/copies/statefulsets.yaml"] = in.statefulSets(n)
	files["metacontroller/kustomization.yaml"] = in.metacontrollers(n)
	return files, nil
}

// IsFile reports whether a resource of a kustomization is a file of its folder.
func IsFile(resource string) bool { return strings.HasSuffix(resource, ".yaml") }

const rootComment = `#
# Everything but Metacontroller, for %d shards:
#
#   kubectl apply -k deploy/overlays/sharded/    instead of    deploy/
#
# The Metacontrollers, in metacontroller/, come before it. See docs/operations.md.
`

func (s shard) controllersKustomization() ([]byte, error) {
	selector, err := yaml.Marshal(s.parents())
	if err != nil {
		return nil, fmt.Errorf("printing a selector: %w", err)
	}
	var b bytes.Buffer
	if s.number == 0 {
		b.WriteString("# The custom resources of all that is no other shard's. The names are those without shards.\n")
	} else {
		fmt.Fprintf(&b, "# The custom resources with the label %s=%s.\n", ShardLabel, s.label())
	}
	b.WriteString("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- ../../../controllers\n")
	if s.number > 0 {
		fmt.Fprintf(&b, "nameSuffix: %s\n", s.suffix())
	}
	fmt.Fprintf(&b, "labels:\n- pairs:\n    %s: %q\n", ShardLabel, s.label())
	b.WriteString("patches:\n- target:\n    kind: CompositeController\n  patch: |\n    - op: add\n      path: /spec/parentResource/labelSelector\n      value:\n")
	for line := range strings.Lines(string(selector)) {
		b.WriteString("        " + line)
	}
	return b.Bytes(), nil
}

// copies prints the kustomization that copies the StatefulSet of Metacontroller.
func (in Installation) copies(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# ../../../../metacontroller with its StatefulSet once more for each shard but the first.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- ../../../../metacontroller
- statefulsets.yaml
replacements:
- source:
    kind: StatefulSet
    name: %[1]s
    namespace: %[1]s
    fieldPath: spec
  targets:
`, in.Metacontroller)
	for _, s := range shardsOf(n)[1:] {
		fmt.Fprintf(&b, "  - select:\n      kind: StatefulSet\n      name: %s%s\n    fieldPaths:\n    - spec\n    options:\n      create: true\n", in.Metacontroller, s.suffix())
	}
	return b.Bytes()
}

// statefulSets prints the StatefulSets that copies fills in.
func (in Installation) statefulSets(n int) []byte {
	var documents [][]byte
	for _, s := range shardsOf(n)[1:] {
		documents = append(documents, fmt.Appendf(nil, `apiVersion: apps/v1
kind: StatefulSet
metadata:
  labels:
    app.kubernetes.io/name: metacontroller
  name: %s%s
  namespace: %s
`, in.Metacontroller, s.suffix(), in.Metacontroller))
	}
	return Stream(documents...)
}

// metacontrollers prints the kustomization of all Metacontrollers.
func (in Installation) metacontrollers(n int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `#
# A Metacontroller for each of %d shards:
#
#   kubectl apply -k deploy/overlays/sharded/metacontroller/    instead of    deploy/metacontroller/
#
# They have the ServiceAccount, and so the permissions, in common, and the label that the
# server's NetworkPolicy knows their Pods by.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- copies
patches:
`, n)
	for _, s := range shardsOf(n) {
		fmt.Fprintf(&b, "- target:\n    kind: StatefulSet\n    name: %s%s\n  patch: |\n", in.Metacontroller, s.suffix())
		add := func(path, value string) {
			fmt.Fprintf(&b, "    - op: add\n      path: %s\n      value: %q\n", path, value)
		}
		add("/metadata/labels/"+pointer(ShardLabel), s.label())
		add("/spec/template/metadata/labels/"+pointer(ShardLabel), s.label())
		if s.number > 0 {
			// A selector cannot be changed: the first keeps that without shards. Pods have
			// one owner, by which a StatefulSet knows its own.
			add("/spec/selector/matchLabels/"+pointer(ShardLabel), s.label())
		}
		add("/spec/template/spec/containers/0/args/-", "--target-label-selector="+s.controllers())
		if s.number > 0 {
			// With the lease of the first it would wait for that to end.
			add("/spec/template/spec/containers/0/args/-", "--leader-election-id="+in.Metacontroller+s.suffix())
		}
	}
	fmt.Fprintf(&b, "- target:\n    kind: Role\n    name: %s-leader-election\n  patch: |\n", in.Metacontroller)
	for _, s := range shardsOf(n)[1:] {
		fmt.Fprintf(&b, "    - op: add\n      path: /rules/1/resourceNames/-\n      value: %s%s\n", in.Metacontroller, s.suffix())
	}
	return b.Bytes()
}

// pointer returns a name as a part of a JSON pointer.
func pointer(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}
