package declaration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/operetta-dev/operetta/metacontroller"
)

// toys returns a declaration that is right.
func toys() Controller {
	type toy struct{}
	return Controller{
		Parent:    Resource{APIVersion: "example.com/v1beta1", Kind: "Toy", Plural: "toys"},
		Children:  []Child{{Resource: Resource{APIVersion: "v1", Kind: "ConfigMap", Plural: "configmaps"}, Update: InPlace, SharedName: true}},
		Related:   []Related{{Resource: Resource{APIVersion: "v1", Kind: "ConfigMap", Plural: "configmaps"}}},
		Customize: Customize(func(*toy) ([]Rule, error) { return nil, nil }),
		Sync:      Sync(func(*toy, Observed) (Result[toy], error) { return Result[toy]{}, nil }),
	}
}

func TestCheck(t *testing.T) {
	require.NoError(t, Check())
	require.NoError(t, Check(toys()))
	for name, test := range map[string]struct {
		spoil func(c *Controller)
		says  string
	}{
		"no update method":     {func(c *Controller) { c.Children[0].Update = "" }, `Toy: child ConfigMap: Update is "": write metacontroller.OnDelete`},
		"Recreate":             {func(c *Controller) { c.Children[0].Update = "Recreate" }, `Update is "Recreate"`},
		"a plural of another":  {func(c *Controller) { c.Parent.Plural = "toies" }, `Toy: Toy: Plural is "toies": write "toys"`},
		"a child's plural":     {func(c *Controller) { c.Children[0].Plural = "ConfigMap" }, `Toy: ConfigMap: Plural is "ConfigMap": write "configmaps"`},
		"no group":             {func(c *Controller) { c.Parent.APIVersion = "v1" }, `has no group with a domain`},
		"no version":           {func(c *Controller) { c.Parent.APIVersion = "example.com/latest" }, `APIVersion "example.com/latest" is no group and version`},
		"kind in lower case":   {func(c *Controller) { c.Parent.Kind = "toy" }, `the Kind "toy" is no name of a kind`},
		"no sync":              {func(c *Controller) { c.Sync = Hook{} }, `Sync is missing`},
		"a child twice":        {func(c *Controller) { c.Children = append(c.Children, c.Children[0]) }, `child ConfigMap.v1 stands twice`},
		"contested and unseen": {func(c *Controller) { c.Customize, c.Related = Hook{}, nil }, `shares its name (SharedName), and there is no Customize hook`},
		"no customize":         {func(c *Controller) { c.Customize, c.Children[0].SharedName = Hook{}, false }, `there is no Customize hook that selects any`},
		"nothing elsewhere":    {func(c *Controller) { c.Related, c.RelatedInAllNamespaces = nil, true }, `no kinds that it could be about`},
		"CRD of another kind": {func(c *Controller) {
			c.CRD = NewCRD([]byte("spec:\n  names: {kind: Game, plural: games}\n"))
		}, `the CRD defines the kind Game with the plural games: write the CRD of Toy with the plural toys`},
		"rc as a short name": {func(c *Controller) {
			c.CRD = NewCRD([]byte("spec:\n  names: {kind: Toy, plural: toys, shortNames: [ty, rc]}\n"))
		}, `the CRD has the short name rc, which belongs to replicationcontrollers: write another`},
		"a cluster-scoped child": {func(c *Controller) {
			c.Children = append(c.Children, Child{Resource: ClusterRoleBinding, Update: InPlace})
			c.CRD = NewCRD([]byte(`{"spec":{"scope":"Namespaced"}}`))
		}, `Toy: child ClusterRoleBinding is cluster-scoped and the parent is not`},
		"a child of a scope that stands in the schema": {func(c *Controller) {
			c.Children = append(c.Children, Child{Resource: Namespace, Update: InPlace})
			c.CRD = NewCRD([]byte("spec:\n  scope: Namespaced\n  versions:\n  - schema:\n      scope: Cluster\n"))
		}, `Toy: child Namespace is cluster-scoped`},
		"teardown of no order": {func(c *Controller) { c.OrderedTeardown = true }, `there is no Finalize hook for the order`},
	} {
		t.Run(name, func(t *testing.T) {
			c := toys()
			test.spoil(&c)
			require.ErrorContains(t, Check(c), test.says)
			require.NotContains(t, Check(c).Error(), "\n")
		})
	}
	cluster := toys()
	cluster.Parent = Resource{APIVersion: "example.com/v1", Kind: "Shop", Plural: "shops"}
	cluster.CRD = NewCRD([]byte("spec:\n  names: {kind: Shop, plural: shops}\n  scope: Cluster\n"))
	cluster.Children, cluster.Related = []Child{{Resource: ClusterRole, Update: InPlace}}, []Related{{Resource: ConfigMap}}
	require.NoError(t, Check(toys(), cluster))
	mixed := cluster
	mixed.Children = []Child{{Resource: ConfigMap, Update: InPlace}}
	require.ErrorContains(t, Check(mixed), "Shop: child ConfigMap lives in a namespace and the parent does not")
	unknown := cluster
	unknown.CRD = nil
	require.NoError(t, Check(unknown), "it may be cluster-scoped")
	elsewhere := cluster
	elsewhere.Children = []Child{{Resource: Resource{APIVersion: "gateway.networking.k8s.io/v1", Kind: "GatewayClass", Plural: "gatewayclasses"}, Update: InPlace}}
	require.NoError(t, Check(elsewhere), "a kind of a CRD that is not this program's")
	owner := toys()
	owner.CRD = NewCRD([]byte("spec:\n  scope: Namespaced\n"))
	owner.Children = append(owner.Children, Child{Resource: cluster.Parent, Update: InPlace})
	require.ErrorContains(t, Check(owner, cluster), "Toy: child Shop is cluster-scoped and the parent is not")

	other := toys()
	other.Parent.APIVersion = "other.example.com/v1"
	other.Sync = Hook{}
	err := Check(toys(), other)
	require.ErrorContains(t, err, "toys.example.com and toys.other.example.com have one name")
	require.Equal(t, 1, strings.Count(err.Error(), "\n"), "each mistake has a line: %s", err)
}

