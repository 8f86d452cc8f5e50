package manifests

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/metacontroller"
)

type tune struct{}

type tuneStatus struct{}

// full is an operator with everything that can be declared.
func full() metacontroller.Controller {
	return metacontroller.Controller{
		Parent: metacontroller.Resource{APIVersion: "example.org/v1", Kind: "Tune", Plural: "tunes"},
		Children: []metacontroller.Child{
			{Resource: metacontroller.Resource{APIVersion: "batch/v1", Kind: "Job", Plural: "jobs"}, Update: metacontroller.OnDelete},
			{Resource: metacontroller.Resource{APIVersion: "v1", Kind: "Service", Plural: "services"}, Update: metacontroller.InPlace},
			{Resource: metacontroller.Resource{APIVersion: "v1", Kind: "ConfigMap", Plural: "configmaps"}, Update: metacontroller.InPlace},
		},
		Related:         []metacontroller.Related{{Resource: metacontroller.Resource{APIVersion: "v1", Kind: "Pod", Plural: "pods"}}},
		EscalationRules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods/exec"}, Verbs: []string{"create"}}},
		OrderedTeardown: true,
		Sync: metacontroller.Sync(func(*tune, metacontroller.Observed) (metacontroller.Result[tuneStatus], error) {
			return metacontroller.Result[tuneStatus]{}, nil
		}),
		Customize: metacontroller.Customize(func(*tune) ([]metacontroller.Rule, error) { return nil, nil }),
	}
}

// decodeOnly decodes the one document of a kind in a stream.
func decodeOnly(stream []byte, kind string, into any) error {
	for _, document := range bytes.Split(stream, []byte("\n---\n")) {
		if bytes.Contains(append([]byte("\n"), document...), []byte("\nkind: "+kind+"\n")) {
			return yaml.UnmarshalStrict(document, into)
		}
	}
	return fmt.Errorf("there is no %s", kind)
}

func TestACompositeControllerSaysWhatIsDeclared(t *testing.T) {
	text, err := Operetta().CompositeController(full(), "http://10.0.0.7:8080")
	require.NoError(t, err)
	require.Equal(t, `apiVersion: metacontroller.k8s.io/v1alpha1
kind: CompositeController
metadata:
  labels:
    operetta.dev/hook-customize: "true"
    operetta.dev/hook-finalize: "true"
  name: operetta-tune
spec:
  childResources:
  - apiVersion: batch/v1
    resource: jobs
    updateStrategy:
      method: OnDelete
  - apiVersion: v1
    resource: services
    updateStrategy:
      method: InPlace
  - apiVersion: v1
    resource: configmaps
    updateStrategy:
      method: InPlace
  generateSelector: true
  hooks:
    customize:
      version: v1
      webhook:
        timeout: 10s
        url: http://10.0.0.7:8080/tune/customize
    finalize:
      version: v2
      webhook:
        timeout: 10s
        url: http://10.0.0.7:8080/tune/finalize
    sync:
      version: v2
      webhook:
        timeout: 10s
        url: http://10.0.0.7:8080/tune/sync
  parentResource:
    apiVersion: example.org/v1
    ignoreStatusChanges: true
    resource: tunes
`, string(text))
}

// In v2 Metacontroller copies the labels of each changed object for each parent of the cluster.
func TestRulesOfAllNamespacesNeedTheNewerVersion(t *testing.T) {
	c := full()
	c.RelatedInAllNamespaces = true
	text, err := Operetta().CompositeController(c, "")
	require.NoError(t, err)
	require.Contains(t, string(text), "    customize:\n      version: v2\n")
}

func TestAFinalizerIsForOrderedTeardownOnly(t *testing.T) {
	c := full()
	c.OrderedTeardown = false
	text, err := Operetta().CompositeController(c, "")
	require.NoError(t, err)
	require.NotContains(t, string(text), "finalize")
	require.Contains(t, string(text), "path: /tune/customize\n        service:\n          name: operetta\n          namespace: operetta-system\n          port: 80\n")
}

