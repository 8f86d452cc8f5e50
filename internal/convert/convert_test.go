package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// converted returns what is printed of a file, and the report. The fields that a CRD does not know are not told.
func converted(t *testing.T, text string, flags ...string) (resources []string, lost []string, report string) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a.yaml"), []byte(text), 0o600))
	var out, told bytes.Buffer
	require.NoError(t, run(t.Context(), append(flags, folder), &out, &told))
	for _, document := range bytes.Split(out.Bytes(), []byte("---\n"))[1:] {
		resources = append(resources, string(document))
	}
	for line := range strings.SplitSeq(out.String(), "\n") {
		if path, isLost := strings.CutPrefix(line, "# lost: "); isLost && !strings.HasSuffix(path, notYet) {
			lost = append(lost, path)
		}
	}
	return resources, lost, told.String()
}

const server = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm, labels: {team: a}}
spec:
  replicas: 2
  selector: {matchLabels: {app: llm}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}
  template:
    metadata: {creationTimestamp: null, labels: {app: llm}, annotations: {scrape: "true"}, finalizers: [example.com/f]}
    spec:
      restartPolicy: Always
      terminationGracePeriodSeconds: 60
      dnsPolicy: ClusterFirst
      securityContext: {fsGroup: 1}
      ephemeralContainers: []
      containers:
      - {name: proxy, image: envoy, ports: [{name: admin, containerPort: 9901, hostPort: 9901}]}
      - name: server
        image: vllm/vllm-openai:v0
        env: [{name: A, value: b}]
        ports: [{name: api, containerPort: 8000}, {name: metrics, containerPort: 8002}]
        startupProbe: {httpGet: {path: /health, port: api}}
        readinessProbe: {httpGet: {path: /health, port: http}}
---
apiVersion: v1
kind: Service
metadata: {name: llm-headless}
spec: {selector: {app: llm}, clusterIP: None, ports: [{port: 8000}]}
---
apiVersion: v1
kind: Service
metadata: {name: llm, annotations: {a: b}}
spec: {selector: {app: llm}, type: LoadBalancer, loadBalancerClass: c, healthCheckNodePort: 30000, ports: [{name: http, port: 80, targetPort: api}]}
---
apiVersion: v1
kind: Service
metadata: {name: other}
spec: {selector: {app: other}, ports: [{port: 1}]}
`

func TestDeploymentWithItsServicesBecomesAModelBox(t *testing.T) {
	resources, lost, report := converted(t, server)
	require.Len(t, resources, 2, "the PodSet is the other")
	require.YAMLEq(t, `
apiVersion: model.github.com/v1
kind: ModelBox
metadata: {name: llm, labels: {team: a}}
spec:
  image: vllm/vllm-openai:v0
  containerName: server
  replicas: 2
  strategy: RollingUpdate
  maxSurge: 0
  maxUnavailable: 1
  podLabels: {app: llm}
  podAnnotations: {scrape: "true"}
  podSecurityContext: {fsGroup: 1}
  terminationGracePeriodSeconds: 60
  envs: [{name: A, value: b}]
  startupProbe: {httpGet: {path: /health, port: 8000}}
  readinessProbe: {httpGet: {path: /health, port: http}}
  sidecars: [{name: proxy, image: envoy, ports: [{name: admin, containerPort: 9901, hostPort: 9901}]}]
  defaultProbes: false
  serviceType: LoadBalancer
  ports: [{name: http, port: 80, targetPort: 8000}]
  service: {annotations: {a: b}, loadBalancerClass: c}
  services: [{name: llm-headless, serviceType: Headless, ports: [{port: 8000}]}]
