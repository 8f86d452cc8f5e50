package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNoServiceGetsExternalIPs: with the component no-external-ips nobody takes over the address
// of another Service. What a Service has stays.
func TestNoServiceGetsExternalIPs(t *testing.T) {
	const policy = "../deploy/components/no-external-ips/policy.yaml"
	in := "--namespace=" + namespace(t, "external-ips")
	service := func(name, address string) string {
		return fmt.Sprintf("{apiVersion: v1, kind: Service, metadata: {name: %s}, spec: {ports: [{port: 80}], externalIPs: [%s]}}", name, address)
	}
	apply(t, service("former", "192.0.2.1"), in)
	kubectl(t, "apply", "--filename="+policy)
	t.Cleanup(func() { kubectl(t, "delete", "--filename="+policy) })
	create := func(address string) (stderr string, err error) {
		_, stderr, err = controlPlane.KubectlWithInput(service("new", address), "create", "--dry-run=server", "--filename=-", in)
		return stderr, err
	}
	require.Eventually(t, func() bool { // the API server reads policies again after some time
		_, err := create("192.0.2.2")
		return err != nil
	}, time.Minute, 200*time.Millisecond)
	stderr, err := create("192.0.2.2")
	require.Error(t, err)
	require.Contains(t, stderr, "can take over the traffic of others")

	_, err = create("")
	require.NoError(t, err)
	kubectl(t, "label", "service", "former", "a=b", in)
	_, stderr, err = controlPlane.KubectlWithInput(service("former", "192.0.2.2"), "apply", "--filename=-", in)
	require.Error(t, err)
	require.Contains(t, stderr, "can take over the traffic of others")
}
