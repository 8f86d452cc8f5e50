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
	return in.compositeController(c, hookURL).document()
}

// document returns it as a YAML document, unless the API server would refuse the finalizer
// that Metacontroller makes of its name, and with it each update of a custom resource.
func (c compositeController) document() ([]byte, error) {
	_, hasFinalizer := c.Spec.Hooks[metacontroller.FinalizeHook]
	if _, name, _ := strings.Cut(metacontroller.FinalizerPrefix+c.Metadata.Name, "/"); hasFinalizer && len(name) > validation.LabelValueMaxLength {
		return nil, fmt.Errorf("the name %s is too long for Metacontroller's finalizer, which has %d characters for it: write a shorter --prefix, or give the kind a shorter name",
			c.Metadata.Name, validation.LabelValueMaxLength-len(name)+len(c.Metadata.Name))
	}
	return document(c)
}

func (in Installation) compositeController(c metacontroller.Controller, hookURL string) compositeController {
	object := compositeController{APIVersion: "metacontroller.k8s.io/v1alpha1", Kind: "CompositeController"}
	object.Metadata.Name = in.Name(c)
	object.Spec = compositeSpec{
		GenerateSelector: true,
		ParentResource: parentRule{
			resourceRule: ruleFor(c.Parent),
			// A hook reads of the status only what it wrote itself, so a sync
			// after a status write would give the same answer.
			IgnoreStatusChanges: true,
		},
		Hooks: map[metacontroller.HookName]hook{metacontroller.SyncHook: in.hook(c, metacontroller.SyncHook, hookURL)},
	}
	for _, child := range c.Children {
		rule := childRule{resourceRule: ruleFor(child.Resource)}
		rule.UpdateStrategy.Method = child.Update
		object.Spec.ChildResources = append(object.Spec.ChildResources, rule)
	}
	for _, name := range declared(c)[1:] {
		object.Spec.Hooks[name] = in.hook(c, name, hookURL)
		if object.Metadata.Labels == nil {
			object.Metadata.Labels = map[string]string{}
		}
		object.Metadata.Labels[hookLabel+string(name)] = "true"
	}
	return object
}

// declared returns the hooks of the CompositeController, sync first. A declared
// finalize hook adds a finalizer to every parent, so it is only declared for an
// ordered teardown.
func declared(c metacontroller.Controller) []metacontroller.HookName {
	return slices.DeleteFunc(c.Hooks(), func(name metacontroller.HookName) bool {
		return name == metacontroller.FinalizeHook && !c.OrderedTeardown
	})
}

func (in Installation) hook(c metacontroller.Controller, name metacontroller.HookName, hookURL string) hook {
	path := fmt.Sprintf("/%s/%s", c.Name(), name)
	webhook := webhook{Timeout: metav1.Duration{Duration: hookTimeout}}
	if hookURL != "" {
		webhook.URL = hookURL + path
	} else {
		webhook.Path = path
		webhook.Service = &service{Name: in.Service, Namespace: in.Namespace, Port: in.Port}
	}
	return hook{Version: HookVersion(c, name), Webhook: webhook}
}

// HookVersion returns the version in which Metacontroller calls a hook, v1 or v2.
func HookVersion(c metacontroller.Controller, name metacontroller.HookName) string {
	if name == metacontroller.CustomizeHook && !c.RelatedInAllNamespaces {
		return customizeVersion
	}
	return hookVersion
}

func ruleFor(r metacontroller.Resource) resourceRule {
	return resourceRule{APIVersion: r.APIVersion, Resource: r.Plural}
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
		err = errors.New("has a path, and the paths are those of the hooks")
	case address.RawQuery != "" || address.ForceQuery || address.Fragment != "":
		err = errors.New("has a query or a fragment")
	}
	if err != nil {
		return "", fmt.Errorf("%q %w: %s", address.Redacted(), err, want)
	}
	return address.Scheme + "://" + address.Host, nil
}

// The printed part of Metacontroller's API. Its own Go types are not used,
// because they have too many dependencies.
type (
	compositeController struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Labels map[string]string `json:"labels,omitempty"`
			Name   string            `json:"name"`
		} `json:"metadata"`
		Spec compositeSpec `json:"spec"`
	}
	compositeSpec struct {
		ParentResource   parentRule                       `json:"parentResource"`
		ChildResources   []childRule                      `json:"childResources"`
		GenerateSelector bool                             `json:"generateSelector"`
		Hooks            map[metacontroller.HookName]hook `json:"hooks"`
	}
	resourceRule struct {
		APIVersion string `json:"apiVersion"`
		Resource   string `json:"resource"`
	}
	parentRule struct {
		resourceRule
		IgnoreStatusChanges bool                  `json:"ignoreStatusChanges"`
		LabelSelector       *metav1.LabelSelector `json:"labelSelector,omitempty"`
	}
	childRule struct {
		resourceRule
		UpdateStrategy struct {
			Method metacontroller.UpdateMethod `json:"method"`
		} `json:"updateStrategy"`
	}
	hook struct {
		Version string  `json:"version"`
		Webhook webhook `json:"webhook"`
	}
	webhook struct {
		URL     string          `json:"url,omitempty"`
		Service *service        `json:"service,omitempty"`
		Path    string          `json:"path,omitempty"`
		Timeout metav1.Duration `json:"timeout"`
	}
	service struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		Port      int    `json:"port"`
	}
)
