package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestComponentsRender renders deploy/ with each combination of components in docs/tls.md,
// using kubectl's kustomize, and compares the settings of the server with those of the
// CompositeControllers.
func TestComponentsRender(t *testing.T) {
	plain := objects(t, kustomized(t, ""))
	all, err := crdFiles()
	require.NoError(t, err)
	for choice, flags := range map[string][]string{
		"tls":                                {"--tls-cert-file", "--tls-private-key-file"},
		"mtls":                               {"--tls-cert-file", "--tls-private-key-file", "--client-ca-file", "--client-names"},
		"self-signed":                        {"--tls-cert-file", "--tls-private-key-file"},
		"tls,token":                          {"--tls-cert-file", "--tls-private-key-file", "--token-file"},
		"mtls,token":                         {"--tls-cert-file", "--tls-private-key-file", "--client-ca-file", "--client-names", "--token-file"},
		"self-signed,token":                  {"--tls-cert-file", "--tls-private-key-file", "--token-file"},
		"mtls,existing-metacontroller":       {"--tls-cert-file", "--tls-private-key-file", "--client-ca-file", "--client-names"},
		"mtls,token,existing-metacontroller": {"--tls-cert-file", "--tls-private-key-file", "--client-ca-file", "--client-names", "--token-file"},
		"self-signed,token,existing-metacontroller": {"--tls-cert-file", "--tls-private-key-file", "--token-file"},
		"sharded:mtls": {"--tls-cert-file", "--tls-private-key-file", "--client-ca-file", "--client-names"},
	} {
		t.Run(choice, func(t *testing.T) {
			made := objects(t, kustomized(t, choice))
			server := made["Deployment operetta"]
			pod := server["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
			container := pod["containers"].([]any)[0].(map[string]any)
			var added []string
			former := plain["Deployment operetta"]["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
			for _, arg := range container["args"].([]any)[len(former["args"].([]any)):] {
				flag, file, _ := strings.Cut(arg.(string), "=")
				added = append(added, flag)
				if strings.HasPrefix(file, "/") {
					require.True(t, mounts(container, filepath.Dir(file)), "%s is not mounted", file)
				}
			}
			require.Equal(t, flags, added)
			for _, part := range []string{"ports", "livenessProbe", "readinessProbe", "resources", "securityContext", "env"} {
				require.Equal(t, former[part], container[part], "%s stays", part)
			}
			port := made["Service operetta"]["spec"].(map[string]any)["ports"].([]any)[0].(map[string]any)
			require.EqualValues(t, 443, port["port"])
			count := 0
			for name, object := range made {
				if !strings.HasPrefix(name, "CompositeController ") {
					continue
				}
				count++
				spec := object["spec"].(map[string]any)
				for hook, declared := range spec["hooks"].(map[string]any) {
					service := declared.(map[string]any)["webhook"].(map[string]any)["service"].(map[string]any)
					require.Equal(t, map[string]any{"name": "operetta", "namespace": "operetta-system", "protocol": "https", "port": port["port"]}, service, "%s %s", name, hook)
				}
				endpoint := spec["endpointConfigs"].([]any)
				require.Len(t, endpoint, 1)
				require.Contains(t, endpoint[0], "caBundle")
				require.Equal(t, strings.Contains(choice, "mtls"), has(endpoint[0], "clientTLS"))
				require.Equal(t, strings.Contains(choice, "token"), has(endpoint[0], "authorization"))
			}
			if _, isSharded := strings.CutPrefix(choice, shardedBase); isSharded {
				count /= 2
			}
			require.Equal(t, len(all), count)
			require.Contains(t, made, "ClusterRoleBinding operetta-metacontroller-secrets")
			if strings.Contains(choice, "existing-metacontroller") {
				require.Equal(t, map[string]int{"metacontroller-system/metacontroller-helm": len(all) + 1}, subjects(made), "it is bound to the roles of all kinds, and to the one for Secrets")
			}
		})
	}
	dir := kustomization(t, "tls") // with the CA not from a Secret, as in docs/tls.md
	_, patch, found := strings.Cut(read(t, "../docs/tls.md"), "```yaml\npatches:\n")
	require.True(t, found)
	patch, _, _ = strings.Cut(patch, "```")
	file := filepath.Join(dir, "kustomization.yaml")
	require.NoError(t, os.WriteFile(file, []byte(read(t, file)+"patches:\n"+patch), 0o600))
	made := objects(t, kubectl(t, "kustomize", dir))
	require.Empty(t, made["ClusterRole operetta-metacontroller-secrets"]["rules"])
	endpoint := made["CompositeController operetta-build"]["spec"].(map[string]any)["endpointConfigs"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"inline": "-----BEGIN CERTIFICATE-----\n...\n-----END CERTIFICATE-----"}, endpoint["caBundle"])

	// In another order the role for Secrets stays with a Metacontroller that is not there.
	require.Equal(t, 1, subjects(objects(t, kustomized(t, "existing-metacontroller,mtls")))["metacontroller/metacontroller"])

	for _, choice := range []string{"token", "tls,self-signed"} {
		_, stderr, err := controlPlane.Kubectl("kustomize", kustomization(t, choice))
		require.Error(t, err, "%s makes no sense: %s", choice, stderr)
	}
}

// subjects counts the ClusterRoleBindings of Metacontroller by namespace/name of their
// only subject.
func subjects(made map[string]map[string]any) map[string]int {
	found := map[string]int{}
	for name, object := range made {
		if strings.HasPrefix(name, "ClusterRoleBinding operetta-metacontroller-") {
			subject := object["subjects"].([]any)[0].(map[string]any)
			found[subject["namespace"].(string)+"/"+subject["name"].(string)]++
		}
	}
	return found
}

// TestCABundle renders the component ca-bundle on top of the others: what trusts a CA trusts
// those in the bundle, and nothing else changes.
func TestCABundle(t *testing.T) {
	for choice, server := range map[string]bool{"tls": false, "mtls": true, "self-signed": false, "sharded:mtls": true} {
		t.Run(choice, func(t *testing.T) {
			former := kustomized(t, choice)
			before, after := objects(t, former), objects(t, kustomized(t, choice+",ca-bundle"))
			count := 0
			for name, object := range after {
				if !strings.HasPrefix(name, "CompositeController ") {
					continue
				}
				count++
				endpoint := object["spec"].(map[string]any)["endpointConfigs"].([]any)[0].(map[string]any)
				require.Equal(t, map[string]any{"secretRef": map[string]any{"name": "operetta-ca-bundle", "namespace": "operetta-system", "key": "ca.crt"}}, endpoint["caBundle"])
				endpoint["caBundle"] = before[name]["spec"].(map[string]any)["endpointConfigs"].([]any)[0].(map[string]any)["caBundle"]
			}
			require.NotZero(t, count)
			changed := 0
			pod := after["Deployment operetta"]["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
			for _, volume := range pod["volumes"].([]any) {
				secret, _ := volume.(map[string]any)["secret"].(map[string]any)
				if secret["secretName"] == "operetta-ca-bundle" {
					require.Equal(t, []any{map[string]any{"key": "ca.crt", "path": "ca.crt"}}, secret["items"])
					secret["secretName"] = "operetta-metacontroller-tls"
					changed++
				}
			}
			require.Equal(t, server, changed == 1, "the server trusts the bundle where it has a CA of its callers")
			require.Equal(t, before, after)
		})
	}
}

// TestShardsWithMutualTLSAndMetrics renders the kustomization of docs/operations.md that has all of it.
func TestShardsWithMutualTLSAndMetrics(t *testing.T) {
	_, text, found := strings.Cut(read(t, "../docs/operations.md"), "```yaml\n# kustomization.yaml")
	require.True(t, found)
	text, _, _ = strings.Cut(text, "```")
	dir, err := os.MkdirTemp("..", "my-operetta-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte("#"+strings.ReplaceAll(text, "- operetta/deploy", "- ../deploy")), 0o600))
	made := objects(t, kubectl(t, "kustomize", dir))
	for _, name := range []string{"CompositeController operetta-podset", "CompositeController operetta-podset-shard-1"} {
		require.Contains(t, made, name)
		endpoint := made[name]["spec"].(map[string]any)["endpointConfigs"].([]any)[0]
		require.True(t, has(endpoint, "clientTLS"), name)
	}
	for _, name := range []string{"PodMonitor operetta", "PrometheusRule operetta", "Certificate operetta-metacontroller-tls"} {
		require.Contains(t, made, name)
	}
}

func has(object any, key string) bool {
	_, found := object.(map[string]any)[key]
	return found
}

func mounts(container map[string]any, folder string) bool {
	for _, mount := range container["volumeMounts"].([]any) {
		if mount.(map[string]any)["mountPath"] == folder {
			return true
		}
	}
	return false
}

// shardedBase before a choice of components has them on the sharded overlay.
const shardedBase = "sharded:"

// kustomization writes the kustomization of docs/tls.md, and returns its folder.
func kustomization(t *testing.T, choice string) string {
	t.Helper()
	dir, err := os.MkdirTemp("..", "my-operetta-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	base := "deploy"
	choice, isSharded := strings.CutPrefix(choice, shardedBase)
	if isSharded {
		base = "deploy/overlays/sharded"
	}
	text := "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- ../" + base + "\n"
	if choice != "" {
		text += "components:\n"
		for component := range strings.SplitSeq(choice, ",") {
			text += "- ../deploy/components/" + component + "\n"
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o600))
	return dir
}

func kustomized(t *testing.T, choice string) string {
	t.Helper()
	return kubectl(t, "kustomize", kustomization(t, choice))
}

// objects returns the objects of a YAML stream by kind and name.
func objects(t *testing.T, stream string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for document := range strings.SplitSeq(stream, "\n---\n") {
		object := parse(t, document)
		found[object["kind"].(string)+" "+object["metadata"].(map[string]any)["name"].(string)] = object
	}
	return found
}
