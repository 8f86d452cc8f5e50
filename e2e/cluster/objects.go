package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// Reader reads objects, and writes some, in this process. A test that polls with kubectl spends
// most of a processor on starting kubectl.
type Reader struct {
	client dynamic.Interface
	mapper *restmapper.DeferredDiscoveryRESTMapper
}

// NewReader returns a Reader with all permissions.
func (c *Cluster) NewReader() (*Reader, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read the administrator's kubeconfig: %w", err)
	}
	config.QPS = -1 // no limit: many tests run at the same time
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of the API server: %w", err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of the API server: %w", err)
	}
	return &Reader{client, restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}, nil
}

// discoveryTimeout is how long a kind may take to be known after its CRD is established.
const discoveryTimeout = 5 * time.Second

// resource finds a kind by a name that kubectl would take, such as pod, pods or
// builds.ci.zt.vapi.cc.
func (r *Reader) resource(kind, namespace string) (dynamic.ResourceInterface, error) {
	name, group, _ := strings.Cut(kind, ".")
	find := func() (schema.GroupVersionResource, error) {
		return r.mapper.ResourceFor(schema.GroupVersionResource{Group: group, Resource: name})
	}
	resource, err := find()
	for deadline := time.Now().Add(discoveryTimeout); meta.IsNoMatchError(err) && time.Now().Before(deadline); time.Sleep(pollInterval) {
		r.mapper.Reset()
		resource, err = find()
	}
	if err != nil {
		return nil, fmt.Errorf("find the kind %s: %w", kind, err)
	}
	return r.client.Resource(resource).Namespace(namespace), nil
}

// Get returns an object, or nil if it does not exist.
func (r *Reader) Get(ctx context.Context, kind, namespace, name string) (map[string]any, error) {
	resource, err := r.resource(kind, namespace)
	if err != nil {
		return nil, err
	}
	object, err := resource.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return object.Object, nil
}

// Patch merges a patch, in JSON, into an object. Many can be patched at the same time.
func (r *Reader) Patch(ctx context.Context, kind, namespace, name, patch string) error {
	resource, err := r.resource(kind, namespace)
	if err != nil {
		return err
	}
	_, err = resource.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// Create creates an object.
func (r *Reader) Create(ctx context.Context, kind, namespace string, object map[string]any) error {
	resource, err := r.resource(kind, namespace)
	if err != nil {
		return err
	}
	_, err = resource.Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	return err
}

// DeleteAll deletes the objects of a kind in a namespace one by one, as kubectl does: a single request for
// all of them ends after the API server's minute. The garbage collector deletes their children.
func (r *Reader) DeleteAll(ctx context.Context, kind, namespace string) error {
	resource, err := r.resource(kind, namespace)
	if err != nil {
		return err
	}
	list, err := resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	for _, object := range list.Items {
		if err := resource.Delete(ctx, object.GetName(), metav1.DeleteOptions{PropagationPolicy: &background}); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
	}
	return nil
}

// List returns the objects of some kinds, separated by commas. No namespace stands
// for all of them.
func (r *Reader) List(ctx context.Context, kinds, namespace, selector string) ([]map[string]any, error) {
	var objects []map[string]any
	for _, kind := range strings.Split(kinds, ",") {
		resource, err := r.resource(kind, namespace)
		if err != nil {
			return nil, err
		}
		list, err := resource.List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind, err)
		}
		for _, item := range list.Items {
			objects = append(objects, item.Object)
		}
	}
	return objects, nil
}