`, resources[0])
	require.Equal(t, []string{"service.spec.healthCheckNodePort", "spec.template.metadata.finalizers", "spec.template.spec.ephemeralContainers"}, lost)
	require.Contains(t, report, "ModelBox: 1 read, 0 fit whole")
	require.Contains(t, report, "     1 lost: service.spec.healthCheckNodePort (a.yaml, Deployment llm)")
}

// TestAServiceOfSeveralDeploymentsIsLost: that of a ModelBox has its own Pods only.
func TestAServiceOfSeveralDeploymentsIsLost(t *testing.T) {
	deployment := func(name string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name + "}, spec: {template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}}}\n---\n"
	}
	const service = "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: a}, ports: [{port: 80}]}}\n---\n"
	_, lost, _ := converted(t, deployment("v1")+service+service+deployment("v2"))
	const shared = "a Service with the Pods of several Deployments"
	require.Equal(t, []string{shared, shared}, lost)
	_, lost, _ = converted(t, deployment("v1")+service)
	require.Empty(t, lost)
}

func TestPortsWithoutAServiceAreListed(t *testing.T) {
	resources, _, _ := converted(t, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec: {template: {spec: {containers: [{name: a, image: a, ports: [{name: http, containerPort: 80}], livenessProbe: {tcpSocket: {port: http}}}]}}}
`)
	require.YAMLEq(t, `
apiVersion: model.github.com/v1
kind: ModelBox
metadata: {name: a}
spec: {image: a, defaultProbes: false, serviceType: None, ports: [{name: http, port: 80}], livenessProbe: {tcpSocket: {port: http}}}
`, resources[0])
}

func TestPodsBecomePodSetsAndMyJobs(t *testing.T) {
	const containers = "containers: [{name: a, image: a}]"
	for from, want := range map[string]string{
		"{apiVersion: v1, kind: Pod, metadata: {name: a, labels: {b: c}}, spec: {" + containers + "}}": `
apiVersion: apps.jicki.cn/v1alpha1
kind: PodSet
metadata: {name: a, labels: {b: c}}
spec: {size: 1, template: {metadata: {labels: {b: c}}, spec: {` + containers + `}}}`,
		"{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {replicas: 3, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 1}}, template: {metadata: {creationTimestamp: null}, spec: {" + containers + "}}}}": `
apiVersion: apps.jicki.cn/v1alpha1
kind: PodSet
metadata: {name: a}
spec: {size: 3, partition: 1, template: {metadata: {creationTimestamp: null}, spec: {` + containers + `}}}`,
		"{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: a}, spec: {strategy: {type: Recreate}, template: {spec: {" + containers + "}}}}": `
apiVersion: apps.jicki.cn/v1alpha1
kind: PodSet
metadata: {name: a}
spec: {size: 1, maxUnavailable: 100%, template: {spec: {` + containers + `}}}`,
		"{apiVersion: batch/v1, kind: Job, metadata: {generateName: a-}, spec: {backoffLimit: 4, completions: 1, template: {spec: {restartPolicy: Never, " + containers + "}}}}": `
apiVersion: myjob.github.com/v1beta1
kind: MyJob
metadata: {name: a}
spec: {backoffLimit: 4, template: {spec: {restartPolicy: Never, ` + containers + `}}}`,
	} {
		resources, lost, _ := converted(t, from)
		require.Len(t, resources, 1)
		require.YAMLEq(t, want, resources[0])
		require.Empty(t, lost)
	}
	_, lost, _ := converted(t, "{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {schedule: '* * * * *', jobTemplate: {spec: {completions: 2, template: {spec: {restartPolicy: OnFailure, "+containers+"}}}}}}")
	require.Equal(t, []string{"spec.jobTemplate.spec.completions", "spec.schedule"}, lost)
}

