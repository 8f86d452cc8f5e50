package e2e

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// rule is a rule of a CRD: a spec that breaks it, the text that tells so, and a
// neighbouring spec that keeps it, so that a rule that refuses everything is
// found too. With before it is about a change.
type rule struct {
	reason    string
	name      string // of the object, web where it is empty
	before    string
	bad, good string
	message   string
}

var modelBoxRules = []rule{
	{
		reason: "the name of a Service begins with a letter", name: "1web", bad: `{image: nginx}`,
		message: "metadata.name also names a Service: write at most 63 lower-case letters, digits and hyphens, beginning with a letter and ending with a letter or digit",
	},
	{
		reason: "a sidecar has the main container's name",
		bad:    `{image: nginx, sidecars: [{name: web, image: busybox}]}`, good: `{image: nginx, sidecars: [{name: log, image: busybox}]}`,
		message: "spec.sidecars: the main container has the ModelBox's name: give the sidecar another name",
	},
	{
		reason: "an init container has the main container's name",
		bad:    `{image: nginx, initContainers: [{name: web, image: busybox}]}`, good: `{image: nginx, initContainers: [{name: init, image: busybox}]}`,
		message: "spec.initContainers: the main container has the ModelBox's name: give the init container another name",
	},
	{
		reason: "resources go with no other class",
		bad:    `{image: nginx, resourceClass: small, resources: {limits: {cpu: 1}}}`, good: `{image: nginx, resources: {limits: {cpu: 1}}}`,
		message: "resources go with resourceClass custom: leave out resources, or write resourceClass: custom",
	},
	{
		reason: "custom without numbers",
		bad:    `{image: nginx, resourceClass: custom}`, good: `{image: nginx, resourceClass: custom, resources: {limits: {cpu: 1}}}`,
		message: "resourceClass custom takes its numbers from resources: write resources, or choose small, medium or large",
	},
	{
		reason: "a ClusterIP Service has no nodePort",
		bad:    `{image: nginx, serviceType: ClusterIP, ports: [{port: 80, nodePort: 30010}]}`, good: `{image: nginx, serviceType: LoadBalancer, ports: [{port: 80, nodePort: 30010}]}`,
		message: "nodePort needs serviceType NodePort or LoadBalancer: change serviceType, or leave nodePort out",
	},
	{
		reason: "a Service without ports",
		bad:    `{image: nginx, serviceType: ClusterIP}`, good: `{image: nginx, serviceType: None}`,
		message: "a Service needs ports: write ports, or leave serviceType out",
	},
	{
		reason: "ClusterIP to Headless", before: `{image: nginx, ports: [{port: 80}]}`,
		bad: `{image: nginx, serviceType: Headless, ports: [{port: 80}]}`, good: `{image: nginx, serviceType: None, ports: [{port: 80}]}`,
		message: "a Service cannot become Headless, nor stop being it: set serviceType None first, and the new type when the Service is gone",
	},
	{
		reason: "Headless to NodePort", before: `{image: nginx, serviceType: Headless, ports: [{port: 80}]}`,
		bad: `{image: nginx, serviceType: NodePort, ports: [{port: 80}]}`, good: `{image: nginx, serviceType: Headless, ports: [{port: 81}]}`,
		message: "a Service cannot become Headless, nor stop being it: set serviceType None first, and the new type when the Service is gone",
	},
	{
		reason: "None to Headless is the way", before: `{image: nginx, serviceType: None, ports: [{port: 80}]}`,
		good: `{image: nginx, serviceType: Headless, ports: [{port: 80}]}`,
	},
	{
		reason:  "two containers of one name",
		bad:     `{image: nginx, sidecars: [{name: a, image: b}], initContainers: [{name: a, image: b}]}`,
		good:    `{image: nginx, sidecars: [{name: a, image: b}], initContainers: [{name: c, image: b}]}`,
		message: "a sidecar and an init container have the same name: rename one of them",
	},
	{
		reason: "a mount without its volume",
		bad:    `{image: nginx, volumeMounts: [{name: a, mountPath: /a}], volumes: [{name: b, emptyDir: {}}]}`, good: `{image: nginx, volumeMounts: [{name: b, mountPath: /a}], volumes: [{name: b, emptyDir: {}}]}`,
		message: "each of volumeMounts names a volume: add the missing one to volumes",
	},
	{
		reason: "the selector's label",
		bad:    `{image: nginx, podLabels: {modelbox: other}}`, good: `{image: nginx, podLabels: {team: other}}`,
		message: "podLabels: the label modelbox selects the Pods: choose another key",
	},
	{
		reason: "an application's name that is no label value",
		bad:    `{image: nginx, name: "a b"}`, good: `{image: nginx, name: A_b.c-1}`,
		message: "the name becomes a label value: write at most 63 letters, digits, hyphens, underscores and dots, beginning and ending with a letter or digit",
	},
	{reason: "an update of nothing", bad: `{image: nginx, rollingUpdate: 0}`, good: `{image: nginx, rollingUpdate: 1}`, message: rollingUpdateMessage},
	{reason: "an update of nothing, as text", bad: `{image: nginx, rollingUpdate: "0"}`, good: `{image: nginx, rollingUpdate: "2"}`, message: rollingUpdateMessage},
	{reason: "an update of no share", bad: `{image: nginx, rollingUpdate: 0%}`, good: `{image: nginx, rollingUpdate: 100%}`, message: rollingUpdateMessage},
	{reason: "an update of too much", bad: `{image: nginx, rollingUpdate: 101%}`, good: `{image: nginx, rollingUpdate: 30%}`, message: rollingUpdateMessage},
	{reason: "an update of nonsense", bad: `{image: nginx, rollingUpdate: half}`, message: rollingUpdateMessage},
	{reason: "an update of less than nothing", bad: `{image: nginx, rollingUpdate: -1}`, message: rollingUpdateMessage},
	{
		reason:  "one port on two protocols",
		bad:     `{image: nginx, ports: [{port: 53, name: a}, {port: 53, name: b, protocol: UDP}]}`,
		good:    `{image: nginx, ports: [{port: 53, name: a}, {port: 54, name: b, protocol: UDP}]}`,
		message: "a port number stands twice: write each number once, also where the protocols differ; a second ModelBox can serve the other protocol",
	},
	{
		reason:  "one nodePort twice",
		bad:     `{image: nginx, ports: [{port: 80, nodePort: 30010}, {port: 81, nodePort: 30010}]}`,
		good:    `{image: nginx, ports: [{port: 80, nodePort: 30010}, {port: 81}]}`,
		message: "a nodePort stands twice: write another number, or leave one out to have it chosen",
	},
	{
		reason:  "one port name twice",
		bad:     `{image: nginx, ports: [{port: 80, name: a}, {port: 81, name: a}]}`,
		good:    `{image: nginx, ports: [{port: 80, name: a}, {port: 81}]}`,
		message: "a port name stands twice: rename one, or leave the name out to have it filled in",
	},
	{
		reason: "a port name in capitals", bad: `{image: nginx, ports: [{port: 80, name: HTTP}]}`, good: `{image: nginx, ports: [{port: 80, name: http-1}]}`,
		message: "write lower-case letters, digits and hyphens, beginning and ending with a letter or digit",
	},
	{reason: "a target port of digits", bad: `{image: nginx, ports: [{port: 80, targetPort: "8080"}]}`, good: `{image: nginx, ports: [{port: 80, targetPort: 8080}]}`, message: targetPortMessage},
	{reason: "a target port beyond all", bad: `{image: nginx, ports: [{port: 80, targetPort: 65536}]}`, good: `{image: nginx, ports: [{port: 80, targetPort: http}]}`, message: targetPortMessage},
	{
		reason:  "a request above its limit",
		bad:     `{image: nginx, resources: {requests: {memory: 2Gi}, limits: {memory: 1024Mi}}}`,
		good:    `{image: nginx, resources: {requests: {memory: 1Gi, cpu: 1}, limits: {memory: 1024Mi, cpu: 1000m}}}`,
		message: "a request is higher than its limit: lower the request, or raise the limit",
	},
	{reason: "no image", bad: `{replicas: 1}`, good: `{image: nginx, replicas: 0}`, message: "spec.image: Required value"},
	{reason: "an empty image", bad: `{image: ""}`, message: "spec.image in body should be at least 1 chars long"},
	{reason: "fewer than no replicas", bad: `{image: nginx, replicas: -1}`, message: "spec.replicas in body should be greater than or equal to 0"},
	{reason: "an unknown class", bad: `{image: nginx, resourceClass: huge}`, good: `{image: nginx, resourceClass: large}`, message: `Unsupported value: "huge": supported values: "small", "medium", "large", "custom"`},
	{reason: "an unknown type", bad: `{image: nginx, serviceType: ExternalName, ports: [{port: 80}]}`, message: `Unsupported value: "ExternalName"`},
	{reason: "an unknown protocol", bad: `{image: nginx, ports: [{port: 80, protocol: HTTP}]}`, good: `{image: nginx, ports: [{port: 80, protocol: SCTP}]}`, message: `Unsupported value: "HTTP"`},
	{reason: "port 0", bad: `{image: nginx, ports: [{port: 0}]}`, good: `{image: nginx, ports: [{port: 65535}]}`, message: "should be greater than or equal to 1"},
	{reason: "one variable twice", bad: `{image: nginx, envs: [{name: A}, {name: A}]}`, good: `{image: nginx, envs: [{name: A}, {name: B}]}`, message: "Duplicate value"},
	{reason: "an unknown field", bad: `{image: nginx, replcas: 1}`, message: `unknown field "spec.replcas"`},
}

