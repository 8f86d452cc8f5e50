// Package world holds what the tests of the simulation take for the behavior of Kubernetes against
// a control plane.
package world

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

var controlPlane *cluster.Cluster

func TestMain(m *testing.M) {
	os.Exit(cluster.RunTests(m, cluster.Options{Nodes: true}, func(c *cluster.Cluster) error {
		controlPlane = c
		return nil
	}))
}

// trouble is a case of testdata/trouble.yaml.
type trouble struct {
	Name    string         `json:"name"`
	Happens string         `json:"happens"`
	Object  map[string]any `json:"object"`

	First         []string `json:"first"`
	Late          []string `json:"late"`
	Mended        []string `json:"mended"`
	Message       string   `json:"message"`
	Warnings      []string `json:"warnings"`
	Refused       string   `json:"refused"`
	ManagedFields any      `json:"managedFields"`

	namespace string
}

// object is the part of objects that is looked at.
type object struct {
	Metadata struct {
		UID           string           `json:"uid"`
		ManagedFields []map[string]any `json:"managedFields"`
	} `json:"metadata"`
	Status struct {
		Conditions []struct{ Type, Status, Reason, Message string } `json:"conditions"`
	} `json:"status"`
}

// TestTrouble plays what the test of the same name in internal/lab/player plays on the simulation.
func TestTrouble(t *testing.T) {
	text, err := os.ReadFile("../../internal/lab/player/testdata/trouble.yaml")
	require.NoError(t, err)
	var all []trouble
	require.NoError(t, yaml.UnmarshalStrict(text, &all))
	for i, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.namespace = fmt.Sprintf("trouble-%d", i)
			kubectl(t, "create", "namespace", c.namespace)
			kubectl(t, "wait", "--for=create", "serviceaccount/default", "--namespace="+c.namespace, "--timeout=60s")
			mend := c.begin(t)
			switch {
			case c.Refused != "":
				c.requireRefused(t)
			case c.ManagedFields != nil:
				c.requireFields(t)
			default:
				c.compare(t, mend)
			}
		})
	}
}

// begin makes the trouble, and returns what ends it.
func (c *trouble) begin(t *testing.T) (mend func()) {
	switch c.Happens {
	case "quota Pod", "quota ReplicaSet":
		counted := map[string]string{"quota Pod": "pods", "quota ReplicaSet": "count/replicasets.apps"}[c.Happens]
		kubectl(t, "create", "quota", "compute", "--hard="+counted+"=0", "--namespace="+c.namespace)
		path := "--for=jsonpath={.status.used." + strings.ReplaceAll(counted, ".", `\.`) + "}=0"
		kubectl(t, "wait", "quota/compute", path, "--namespace="+c.namespace, "--timeout=60s")
		return func() { kubectl(t, "delete", "quota", "compute", "--namespace="+c.namespace) }
	case "refuse Pod pod-security":
		label := "pod-security.kubernetes.io/enforce"
		kubectl(t, "label", "namespace", c.namespace, label+"=restricted")
		return func() { kubectl(t, "label", "namespace", c.namespace, label+"-") }
	case "refuse Pod webhook":
		c.startWebhook(t)
	case "refuse Service node-port":
		c.apply(t, `{apiVersion: v1, kind: Service, metadata: {name: other}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30080}]}}`)
	case "take-name ConfigMap/web":
		c.takeName(t)
	}
	return nil
}

// startWebhook denies all Pods of the namespace.
func (c *trouble) startWebhook(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct{ Request struct{ UID string } }
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": %q, "allowed": false, "status": {"code": 403, "message": "the label team is missing"}}}`, review.Request.UID)
	}))
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	c.apply(t, fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: %[1]s}, webhooks: [{
		name: validate.example.com, admissionReviewVersions: [v1], sideEffects: None, clientConfig: {url: %[2]q, caBundle: %[3]s},
		namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}},
		rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]}]}`,
		c.namespace, server.URL, base64.StdEncoding.EncodeToString(authority)))
	t.Cleanup(func() { kubectl(t, "delete", "validatingwebhookconfiguration", c.namespace) })
	// It takes a moment until the API server has heard of it.
	requireSoon(t, func() (any, any) {
		_, stderr, _ := controlPlane.Kubectl("run", "try", "--image=x", "--dry-run=server", "--namespace="+c.namespace)
		return true, strings.Contains(stderr, "denied the request")
	})
}

// takeName lets the namespace own an object of that name, which stays, and one that does not exist
// another, which goes.
func (c *trouble) takeName(t *testing.T) {
	owned := func(name, uid string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, ownerReferences: [{apiVersion: v1, kind: Namespace, name: %s, uid: %q, controller: true}]}}`, name, c.namespace, uid)
	}
	c.apply(t, owned("web", c.get(t, "namespace", c.namespace).Metadata.UID))
	c.apply(t, owned("unowned", "00000000-0000-4000-8000-000000000001"))
	kubectl(t, "wait", "--for=delete", "configmap/unowned", "--namespace="+c.namespace, "--timeout=60s")
	time.Sleep(time.Second)
}