func TestShortNamesAreDistinct(t *testing.T) {
	one, other := toys(), toys()
	one.CRD = NewCRD([]byte("spec:\n  names: {kind: Toy, plural: toys, shortNames: [ty]}\n"))
	other.Parent.Kind, other.Parent.Plural = "Tyre", "tyres"
	other.CRD = NewCRD([]byte("spec:\n  names: {kind: Tyre, plural: tyres, shortNames: [ty]}\n"))
	require.EqualError(t, Check(one, other), "Tyre: Toy has the short name ty, too: give one of the kinds another")
	other.CRD = nil
	require.NoError(t, Check(one, other))
}

func TestPlurals(t *testing.T) {
	for kind, plural := range map[string]string{
		"Pod": "pods", "Ingress": "ingresses", "NetworkPolicy": "networkpolicies", "Endpoints": "endpoints", "IngressClass": "ingressclasses",
		"ModelBox": "modelboxes", "Gateway": "gateways", "RedisCache": "rediscaches", "Proxy": "proxies",
	} {
		require.Equal(t, plural, PluralOf(kind))
	}
}

// TestBuiltInKindsHaveTheirNames holds the plurals of those that metacontroller lists.
func TestBuiltInKindsHaveTheirNames(t *testing.T) {
	for _, kind := range []Resource{
		ConfigMap, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, Service, ServiceAccount, DaemonSet, Deployment, ReplicaSet, StatefulSet,
		CronJob, Job, HorizontalPodAutoscaler, PodDisruptionBudget, EndpointSlice, Ingress, Lease, NetworkPolicy, ClusterRole, ClusterRoleBinding, Role, RoleBinding,
	} {
		require.Empty(t, mistakesOfKind(kind), kind.Kind)
	}
}
