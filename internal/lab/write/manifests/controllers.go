package manifests

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/metacontroller"
)

// hookVersion is the version in which objects are keyed by namespace and name,
// and in which Metacontroller refuses an answer with an unknown field.
const hookVersion = "v2"

// customizeVersion is that of customize hooks whose rules stay in the parent's namespace.
// Requests and answers are the same in both, but in v1 Metacontroller compares namespaces
// before labels: an event of a Pod with many labels costs others nothing.
const customizeVersion = "v1"

// hookLabel begins the label that says which hooks a CompositeController has besides
// sync. A patch of kustomize selects by it: it fails where there is nothing to patch.
const hookLabel = "operetta.dev/hook-"

// hookTimeout is Metacontroller's timeout for an answer. It is the default, set
// explicitly because the server's own deadline depends on it.
const hookTimeout = 10 * time.Second

// CompositeController prints the CompositeController of an operator. Its hooks
// are called at hookURL, as [ParseHookURL] returns it, or, if that is empty,
// through the Service.
func (in Installation) CompositeController(c metacontroller.Controller, hookURL string) ([]byte, error) {
	return in.compositeController(c, hookURL, shard{})
}

// compositeController prints that of a shard, if there are any. It refuses a name of which Metacontroller
// makes a finalizer that the API server would refuse, and with it each update of a custom resource.
func (in Installation) compositeController(c metacontroller.Controller, hookURL string, s shard) ([]byte, error) {
	name := in.Name(c) + s.Suffix()
	labels, hooks, children := map[string]string{}, map[metacontroller.HookName]any{}, []any{}
	for _, hook := range declared(c) {
		hooks[hook] = map[string]any{"version": HookVersion(c, hook), "webhook": in.webhook(c, hook, hookURL)}
		if hook != metacontroller.SyncHook {
			labels[hookLabel+string(hook)] = "true"
		}
	}
	_, finalizer, _ := strings.Cut(metacontroller.FinalizerPrefix+name, "/")
	if hooks[metacontroller.FinalizeHook] != nil && len(finalizer) > validation.LabelValueMaxLength {
		return nil, fmt.Errorf("the name %s is too long for Metacontroller's finalizer, which has %d characters for it: write a shorter --prefix, or give the kind a shorter name",
			name, validation.LabelValueMaxLength-len(finalizer)+len(name))
	}
	for _, child := range c.Children {
		rule := ruleFor(child.Resource)
		rule["updateStrategy"] = map[string]any{"method": child.Update}
		children = append(children, rule)
	}
	parent := ruleFor(c.Parent)
	// A hook reads of the status only what it wrote itself, so a sync after a status write
	// would give the same answer.
	parent["ignoreStatusChanges"] = true
	if s.all > 1 {
		labels[ShardLabel], parent["labelSelector"] = s.label(), s.parents()
	}
	metadata := map[string]any{"name": name}
	if len(labels) > 0 {
		metadata["labels"] = labels
	}
	return document(map[string]any{
		"apiVersion": "metacontroller.k8s.io/v1alpha1", "kind": "CompositeController", "metadata": metadata,
		"spec": map[string]any{"parentResource": parent, "childResources": children, "generateSelector": true, "hooks": hooks},
	})
}

// declared returns the hooks of the CompositeController, sync first. A declared
// finalize hook adds a finalizer to every parent, so it is only declared for an
// ordered teardown.
func declared(c metacontroller.Controller) []metacontroller.HookName {
	return slices.DeleteFunc(c.Hooks(), func(name metacontroller.HookName) bool {
		return name == metacontroller.FinalizeHook && !c.OrderedTeardown
	})
}

func (in Installation) webhook(c metacontroller.Controller, name metacontroller.HookName, hookURL string) map[string]any {
	path := fmt.Sprintf("/%s/%s", c.Name(), name)
	timeout := metav1.Duration{Duration: hookTimeout}
	if hookURL != "" {
		return map[string]any{"url": hookURL + path, "timeout": timeout}
	}
	return map[string]any{"service": map[string]any{"name": in.Service, "namespace": in.Namespace, "port": in.Port}, "path": path, "timeout": timeout}
}

// HookVersion returns the version in which Metacontroller calls a hook, v1 or v2.
func HookVersion(c metacontroller.Controller, name metacontroller.HookName) string {
	if name == metacontroller.CustomizeHook && !c.RelatedInAllNamespaces {
		return customizeVersion
	}
	return hookVersion
}

func ruleFor(r metacontroller.Resource) map[string]any {
	return map[string]any{"apiVersion": r.APIVersion, "resource": r.Plural}
}

// ParseHookURL checks the address of a server and returns it in the form that
// [Installation.CompositeController] takes. The error says what to write instead.
func ParseHookURL(text string) (string, error) {
	const want = "write http://host:port or https://host:port"
	address, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("%q is no URL: %s", text, want)
	}
	port, portErr := strconv.ParseUint(cmp.Or(address.Port(), "80"), 10, 16)
	switch {
	case portErr != nil || port == 0:
		err = errors.New("has a port that is not from 1 to 65535")
	case address.Scheme != "http" && address.Scheme != "https":
		err = errors.New("has neither the scheme http nor https")
	case address.Hostname() == "":
		err = errors.New("has no host")
	case address.User != nil:
		err = errors.New("has a user, which would be stored in the manifest")
	case address.Path != "" && address.Path != "/":
		err = errors.New("has a path, and the hooks have the paths")
	case address.RawQuery != "" || address.ForceQuery || address.Fragment != "":
		err = errors.New("has a query or a fragment")
	}
	if err != nil {
		return "", fmt.Errorf("%q %w: %s", address.Redacted(), err, want)
	}
	return address.Scheme + "://" + address.Host, nil
}
