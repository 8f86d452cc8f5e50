package hooks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/internal/testenv"
)

// TestSmallQuantitiesComeToRest: the API server rounds requests and limits up to
// thousandths, and a child that asks for less would be written at each sync.
func TestSmallQuantitiesComeToRest(t *testing.T) {
	quantities := []string{"100u", "1.5", "1n", "0.00001", "1e-4", "1500u", "0.5", "1m"}
	if testenv.Inner() {
		quantities = quantities[:2]
	}
	for _, quantity := range quantities {
		resources := fmt.Sprintf(`{requests: {cpu: %q, memory: %q, ephemeral-storage: %[1]q}, limits: {cpu: "2", memory: %[1]q}}`, quantity, quantity)
		container := `{name: a, image: nginx, resources: ` + resources + `}`
		claim := fmt.Sprintf(`{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: %q}}}}}}`, quantity)
		pod := `containers: [` + container + `], initContainers: [` + strings.Replace(container, "name: ", "name: init-", 1) + `], volumes: [` + claim + `]`
		for kind, manifest := range map[string]string{
			"ModelBox": `apiVersion: model.github.com/v1, kind: ModelBox, spec: {image: nginx, resourceClass: custom, resources: ` + resources + `,
				sidecars: [` + container + `], initContainers: [{name: b, image: nginx, resources: ` + resources + `}], volumes: [` + claim + `, {name: d, emptyDir: {sizeLimit: "` + quantity + `"}}]}`,
			"DataService": `apiVersion: d3os-product.com.d3os/v1, kind: DataService, spec: {
				mysql: {storage: {size: "` + quantity + `"}, credentialsSecretRef: {name: db}, resources: ` + resources + `},
				uuc: {kind: DaemonSet, image: uuc, resources: ` + resources + `}, eureka: {image: eureka, resources: ` + resources + `}}`,
			"PodSet": `apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, spec: {size: 1, template: {spec: {` + pod + `}}}`,
			"MyJob":  `apiVersion: myjob.github.com/v1beta1, kind: MyJob, spec: {template: {spec: {restartPolicy: Never, ` + pod + `}}}`,
			"Build":  `apiVersion: ci.zt.vapi.cc/v1, kind: Build, spec: {image: a, source: {git: {url: "https://git.example.com/a", revision: main}}, resources: ` + resources + `}`,
		} {
			if !testenv.Selected(strings.ToLower(kind)) {
				continue
			}
			t.Run(kind+"/"+quantity, func(t *testing.T) {
				t.Parallel()
				world := newPlainWorld()
				object, err := yaml.YAMLToJSON([]byte(`{metadata: {name: small}, ` + manifest + `}`))
				require.NoError(t, err)
				require.NoError(t, world.Apply(object))
				require.NoError(t, world.Play())
			})
		}
	}
}