// TestANameTooLongForItsFinalizerIsRefused: with it the API server refuses every update.
func TestANameTooLongForItsFinalizerIsRefused(t *testing.T) {
	c, in := full(), Operetta()
	in.Prefix = strings.Repeat("p", 43-len(c.Name()))
	text, err := in.CompositeController(c, "")
	require.NoError(t, err)
	require.Empty(t, validation.IsQualifiedName(metacontroller.FinalizerPrefix+in.Name(c)))
	require.Contains(t, string(text), "finalize")

	_, err = in.CompositeControllers(c, "", 2)
	require.ErrorContains(t, err, "-shard-1 is too long for Metacontroller's finalizer, which has 43 characters for it")
	in.Prefix += "p"
	require.NotEmpty(t, validation.IsQualifiedName(metacontroller.FinalizerPrefix+in.Name(c)))
	_, err = in.CompositeController(c, "")
	require.ErrorContains(t, err, "too long for Metacontroller's finalizer")
	c.OrderedTeardown = false
	_, err = in.CompositeController(c, "")
	require.NoError(t, err, "it has no finalizer")
}

func TestMetacontrollerIsGrantedWhatAKindTakesAndNoMore(t *testing.T) {
	text, err := Operetta().MetacontrollerRole(full())
	require.NoError(t, err)
	var role rbacv1.ClusterRole
	require.NoError(t, decodeOnly(text, "ClusterRole", &role))
	require.Equal(t, "operetta-metacontroller-tune", role.Name)
	all := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	require.Equal(t, []rbacv1.PolicyRule{
		rule("example.org", []string{"tunes"}, "get", "list", "watch", "update"),
		rule("example.org", []string{"tunes/finalizers", "tunes/status"}, "update"),
		rule("", []string{"configmaps", "services"}, all...),
		rule("batch", []string{"jobs"}, all...),
		rule("", []string{"pods"}, "list", "watch"),
		rule("", []string{"pods/exec"}, "create"),
	}, role.Rules)

	var binding rbacv1.ClusterRoleBinding
	require.NoError(t, decodeOnly(text, "ClusterRoleBinding", &binding))
	require.Equal(t, role.Name, binding.RoleRef.Name)
	require.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: "metacontroller", Namespace: "metacontroller"}}, binding.Subjects)
}

func TestWhoMayWriteAKind(t *testing.T) {
	const toEdit = "aggregate-to-edit"
	cases := map[string]struct {
		grants   []rbacv1.PolicyRule
		hasScale bool
		editors  int // how many of the two roles the ClusterRole edit takes in
	}{
		"plain":                     {editors: 2},
		"with scale":                {hasScale: true, editors: 2},
		"passes permissions on":     {grants: full().EscalationRules, editors: 1},
		"with scale and permission": {grants: full().EscalationRules, hasScale: true, editors: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			controller := full()
			controller.EscalationRules = c.grants
			text, err := Operetta().UserRoles(controller, c.hasScale)
			require.NoError(t, err)
			require.Equal(t, c.editors, strings.Count(string(text), toEdit))
			require.Equal(t, 1, strings.Count(string(text), "aggregate-to-view"))
			require.Equal(t, 2, strings.Count(string(text), "aggregate-to-admin"))
			scale := 0
			if c.hasScale {
				scale = 2
			}
			require.Equal(t, scale, strings.Count(string(text), "tunes/scale"))
		})
	}
}

func TestHookURLs(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:8080":  "http://127.0.0.1:8080",
		"https://hooks.example/": "https://hooks.example",
		"http://[::1]:80":        "http://[::1]:80",
		"127.0.0.1:8080":         "",
		"hooks:8080":             "",
		"ftp://hooks":            "",
		"http://":                "",
		"http://:8080":           "",
		"http://hooks:http":      "",
		"http://hooks/x":         "",
		"http://hooks?":          "",
		"http://hooks?x=1":       "",
		"http://hooks#x":         "",
		"http://user@hooks":      "",
		"":                       "",
	} {
		got, err := ParseHookURL(text)
		require.Equal(t, want, got, text)
		if want == "" {
			require.ErrorContains(t, err, "write http://host:port or https://host:port", text)
		}
	}
}

func TestArgoCDKnowsEachKindOnce(t *testing.T) {
	text, err := ArgoCDHealth([]metacontroller.Controller{full()})
	require.NoError(t, err)
	require.Contains(t, string(text), "  resource.customizations.health.example.org_Tune: |\n    -- ")
}

func TestTheTableOfKinds(t *testing.T) {
	require.Equal(t, `| kind | apiVersion | short name | children | hooks |
| --- | --- | --- | --- | --- |
| [Tune](docs/tune.md) | `+"`example.org/v1`"+` | tn | Job, Service, ConfigMap | sync, finalize, customize |
`, string(KindsTable([]Row{{full(), []string{"tn"}, "docs/tune.md"}})))
}
