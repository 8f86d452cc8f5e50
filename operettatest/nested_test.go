package operettatest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/commands"
	"github.com/operetta-dev/operetta/metacontroller"
)

var shopCRD = metacontroller.NewCRD([]byte(strings.NewReplacer("Web", "Shop", "web", "shop").Replace(toyCRD)))

// shopController declares an operator whose child is the custom resource of another.
func shopController() metacontroller.Controller {
	return metacontroller.Controller{
		Parent:   metacontroller.Resource{APIVersion: "toys.example.com/v1", Kind: "Shop", Plural: "shops"},
		CRD:      shopCRD,
		Children: []metacontroller.Child{{Resource: webController().Parent, Update: metacontroller.InPlace}},
		Sync:     metacontroller.Sync(syncShop),
	}
}

func syncShop(shop *toy, seen metacontroller.Observed) (metacontroller.Result[toyStatus], error) {
	web := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "toys.example.com/v1", "kind": "Web", "metadata": map[string]any{"name": shop.Name},
		"spec": map[string]any{"image": shop.Spec.Image, "replicas": int64(shop.Spec.Replicas)},
	}}
	return answerToy(shop, seen, web, isThere)
}

// TestARefusedChildIsOfWhoAskedForIt: the name of a Web's Deployment may be taken, which the Web
// tells and not the Shop that has the Web.
func TestARefusedChildIsOfWhoAskedForIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it plays 80 schedules: make cover")
	}
	const shop = "{apiVersion: toys.example.com/v1, kind: Shop, metadata: {name: shop, namespace: default}, spec: {image: nginx, replicas: 1}}"
	var out, errOut bytes.Buffer
	code := commands.Run(t.Context(), "shops", commands.Operators{Controllers: []metacontroller.Controller{webController(), shopController()}},
		[]string{"explore", "-", "--schedules", "40", "--seed", "1"}, cli.Streams{In: strings.NewReader(shop), Out: &out, Err: &errOut})
	require.Zero(t, code, out.String()+errOut.String())
	require.Equal(t, 2, strings.Count(out.String(), "schedules: 40, found: 0"), out.String())
}