func TestTaskBecomesABuild(t *testing.T) {
	resources, lost, _ := converted(t, `
apiVersion: tekton.dev/v1
kind: Task
metadata: {name: lint}
spec:
  params: [{name: image, default: golang}, {name: args, type: array, default: [-v, -x]}, {name: repo}]
  workspaces: [{name: source}, {name: cache}]
  results: [{name: digest, type: string}]
  stepTemplate: {env: [{name: A, value: a}, {name: B, value: b}], workingDir: $(workspaces.source.path)}
  sidecars: [{name: docker, image: docker}]
  steps:
  - name: clone
    image: $(params.image)
    args: [run, "$(params.args[*])"]
    env: [{name: A, value: own}]
    timeout: 1m30s
    onError: continue
    computeResources: {limits: {cpu: 1}}
  - image: $(params["image"]):1
    script: |
      #!/bin/sh
      echo $(params.repo) $(date) $(HOME) "$(params.args[*])" > $(results.digest.path)
      ls $(workspaces.cache.path) $(credentials.path)
    onError: stopAndFail
`)
	require.Len(t, resources, 1)
	require.YAMLEq(t, `
apiVersion: ci.zt.vapi.cc/v1
kind: Build
metadata: {name: lint}
spec:
  source: {git: {url: https://git.example.com/a/b, revision: main}}
  results: [{name: digest}]
  volumes: [{name: ws-cache, emptyDir: {}}]
  steps:
  - name: step-clone
    image: golang
    args: [run, -v, -x]
    env: [{name: A, value: own}, {name: B, value: b}]
    workingDir: /workspace
    timeoutSeconds: 90
    onError: continue
    resources: {limits: {cpu: 1}}
    volumeMounts: [{name: ws-cache, mountPath: /workspaces/cache}]
  - name: unnamed-1
    image: golang:1
    env: [{name: A, value: a}, {name: B, value: b}]
    workingDir: /workspace
    script: |
      #!/bin/sh
      echo value $(date) $(HOME) "-v -x" > `+resultFolder+`digest
      ls /workspaces/cache $(credentials.path)
    volumeMounts: [{name: ws-cache, mountPath: /workspaces/cache}]
`, resources[0])
	require.Equal(t, []string{"$(credentials...)", "spec.sidecars"}, lost)
}

// TestWhatIsNoManifestIsCounted: templates, patches and what nothing becomes of.
func TestWhatIsNoManifestIsCounted(t *testing.T) {
	resources, _, report := converted(t, `
{{ if .Values.a }}
---
{apiVersion: v1, kind: Pod, metadata: {name: "${A}"}, spec: {containers: [{name: a, image: a}]}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: patch}, spec: {template: {spec: {containers: [{name: a, args: []}]}}}}
---
{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: a}]}}]}
`)
	require.Len(t, resources, 1)
	require.Contains(t, report, "left out: 2 documents that are no YAML or are templates, 1 parts of objects, 1 objects of other kinds")
}

func TestWhatTheCRDRefusesIsToldAndRanked(t *testing.T) {
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: a%}, spec: {containers: [{name: a, image: a, ports: [{containerPort: b}]}]}}\n---\n"
	resources, _, report := converted(t, string(bytes.ReplaceAll([]byte(pod), []byte("%"), []byte("1")))+string(bytes.ReplaceAll([]byte(pod), []byte("%"), []byte("2"))))
	require.Contains(t, resources[0], "# refused: spec.template.spec.containers[0].ports[0].containerPort: must be of type integer\n")
	require.Contains(t, report, "PodSet: 2 read, 0 fit whole, 2 refused by the CRD\n")
	require.Contains(t, report, "     2 refused: spec.template.spec.containers[].ports[].containerPort: must be of type integer (a.yaml, Pod a1)\n")
}

func TestImagesChoose(t *testing.T) {
	const pods = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, image: vllm}]}}\n---\n{apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: vllm, image: a}]}}"
	resources, _, _ := converted(t, pods, "-images", "vllm|tgi")
	require.Len(t, resources, 1)
	var set struct{ Metadata struct{ Name string } }
	require.NoError(t, yaml.Unmarshal([]byte(resources[0]), &set))
	require.Equal(t, "a", set.Metadata.Name)
}
