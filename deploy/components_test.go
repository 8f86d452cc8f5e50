package deploy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
	"github.com/operetta-dev/operetta/internal/cli"
	"github.com/operetta-dev/operetta/internal/lab/write/manifests"
	"github.com/operetta-dev/operetta/internal/record"
)

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// inline returns the JSON patches in the kustomization of a component, by what they
// are for: KIND/NAME, and behind a question mark the label that selects.
func inline(t *testing.T, component string) map[string][]operation {
	t.Helper()
	found := map[string][]operation{}
	for _, patch := range read[kustomization](t, "components/"+component+"/kustomization.yaml").Patches {
		if patch.Path != "" {
			continue
		}
		var operations []operation
		require.NoError(t, yaml.UnmarshalStrict([]byte(patch.Patch), &operations))
		name, _ := patch.Target["name"].(string)
		target := patch.Target["kind"].(string) + "/" + name
		if label, ok := patch.Target["labelSelector"].(string); ok {
			target += "?" + label
		}
		found[target] = append(found[target], operations...)
	}
	return found
}

// args returns what a component adds to the arguments of the server.
func args(t *testing.T, component string) []string {
	t.Helper()
	var found []string
	for _, operation := range inline(t, component)["Deployment/operetta"] {
		require.Equal(t, "/spec/template/spec/containers/0/args/-", operation.Path)
		found = append(found, operation.Value.(string))
	}
	require.NotEmpty(t, found)
	return found
}

// Each flag that a component adds is one of serve's, and each file that it names is
// mounted, from a key of the Secret or ConfigMap that the component is about.
func TestComponentsGiveFlagsTheirFiles(t *testing.T) {
	var help bytes.Buffer
	cli.Run(t.Context(), "operetta", hooks.All(), cli.Commands{}, []string{"serve", "--help"}, cli.Streams{Out: &help, Err: &help})
	for component, source := range map[string]string{"https": "operetta-tls", "mtls": "operetta-metacontroller-tls", "token": "operetta-token", "configuration": "operetta-config"} {
		patch := read[appsv1.Deployment](t, "components/"+component+"/volume.yaml")
		require.Equal(t, deployment(t).Name, patch.Name)
		require.Equal(t, manifests.Operetta().Namespace, patch.Namespace)
		pod := patch.Spec.Template.Spec
		require.Len(t, pod.Volumes, 1)
		volume := pod.Volumes[0].VolumeSource
		if config := volume.ConfigMap; config != nil {
			volume.Secret = &corev1.SecretVolumeSource{SecretName: config.Name, Items: config.Items}
		}
		require.Equal(t, source, volume.Secret.SecretName)
		require.Equal(t, deployment(t).Spec.Template.Spec.Containers[0].Name, pod.Containers[0].Name)
		mount := pod.Containers[0].VolumeMounts[0]
		require.Equal(t, pod.Volumes[0].Name, mount.Name)
		require.True(t, mount.ReadOnly)
		var mounted []string
		for _, item := range volume.Secret.Items {
			mounted = append(mounted, mount.MountPath+"/"+item.Path)
		}
		var named []string
		for _, arg := range args(t, component) {
			flag, value, _ := strings.Cut(arg, "=")
			require.Contains(t, help.String(), flag+" string", component)
			if strings.HasPrefix(value, "/") {
				named = append(named, value)
			}
		}
		require.ElementsMatch(t, mounted, named, "every file that is mounted is one that a flag names")
	}
}

