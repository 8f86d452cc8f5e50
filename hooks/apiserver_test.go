package hooks_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks"
)

// apiServer is a real one. These tests have it to themselves.
type apiServer struct {
	url, token string
	client     *http.Client
	plurals    map[string]string // by the API version and kind
	arranged   map[string]bool   // paths of what Pods need beside them
}

// kubeconfigVariable names the environment variable with the kubeconfig of an API
// server on which the CRDs are installed and on which nothing runs. `make e2e`
// starts one and sets it.
const kubeconfigVariable = "OPERETTA_TEST_KUBECONFIG"

// realAPIServer returns the API server of kubeconfigVariable.
func realAPIServer(t *testing.T) *apiServer {
	path := os.Getenv(kubeconfigVariable)
	if path == "" {
		t.Skip("it needs an API server: make e2e")
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server    string
				Authority string `json:"certificate-authority"`
			}
		}
		Users []struct{ User struct{ Token string } }
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	require.Len(t, config.Clusters, 1)
	require.Len(t, config.Users, 1)
	authority, err := os.ReadFile(config.Clusters[0].Cluster.Authority)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(authority))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, MaxIdleConnsPerHost: atOnce}
	t.Cleanup(transport.CloseIdleConnections)
	return &apiServer{
		url: config.Clusters[0].Cluster.Server, token: config.Users[0].User.Token,
		client: &http.Client{Transport: transport, Timeout: time.Minute}, plurals: plurals(), arranged: map[string]bool{},
	}
}

// plurals returns what paths call the kinds of custom resources and children.
func plurals() map[string]string {
	names := map[string]string{}
	for _, controller := range hooks.All() {
		names[controller.Parent.APIVersion+" "+controller.Parent.Kind] = controller.Parent.Plural
		for _, child := range controller.Children {
			names[child.APIVersion+" "+child.Kind] = child.Plural
		}
	}
	return names
}

// What may be asked of an object. A dry run stores nothing.
const (
	dryRun  = "?dryRun=All&fieldManager=metacontroller"
	forReal = "?fieldManager=metacontroller"
	// strictly is how kubectl asks: a field that is not in the schema is refused.
	strictly = dryRun + "&fieldValidation=Strict"
)

// collection returns the path of the objects of a kind.
func (s *apiServer) collection(object kube.Object) string {
	plural := s.plurals[object.GetAPIVersion()+" "+object.GetKind()]
	root := "/apis/"
	if !strings.Contains(object.GetAPIVersion(), "/") {
		root = "/api/"
	}
	return root + object.GetAPIVersion() + "/namespaces/" + object.GetNamespace() + "/" + plural
}

// create posts an object. Errors are what the API server says.
func (s *apiServer) create(object kube.Object, how string) error {
	_, err := s.send(http.MethodPost, s.collection(object)+how, "application/json", object)
	return err
}

// apply applies an object with force, as Metacontroller does.
func (s *apiServer) apply(object kube.Object, how string) error {
	_, err := s.send(http.MethodPatch, s.collection(object)+"/"+object.GetName()+how+"&force=true", "application/apply-patch+yaml", object)
	return err
}

// update puts an object in place of the live one.
func (s *apiServer) update(object kube.Object, how string) error {
	_, err := s.send(http.MethodPut, s.collection(object)+"/"+object.GetName()+how, "application/json", object)
	return err
}

// get returns an object as it is stored, or nil where there is none.
func (s *apiServer) get(object kube.Object) kube.Object {
	stored, err := s.send(http.MethodGet, s.collection(object)+"/"+object.GetName(), "", nil)
	if err != nil {
		return nil
	}
	return stored
}

// delete deletes an object at once.
func (s *apiServer) delete(object kube.Object) error {
	_, err := s.send(http.MethodDelete, s.collection(object)+"/"+object.GetName()+"?gracePeriodSeconds=0&propagationPolicy=Background", "", nil)
	return err
}

// refusal is an error that an API server answers.
type refusal struct {
	code    int
	message string
	// bytes is the size of the whole answer, which has each error once more.
	bytes int
	// reasons are those errors as kubectl prints them: the field, and what is wrong with it.
	reasons []string
}

func (r *refusal) Error() string { return fmt.Sprintf("%d: %s", r.code, r.message) }

// send sends a request. The error is the message of the API server.
func (s *apiServer) send(method, path, contentType string, object kube.Object) (kube.Object, error) {
	var body []byte
	if object != nil {
		var err error
		if body, err = json.Marshal(object.Object); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequest(method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Content-Type", contentType)
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	answer := &unstructured.Unstructured{}
	if err := answer.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("%s: %s", response.Status, text)
	}
	if response.StatusCode >= http.StatusBadRequest {
		var status metav1.Status
		if err := json.Unmarshal(text, &status); err != nil {
			return nil, fmt.Errorf("%s: %s", response.Status, text)
		}
		refused := &refusal{code: response.StatusCode, message: status.Message, bytes: len(text)}
		if status.Details != nil {
			for _, cause := range status.Details.Causes {
				refused.reasons = append(refused.reasons, cause.Field+": "+cause.Message)
			}
		}
		return nil, refused
	}
	return answer, nil
}

// arrange creates what the API server wants to be there before it takes a child:
// its namespace and, for a Pod, its ServiceAccount, PriorityClass and RuntimeClass.
// What cannot be created is for the child's refusal to tell.
func (s *apiServer) arrange(child kube.Object) {
	namespace := child.GetNamespace()
	s.ensure("/api/v1/namespaces", namespace, nil)
	if child.GetKind() != "Pod" {
		return
	}
	text := func(field string) string {
		value, _, _ := unstructured.NestedString(child.Object, "spec", field)
		return value
	}
	account := text("serviceAccountName")
	if account == "" {
		account = text("serviceAccount")
	}
	if account == "" {
		account = "default"
	}
	s.ensure("/api/v1/namespaces/"+namespace+"/serviceaccounts", account, nil)
	if class := text("priorityClassName"); class != "" && !strings.HasPrefix(class, "system-") {
		value, _, _ := unstructured.NestedInt64(child.Object, "spec", "priority")
		s.ensure("/apis/scheduling.k8s.io/v1/priorityclasses", class, map[string]any{"value": value})
	}
	if class := text("runtimeClassName"); class != "" {
		s.ensure("/apis/node.k8s.io/v1/runtimeclasses", class, map[string]any{"handler": "any"})
	}
}

func (s *apiServer) ensure(collection, name string, fields map[string]any) {
	if s.arranged[collection+"/"+name] {
		return
	}
	s.arranged[collection+"/"+name] = true
	if fields == nil {
		fields = map[string]any{}
	}
	fields["metadata"] = map[string]any{"name": name}
	_, _ = s.send(http.MethodPost, collection, "application/json", &unstructured.Unstructured{Object: fields})
}
