package manifests

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"

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
type shard struct{ Number, all int }

func shardsOf(n int) []shard {
	list := make([]shard, max(0, n))
	for i := range list {
		list[i] = shard{i, n}
	}
	return list
}

// Suffix ends the names of what a shard has beside the first. The first has the names of
// an installation without shards: the finalizers on the custom resources that are there
// stay those of a CompositeController that exists.
func (s shard) Suffix() string {
	if s.Number == 0 {
		return ""
	}
	return "-shard-" + s.label()
}

func (s shard) label() string { return strconv.Itoa(s.Number) }

// Others are the labels that the first shard leaves to the others.
func (s shard) Others() []string {
	var labels []string
	for _, other := range shardsOf(s.all)[1:] {
		labels = append(labels, other.label())
	}
	return labels
}

// parents selects the custom resources of a shard. Those without the label, or with one
// that is no shard's, are the first's: none is without a Metacontroller.
func (s shard) parents() *metav1.LabelSelector {
	if s.Number > 0 {
		return &metav1.LabelSelector{MatchLabels: map[string]string{ShardLabel: s.label()}}
	}
	return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: ShardLabel, Operator: metav1.LabelSelectorOpNotIn, Values: s.Others()},
	}}
}

// Controllers selects the CompositeControllers of a shard, in the form of a flag. Those of
// others, which have no such label, are the first's.
func (s shard) Controllers() string {
	if s.Number > 0 {
		return ShardLabel + "=" + s.label()
	}
	return ShardLabel + " notin (" + strings.Join(s.Others(), ",") + ")"
}

// CompositeControllers prints the CompositeControllers of an operator for n shards, as
// [Installation.CompositeController] prints the one without shards.
func (in Installation) CompositeControllers(c metacontroller.Controller, hookURL string, n int) ([]byte, error) {
	if n < 2 {
		return in.CompositeController(c, hookURL)
	}
	documents := make([][]byte, n)
	for i, s := range shardsOf(n) {
		var err error
		if documents[i], err = in.compositeController(c, hookURL, s); err != nil {
			return nil, err
		}
	}
	return Stream(documents...), nil
}

// Overlay returns the kustomizations of n shards, by their paths below deploy/overlays/sharded:
// that of deploy/, whose kustomization.yaml is whole, and that of deploy/metacontroller/. The
// resources of whole that are no folders, which it returns, have to be copied beside.
func (in Installation) Overlay(whole []byte, n int) (files map[string][]byte, beside []string, err error) {
	var root map[string]any
	if err := yaml.Unmarshal(whole, &root); err != nil {
		return nil, nil, fmt.Errorf("reading deploy/kustomization.yaml: %w", err)
	}
	listed, _ := root["resources"].([]any)
	resources := []any{}
	for _, resource := range listed {
		switch name, _ := resource.(string); {
		case name == "controllers":
			for _, s := range shardsOf(n) {
				resources = append(resources, "shard-"+s.label())
			}
		case strings.HasSuffix(name, ".yaml"):
			resources, beside = append(resources, name), append(beside, name)
		default:
			resources = append(resources, "../../"+name)
		}
	}
	root["resources"] = resources
	text, err := document(root)
	files = map[string][]byte{"kustomization.yaml": append(fmt.Appendf(nil, rootComment, n), text...)}
	add := func(path, name string, data any) {
		text, failure := printed(name, data)
		files[path], err = text, errors.Join(err, failure)
	}
	all := struct {
		Name   string
		Shards []shard
	}{in.Metacontroller, shardsOf(n)}
	for _, s := range all.Shards {
		add("shard-"+s.label()+"/kustomization.yaml", "shard", s)
	}
	add("metacontroller/copies/kustomization.yaml", "copies", all)
	add("metacontroller/copies/statefulsets.yaml", "statefulsets", all)
	add("metacontroller/kustomization.yaml", "metacontrollers", all)
	return files, beside, err
}

const rootComment = `#
# Everything but Metacontroller, for %d shards:
#
#   kubectl apply -k deploy/overlays/sharded/    instead of    deploy/
#
# The Metacontrollers, in metacontroller/, come before it. See docs/operations.md.
`

//go:embed sharded
var sharded embed.FS

// printed returns what a template below sharded/ prints.
func printed(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	err := template.Must(template.ParseFS(sharded, "sharded/*")).ExecuteTemplate(&b, name+".yaml.tmpl", data)
	return b.Bytes(), err
}