// TestEveryHookIsCalledOverTLS: a hook that a patch leaves out would still be called in
// plain HTTP, and fail.
func TestEveryHookIsCalledOverTLS(t *testing.T) {
	patches := inline(t, "https")
	service := patches["Service/operetta"][0].Value.([]any)
	require.Len(t, service, 1)
	port := service[0].(map[string]any)
	require.EqualValues(t, 443, port["port"])
	require.Equal(t, "http", port["targetPort"], "the port of the container that hooks are answered on")

	paths, err := filepath.Glob("controllers/*.yaml")
	require.NoError(t, err)
	count := 0
	for _, path := range paths {
		if filepath.Base(path) == "kustomization.yaml" {
			continue
		}
		controller := read[struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Metadata   struct {
				Name   string            `json:"name"`
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec map[string]any `json:"spec"`
		}](t, path)
		var wanted, got []string
		for hook := range controller.Spec["hooks"].(map[string]any) {
			count++
			wanted = append(wanted, "add /spec/hooks/"+hook+"/webhook/service/protocol https", "replace /spec/hooks/"+hook+"/webhook/service/port 443")
		}
		for target, operations := range patches {
			kind, rest, _ := strings.Cut(target, "/")
			name, label, isLabel := strings.Cut(rest, "?")
			if kind != controller.Kind || name != "" && !regexp.MustCompile("^(?:"+name+")$").MatchString(controller.Metadata.Name) {
				continue
			}
			if key, value, _ := strings.Cut(label, "="); isLabel && controller.Metadata.Labels[key] != value {
				continue
			}
			for _, operation := range operations {
				if operation.Path != "/spec/endpointConfigs" {
					value, _ := yaml.Marshal(operation.Value)
					got = append(got, operation.Op+" "+operation.Path+" "+strings.TrimSpace(string(value)))
				}
			}
		}
		require.ElementsMatch(t, wanted, got, path)
	}
	require.Greater(t, count, len(hooks.All()))
}

// What Metacontroller is told to send or to trust is for the host that it calls, and
// in the Secrets that the server's side has.
func TestEndpointsAreTheServers(t *testing.T) {
	in := manifests.Operetta()
	host := in.Service + "." + in.Namespace
	endpoint := inline(t, "https")["CompositeController/operetta-.*"]
	configs := endpoint[len(endpoint)-1].Value.([]any)
	require.Equal(t, []any{map[string]any{
		"host":     host + ":443",
		"caBundle": map[string]any{"secretRef": map[string]any{"name": "operetta-tls", "namespace": in.Namespace, "key": "ca.crt"}},
	}}, configs)
	require.Equal(t, []operation{{"add", "/spec/endpointConfigs/0/clientTLS", map[string]any{
		"secretRef": map[string]any{"name": "operetta-metacontroller-tls", "namespace": in.Namespace},
		"certKey":   corev1.TLSCertKey, "privateKeyKey": corev1.TLSPrivateKeyKey,
	}}}, inline(t, "mtls")["CompositeController/operetta-.*"])
	require.Equal(t, []operation{{"add", "/spec/endpointConfigs/0/authorization", map[string]any{
		"type": "Bearer", "secretRef": map[string]any{"name": "operetta-token", "namespace": in.Namespace, "key": "token"},
	}}}, inline(t, "token")["CompositeController/operetta-.*"])

	certificates := certificatesIn(t, "components/tls/certificates.yaml", "components/mtls/certificate.yaml")
	require.Contains(t, certificates["operetta-tls"].DNSNames, host, "the name that Metacontroller calls")
	require.Contains(t, certificates["operetta-tls"].Usages, "server auth")
	client := certificates["operetta-metacontroller-tls"]
	require.Contains(t, client.Usages, "client auth")
	require.Contains(t, args(t, "mtls"), "--client-names="+client.CommonName)
	for name, certificate := range certificates {
		require.Equal(t, name, certificate.SecretName)
		if !certificate.IsCA {
			require.Equal(t, certificates["operetta-ca"].SecretName, certificate.IssuerRef["name"], "one CA for both sides")
		}
	}
}

// certificate is what cert-manager makes.
type certificate struct {
	IsCA       bool              `json:"isCA"`
	CommonName string            `json:"commonName"`
	DNSNames   []string          `json:"dnsNames"`
	SecretName string            `json:"secretName"`
	Usages     []string          `json:"usages"`
	IssuerRef  map[string]string `json:"issuerRef"`
}

func certificatesIn(t *testing.T, paths ...string) map[string]certificate {
	t.Helper()
	found := map[string]certificate{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			var object struct {
				Kind     string `json:"kind"`
				Metadata struct {
					Name      string `json:"name"`
					Namespace string `json:"namespace"`
				} `json:"metadata"`
				Spec certificate `json:"spec"`
			}
			require.NoError(t, yaml.Unmarshal(document, &object))
			require.Equal(t, manifests.Operetta().Namespace, object.Metadata.Namespace)
			if object.Kind == "Certificate" {
				found[object.Metadata.Name] = object.Spec
			}
		}
	}
	return found
}