func (c *trouble) requireRefused(t *testing.T) {
	_, stderr, err := controlPlane.KubectlWithInput(c.text(t), "create", "--filename=-", "--namespace="+c.namespace)
	require.Error(t, err)
	said := strings.Replace(stderr, `The Service "web" is invalid`, `Service "web" is invalid`, 1) // kubectl's word
	require.Contains(t, said, c.Refused)
}

func (c *trouble) requireFields(t *testing.T) {
	_, _, err := controlPlane.KubectlWithInput(c.text(t), "apply", "--server-side", "--field-manager=metacontroller", "--filename=-", "--namespace="+c.namespace)
	require.NoError(t, err)
	fields := c.get(t, c.Object["kind"].(string), "web", "--show-managed-fields").Metadata.ManagedFields
	for _, entry := range fields {
		require.Contains(t, entry, "time")
		delete(entry, "time")
	}
	want, err := json.Marshal(c.ManagedFields)
	require.NoError(t, err)
	got, err := json.Marshal(fields)
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
}

func (c *trouble) compare(t *testing.T, mend func()) {
	c.apply(t, c.text(t))
	requireSoon(t, func() (any, any) { return c.Warnings, c.warnings(t) })
	requireSoon(t, func() (any, any) { return c.First, c.conditions(t) })
	if c.Message != "" {
		requireSoon(t, func() (any, any) { return c.Message, c.message(t) })
	}
	if c.Late != nil {
		requireSoon(t, func() (any, any) { return c.Late, c.conditions(t) })
	}
	if c.Mended != nil {
		mend()
		requireSoon(t, func() (any, any) { return c.Mended, c.conditions(t) })
	}
}

// requireSoon waits until two values are the same.
func requireSoon(t *testing.T, values func() (want, got any)) {
	t.Helper()
	var want, got any
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if want, got = values(); fmt.Sprint(want) == fmt.Sprint(got) {
			return
		}
	}
	require.Equal(t, want, got)
}

func (c *trouble) conditions(t *testing.T) (list []string) {
	for _, condition := range c.get(t, c.Object["kind"].(string), "web").Status.Conditions {
		list = append(list, condition.Type+" "+condition.Status+" "+condition.Reason)
	}
	return list
}

func (c *trouble) message(t *testing.T) string {
	for _, condition := range c.get(t, c.Object["kind"].(string), "web").Status.Conditions {
		if condition.Type == "ReplicaFailure" {
			return c.normal(condition.Message)
		}
	}
	return ""
}

func (c *trouble) warnings(t *testing.T) (list []string) {
	var events struct {
		Items []struct {
			InvolvedObject        struct{ Kind string }
			Source                struct{ Component string }
			Reason, Message, Type string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(kubectl(t, "get", "events", "--output=json", "--namespace="+c.namespace)), &events))
	for _, e := range events.Items {
		if text := strings.Join([]string{e.InvolvedObject.Kind, e.Source.Component, e.Reason, c.normal(e.Message)}, " "); e.Type == "Warning" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// suffixes are those of generated names.
var suffixes = regexp.MustCompile(`"web((?:-[a-z0-9]{5,10})+)"`)

// normal returns a message as it is in the namespace default, without generated names.
func (c *trouble) normal(text string) string {
	text = strings.ReplaceAll(text, c.namespace+"/", "default/")
	return suffixes.ReplaceAllStringFunc(text, func(name string) string {
		return `"web` + strings.Repeat("-00000", strings.Count(name, "-")) + `"`
	})
}

func (c *trouble) text(t *testing.T) string {
	text, err := json.Marshal(c.Object)
	require.NoError(t, err)
	return string(text)
}

func (c *trouble) apply(t *testing.T, text string) {
	t.Helper()
	_, _, err := controlPlane.KubectlWithInput(text, "create", "--filename=-", "--namespace="+c.namespace)
	require.NoError(t, err)
}

func (c *trouble) get(t *testing.T, kind, name string, flags ...string) (o object) {
	t.Helper()
	args := append([]string{"get", kind, name, "--output=json", "--namespace=" + c.namespace}, flags...)
	require.NoError(t, json.Unmarshal([]byte(kubectl(t, args...)), &o))
	return o
}

func kubectl(t *testing.T, args ...string) string {
	t.Helper()
	stdout, _, err := controlPlane.Kubectl(args...)
	require.NoError(t, err)
	return stdout
}