const (
	rollingUpdateMessage = "write a share from 1% to 100%, or a number of Pods of at least 1: with less, no Pod could ever be updated"
	targetPortMessage    = "write a number from 1 to 65535, or a name of at most 15 lower-case letters, digits and hyphens with a letter among them"
)

func TestModelBoxRules(t *testing.T) {
	for i, rule := range modelBoxRules {
		t.Run(rule.reason, func(t *testing.T) {
			ns := "--namespace=" + namespace(t, fmt.Sprintf("rule-%d", i))
			name := rule.name
			if name == "" {
				name = "web"
			}
			manifest := func(spec string) string {
				return fmt.Sprintf("apiVersion: model.github.com/v1\nkind: ModelBox\nmetadata: {name: %s}\nspec: %s\n", name, spec)
			}
			if rule.before != "" {
				apply(t, manifest(rule.before), ns)
			}
			if rule.bad != "" {
				_, stderr, err := controlPlane.KubectlWithInput(manifest(rule.bad), "apply", "--filename=-", ns)
				require.Error(t, err, "accepted: %s", rule.bad)
				require.Contains(t, stderr, rule.message)
			}
			if rule.good != "" {
				apply(t, manifest(rule.good), ns)
			}
		})
	}
}

// TestEveryRuleIsBroken fails when a CRD has a rule of which no test shows that
// it refuses something.
func TestEveryRuleIsBroken(t *testing.T) {
	tested := map[string]bool{}
	for _, rule := range modelBoxRules {
		tested[rule.message] = true
	}
	paths, err := filepath.Glob("../hooks/*/types.go")
	require.NoError(t, err)
	message := regexp.MustCompile(`message=("(?:[^"\\]|\\.)*")`)
	found := 0
	for _, path := range paths {
		source := read(t, path)
		require.Equal(t, strings.Count(source, "XValidation:"), len(message.FindAllString(source, -1)), "%s: a rule has no message", path)
		for _, match := range message.FindAllStringSubmatch(source, -1) {
			var text string
			require.NoError(t, yaml.Unmarshal([]byte(match[1]), &text))
			require.True(t, tested[text], "%s: no test shows that this refuses anything: %s", path, text)
			found++
		}
	}
	require.Positive(t, found)
}