// What makes a certificate may do nothing else.
func TestTheCertificateJobMayMakeOneSecret(t *testing.T) {
	text, err := os.ReadFile("components/self-signed/certgen.yaml")
	require.NoError(t, err)
	documents := bytes.Split(text, []byte("\n---\n"))
	require.Len(t, documents, 5)
	decode := func(i int, into any) { require.NoError(t, yaml.UnmarshalStrict(documents[i], into)) }
	var job batchv1.Job
	var account corev1.ServiceAccount
	var role rbacv1.Role
	var binding rbacv1.RoleBinding
	var policy networkingv1.NetworkPolicy
	for i, into := range []any{&account, &role, &binding, &policy, &job} {
		decode(i, into)
	}
	in := manifests.Operetta()
	requireRestricted(t, job.Spec.Template.Spec)
	require.Regexp(t, `:\d+\.\d+\.\d+$`, job.Spec.Template.Spec.Containers[0].Image)
	require.Equal(t, account.Name, job.Spec.Template.Spec.ServiceAccountName)
	require.NotEqual(t, deployment(t).Spec.Template.Spec.ServiceAccountName, account.Name)
	for _, arg := range []string{"--namespace=" + in.Namespace, "--secret-name=operetta-tls", "--ca-name=ca.crt", "--cert-name=tls.crt", "--key-name=tls.key"} {
		require.Contains(t, job.Spec.Template.Spec.Containers[0].Args, arg)
	}
	require.True(t, slices.ContainsFunc(job.Spec.Template.Spec.Containers[0].Args, func(arg string) bool {
		return strings.HasPrefix(arg, "--host="+in.Service+"."+in.Namespace+",")
	}))
	require.Equal(t, []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"operetta-tls"}, Verbs: []string{"get"}},
	}, role.Rules)
	require.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: in.Namespace}}, binding.Subjects)
	require.Equal(t, job.Spec.Template.Labels, policy.Spec.PodSelector.MatchLabels)
	require.NotEqual(t, deployment(t).Spec.Selector.MatchLabels, job.Spec.Template.Labels, "the Service does not send it requests")
}

// What is recorded has room in a volume of the Pod, and the worker may end what it has begun.
func TestRecordingsHaveRoom(t *testing.T) {
	patch := read[appsv1.Deployment](t, "components/recording/volume.yaml")
	require.Equal(t, deployment(t).Name, patch.Name)
	require.Equal(t, manifests.Operetta().Namespace, patch.Namespace)
	pod := patch.Spec.Template.Spec
	require.Len(t, pod.Volumes, 1)
	require.Len(t, pod.Containers, 1)
	require.Equal(t, deployment(t).Spec.Template.Spec.Containers[0].Name, pod.Containers[0].Name)
	require.NotNil(t, pod.Volumes[0].EmptyDir, "the two replicas must not share a folder")
	require.Equal(t, corev1.StorageMediumDefault, pod.Volumes[0].EmptyDir.Medium, "memory would count as the container's")
	const block = 4096 // of which each file may waste one
	require.Greater(t, pod.Volumes[0].EmptyDir.SizeLimit.Value(), int64(record.MostBytes+2*record.MostCases*block), "a Pod that exceeds it is evicted")
	require.Len(t, pod.Containers[0].VolumeMounts, 1)
	mount := pod.Containers[0].VolumeMounts[0]
	require.Equal(t, pod.Volumes[0].Name, mount.Name)
	require.False(t, mount.ReadOnly)
	require.Equal(t, []string{"--record=" + mount.MountPath}, args(t, "recording"))
	require.NotNil(t, pod.TerminationGracePeriodSeconds)
	former := deployment(t).Spec.Template.Spec.TerminationGracePeriodSeconds
	require.GreaterOrEqual(t, *pod.TerminationGracePeriodSeconds, *former+5, "what waits has five seconds after the drain")
}
