package dataservice_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operetta-dev/operetta/hooks/dataservice"
	"github.com/operetta-dev/operetta/operettatest"
)

// story is a DataService in a world, told step by step.
type story struct {
	testing.TB

	world *operettatest.World
	whole bool // all of the sample, in the inner loop too
}

func tell(t testing.TB, options operettatest.Options) *story {
	options.MaxSteps = 400
	return &story{TB: t, world: operettatest.NewWorld(t, options, dataservice.Controller())}
}

// product is the DataService of the sample.
const product = "DataService/dataservice-sample"

// alike are the components of the sample that no story needs which does not ask for
// the whole: others of the same stage do as they do. Without them the inner loop
// plays half as many children.
var alike = []string{"api-manager", "ds-adapter", "es-adapter", "trd-adapter", "gateway-master"}

// sample returns the sample after a change to its spec, in the inner loop without
// what is alike.
func (s *story) sample(changes ...func(spec map[string]any)) map[string]any {
	s.Helper()
	text, err := os.ReadFile("../../deploy/samples/dataservice.yaml")
	require.NoError(s, err)
	var object map[string]any
	require.NoError(s, yaml.Unmarshal(text, &object))
	if testing.Short() && !s.whole {
		for _, name := range alike {
			unset(name)(object["spec"].(map[string]any))
		}
	}
	for _, change := range changes {
		change(object["spec"].(map[string]any))
	}
	return object
}

func (s *story) apply(object map[string]any) {
	s.Helper()
	s.world.Apply(s.encoded(object))
}

func (s *story) encoded(object map[string]any) string {
	s.Helper()
	text, err := yaml.Marshal(object)
	require.NoError(s, err)
	return string(text)
}

// refuse has the API server refuse an edit of the sample, and returns its words.
func (s *story) refuse(changes ...func(spec map[string]any)) string {
	s.Helper()
	err := s.world.TryApply(s.encoded(s.sample(changes...)))
	require.True(s, apierrors.IsInvalid(err), "%v", err)
	return err.Error()
}

// TestAnEditThatARuleRefusesChangesNothing: the rules about a change are those of
// the API server, which a hook alone never sees.
func TestAnEditThatARuleRefusesChangesNothing(t *testing.T) {
	s := tell(t, operettatest.Options{})
	s.edit(set("mysql.storage.size", "10Gi"))
	before := s.parent().GetGeneration()
	require.Contains(t, s.refuse(set("mysql.storage.size", "20Gi")), "spec.mysql")
	for _, name := range []string{"mysql", "eureka", "web"} {
		require.Contains(t, s.refuse(set(name+".name", "other")), "spec."+name+": Invalid value")
	}
	s.world.Play()
	require.Equal(t, before, s.parent().GetGeneration())
	s.world.RequireCondition(product, "Ready", "True Ready")
}

// edit applies the sample after a change, and plays until all is quiet.
func (s *story) edit(changes ...func(spec map[string]any)) {
	s.Helper()
	s.apply(s.sample(changes...))
	s.world.Play()
}

// set returns a change of one field.
func set(path string, value any) func(map[string]any) {
	return func(spec map[string]any) {
		if err := unstructured.SetNestedField(spec, value, strings.Split(path, ".")...); err != nil {
			panic(err)
		}
	}
}

// unset returns a change that takes a field away.
func unset(path string) func(map[string]any) {
	return func(spec map[string]any) { unstructured.RemoveNestedField(spec, strings.Split(path, ".")...) }
}

// workloads returns the names of the workloads.
func (s *story) workloads() []string {
	names := slices.Concat(s.world.Names("Deployment"), s.world.Names("StatefulSet"), s.world.Names("DaemonSet"))
	slices.Sort(names)
	return slices.Compact(names)
}

// uids returns the identities of all children.
func (s *story) uids() map[string]string {
	uids := map[string]string{}
	for _, o := range s.world.Children() {
		uids[o.GetKind()+"/"+o.GetName()] = string(o.GetUID())
	}
	return uids
}

func (s *story) parent() operettatest.Object { return s.world.MustGet(product) }

func (s *story) condition(conditionType string) string {
	c := s.world.Condition(product, conditionType)
	return c.String() + ": " + c.Message
}

// message returns what the status says of a component.
func (s *story) message(component string) string {
	list, _, err := unstructured.NestedSlice(s.parent().Object, "status", "components")
	require.NoError(s, err)
	for _, entry := range list {
		if told := entry.(map[string]any); told["component"] == component {
			return fmt.Sprint(told["message"])
		}
	}
	return "there is no " + component
}

func (s *story) phase() string {
	phase, _, _ := unstructured.NestedString(s.parent().Object, "status", "phase")
	return phase
}

// stages are the names of the workloads of the sample, by when they start.
var stages = [][]string{
	{"mysql-dataservice"}, {"eureka"},
	{"api-manager", "auth", "ds-adapter", "es-adapter", "proxy", "trd-adapter"},
	{"gateway-master", "gateway-web"}, {"web"},
}

// upTo returns the sorted names of the first stages.
func upTo(count int) []string { return slices.Sorted(slices.Values(slices.Concat(stages[:count]...))) }

// strategies are those in which a story is told, with server-side apply or without: one
// of them in the inner loop of all kinds, for these stories take half a minute.
func strategies() []operettatest.Options {
	both := []operettatest.Options{{}, {ServerSideApply: true}}
	if inner() {
		return both[:1]
	}
	return both
}

// inner reports whether this is the inner loop of all kinds, in which less is repeated.
func inner() bool { return testing.Short() && os.Getenv("OPERETTA_TEST_KIND") == "" }

func TestStartIsOrdered(t *testing.T) {
	t.Parallel()
	for _, options := range strategies() {
		s := tell(t, options)
		s.whole = true
		s.apply(s.sample())
		seen := map[string]bool{}
		for range 60 {
			ready := map[string]bool{}
			for _, name := range s.workloads() {
				for _, kind := range []string{"Deployment", "StatefulSet"} {
					if o := s.world.Get(kind + "/" + name); o != nil {
						count, _, _ := unstructured.NestedInt64(o.Object, "status", "readyReplicas")
						ready[name] = count == 1
					}
				}
			}
			s.world.Step()
			for _, name := range s.workloads() {
				if seen[name] {
					continue
				}
				seen[name] = true
				stage := slices.IndexFunc(stages, func(names []string) bool { return slices.Contains(names, name) })
				for _, before := range upTo(stage) {
					require.True(t, ready[before], "%s was created before %s was ready", name, before)
				}
			}
		}
		s.world.Play()
		require.Equal(t, upTo(5), s.workloads())
		require.Equal(t, "True Ready: all 12 components are ready", s.condition("Ready"))
		require.Equal(t, "Ready", s.phase())
	}
}

func TestWhatWaitsNamesWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		options   operettatest.Options
		unready   string
		there     []string
		component string // that waits
		message   string
		middle    string // the condition MiddlewareReady
	}{
		{operettatest.Options{Hold: []string{"StatefulSet/mysql-dataservice"}}, "mysql-dataservice", upTo(1), "eureka", "waits for mysql-dataservice", "False"},
		{operettatest.Options{Fail: []string{"Deployment/eureka"}}, "eureka", upTo(2), "auth", "waits for eureka", "True"},
		{operettatest.Options{Hold: []string{"Deployment/es-adapter"}}, "es-adapter", upTo(3), "gateway-web", "waits for es-adapter", "True"},
	} {
		s := tell(t, test.options)
		s.whole = true
		s.apply(s.sample())
		s.world.Play()
		require.Equal(t, test.there, s.workloads())
		require.Equal(t, test.message, s.message(test.component))
		require.Contains(t, s.condition("Ready"), test.unready+": 0 of 1 Pods are ready")
		require.Equal(t, test.middle, s.world.Condition(product, "MiddlewareReady").Status)
		require.Equal(t, "Starting", s.phase())
	}
}

func TestFlappingMiddlewareRemovesNothing(t *testing.T) {
	t.Parallel()
	for _, options := range strategies() {
		options.Flap = []string{"StatefulSet/mysql-dataservice"}
		s := tell(t, options)
		s.apply(s.sample())
		s.world.Play()
		for _, event := range s.world.Events() {
			require.NotEqual(t, operettatest.Deleted, event.Verb, "%v", event)
		}
		require.Equal(t, "Ready", s.phase())
	}
}

func TestFailingMiddlewareHoldsBackOnlyWhatIsNotThereYet(t *testing.T) {
	t.Parallel()
	s := tell(t, operettatest.Options{})
	s.edit(unset("proxy"))
	s.world.Do("fail StatefulSet/mysql-dataservice")
	s.world.Play()
	require.Equal(t, "Degraded", s.phase())
	before := s.uids()
	s.world.Delete("ConfigMap/web")
	s.edit()
	require.Equal(t, "waits for mysql-dataservice", s.message("proxy"))
	after := s.uids()
	require.NotEqual(t, before["ConfigMap/web"], after["ConfigMap/web"])
	require.NotEmpty(t, after["ConfigMap/web"], "what is missing of a component that was started comes back")
	delete(before, "ConfigMap/web")
	delete(after, "ConfigMap/web")
	require.Equal(t, before, after)
}

func TestTeardownIsOrderedAndWaitsForWhatWillNotGo(t *testing.T) {
	t.Parallel()
	for _, options := range strategies() {
		s := tell(t, options)
		s.whole = true
		s.edit()
		s.world.Edit("Deployment/gateway-web", "{metadata: {finalizers: [example.com/stuck]}}")
		s.world.Delete(product)
		for range 30 {
			s.world.Step()
		}
		require.Equal(t, slices.Sorted(slices.Values(append(upTo(3), "gateway-web"))), s.workloads(), "an earlier stage went")
		require.Equal(t, "Deleting", s.phase())
		require.Equal(t, "False Deleting: waiting for deletion of Deployment/gateway-web", s.condition("Ready"))
		require.Equal(t, "waiting for deletion of what depends on it", s.message("eureka"))
		require.Nil(t, s.world.Get("Service/web"))

		s.world.Edit("Deployment/gateway-web", "{metadata: {finalizers: []}}")
		var gone []string
		for range 60 {
			before := s.workloads()
			s.world.Step()
			for _, name := range before {
				if !slices.Contains(s.workloads(), name) {
					gone = append(gone, name)
				}
			}
		}
		s.world.Play()
		require.Empty(t, s.world.Parents())
		require.Len(t, gone, 8)
		slices.Sort(gone[:6])
		require.Equal(t, slices.Concat(stages[2], stages[1], stages[0]), gone)
	}
}

// TestTeardownWithoutMetacontrollersFinalizer: kubectl apply of a manifest with finalizers takes it off.
// Metacontroller hears of no such change, and deletes nothing afterwards.
func TestTeardownWithoutMetacontrollersFinalizer(t *testing.T) {
	t.Parallel()
	for _, options := range strategies() {
		s := tell(t, options)
		s.edit()
		before := s.workloads()
		s.world.Edit(product, "{metadata: {finalizers: [example.com/backup]}}")
		s.world.Delete(product)
		for range 30 {
			s.world.Step()
		}
		require.Equal(t, before, s.workloads())
		require.Contains(t, s.condition("Ready"), "False Deleting: waiting for deletion of ")

		// It is removed, too, when everything has gone.
		s = tell(t, options)
		s.edit()
		finalizers := append(s.world.MustGet(product).GetFinalizers(), "example.com/backup")
		s.world.Edit(product, `{metadata: {finalizers: ["`+strings.Join(finalizers, `", "`)+`"]}}`)
		s.world.Delete(product)
		for range 60 {
			s.world.Step()
		}
		require.Empty(t, s.workloads())
		require.Equal(t, []string{"example.com/backup"}, s.world.MustGet(product).GetFinalizers())
		require.Equal(t, "False Deleting: all components are deleted", s.condition("Ready"))
	}
}

func TestUpdatesReachTheChildren(t *testing.T) {
	t.Parallel()
	for _, options := range strategies() {
		s := tell(t, options)
		s.edit()
		pod := func(name string) string {
			for _, o := range s.world.Objects("Pod") {
				if strings.HasPrefix(o.GetName(), name) {
					return string(o.GetUID())
				}
			}
			return ""
		}
		proxy, web, mysql := pod("proxy-"), pod("web-"), pod("mysql-")
		s.edit(
			set("proxy.image", "registry.example.com/d3os/proxy:2.0"), set("proxy.env.JAVA_OPTS", "-Xmx1g"), set("proxy.replica", int64(2)), set("proxy.port", int64(9194)),
			set("web.config", map[string]any{"nginx.conf": "events {}\n"}), set("web.nodePort", int64(30260)),
		)
		require.Equal(t, "True", s.world.Condition(product, "Ready").Status, s.condition("Ready"))
		deployment := s.world.Get("Deployment/proxy")
		containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
		encoded := fmt.Sprint(containers[0], deployment.Object["spec"].(map[string]any)["replicas"])
		for _, part := range []string{"proxy:2.0", "-Xmx1g", "containerPort:9194"} {
			require.Contains(t, encoded, part)
		}
		require.True(t, strings.HasSuffix(encoded, " 2"), encoded)
		require.NotEqual(t, proxy, pod("proxy-"))
		require.NotEqual(t, web, pod("web-"), "a changed ConfigMap restarts its Pods")
		require.Equal(t, mysql, pod("mysql-"), "nobody touched mysql")
		data, _, _ := unstructured.NestedStringMap(s.world.Get("ConfigMap/gateway-web").Object, "data")
		require.Contains(t, data["application.yml"], `uri: "http://proxy:9194"`)
		ports, _, _ := unstructured.NestedSlice(s.world.Get("Service/web").Object, "spec", "ports")
		require.EqualValues(t, 30260, ports[0].(map[string]any)["nodePort"])
	}
}

func TestMiddlewareMovesOutAndBackAndChangesItsKind(t *testing.T) {
	t.Parallel()
	elsewhere := func(spec map[string]any) {
		spec["mysql"] = map[string]any{"kind": "ThirdParty", "thirdParty": map[string]any{
			"url": "mysql://db.example.com", "authType": "basic", "credentialsSecretRef": map[string]any{"name": "db"},
		}}
	}
	for _, options := range strategies() {
		s := tell(t, options)
		s.edit()
		claim := s.world.Get("PersistentVolumeClaim/data-mysql-dataservice-0")
		require.NotNil(t, claim)
		s.edit(elsewhere)
		require.Equal(t, "Ready", s.phase())
		require.Nil(t, s.world.Get("StatefulSet/mysql-dataservice"))
		require.NotNil(t, s.world.Get("PersistentVolumeClaim/data-mysql-dataservice-0"), "the volume is nobody's to delete")
		data, _, _ := unstructured.NestedStringMap(s.world.Get("ConfigMap/auth").Object, "data")
		require.Contains(t, data["application.yml"], "jdbc:mysql://db.example.com:3306/auth?")
		s.edit()
		require.Equal(t, "Ready", s.phase())
		require.Equal(t, claim.GetUID(), s.world.Get("PersistentVolumeClaim/data-mysql-dataservice-0").GetUID(), "it comes back to its volume")

		user := func(kind string) func(map[string]any) {
			return func(spec map[string]any) {
				spec["uuc"] = map[string]any{"kind": kind, "image": "registry.example.com/d3os/uuc:1.0"}
			}
		}
		for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
			s.edit(user(kind))
			require.Equal(t, "Ready", s.phase())
			for _, other := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
				require.Equal(t, kind == other, s.world.Get(other+"/uuc") != nil, "%s as %s", other, kind)
			}
		}
		s.edit()
		require.Nil(t, s.world.Get("DaemonSet/uuc"))
		require.Nil(t, s.world.Get("Service/uuc"))
	}
}

func TestOptionalComponentIsRemoved(t *testing.T) {
	t.Parallel()
	s := tell(t, operettatest.Options{})
	s.edit()
	before := s.uids()
	s.edit(unset("proxy"))
	after := s.uids()
	require.Equal(t, "Ready", s.phase())
	for _, ref := range slices.Sorted(maps.Keys(before)) {
		require.Equal(t, strings.HasSuffix(ref, "/proxy"), after[ref] == "", ref)
	}
}

func TestVolumesStayOrGoWithTheDataService(t *testing.T) {
	t.Parallel()
	for _, options := range strategies() {
		for onDelete, stays := range map[string]bool{"Retain": true, "Delete": false} {
			s := tell(t, options)
			s.edit(set("mysql.storage.onDelete", onDelete))
			s.world.Delete(product)
			s.world.Play()
			require.Empty(t, s.world.Parents())
			require.Empty(t, s.workloads())
			require.Equal(t, stays, s.world.Get("PersistentVolumeClaim/data-mysql-dataservice-0") != nil, onDelete)
		}
	}
}

func TestTwoProductsInOneNamespace(t *testing.T) {
	t.Parallel()
	s := tell(t, operettatest.Options{})
	s.edit()
	small := func(name string) map[string]any {
		return map[string]any{
			"apiVersion": "d3os-product.com.d3os/v1", "kind": "DataService", "metadata": map[string]any{"name": "second"},
			"spec": map[string]any{
				"eureka": map[string]any{"name": name, "image": "registry.example.com/d3os/eureka:1.0"},
				"proxy":  map[string]any{"name": "proxy-2", "image": "registry.example.com/d3os/proxy:1.0"},
			},
		}
	}
	s.apply(small("eureka"))
	s.world.Play()
	second := s.world.Condition("DataService/second", "Ready")
	require.Equal(t, "ChildBlocked", second.Reason)
	require.Contains(t, second.Message, "Deployment/eureka")
	require.Nil(t, s.world.Get("Deployment/proxy-2"), "somebody else's eureka was taken for its own")
	s.world.RequireCondition(product, "Ready", "True Ready")

	s.world.Delete("DataService/second")
	s.world.Play()
	s.apply(small("eureka-2"))
	s.world.Play()
	s.world.RequireCondition(product, "Ready", "True Ready")
	s.world.RequireCondition("DataService/second", "Ready", "True Ready")
}

// TestSampleGivesTheTables compares what the sample ends with to the tables that
// the product is known for.
func TestSampleGivesTheTables(t *testing.T) {
	t.Parallel()
	s := tell(t, operettatest.Options{})
	s.whole = true
	s.edit()
	var pods []string
	services, configMaps := map[string]string{}, map[string]int{}
	for _, o := range s.world.Objects("") {
		switch o.GetKind() {
		case "Pod":
			pods = append(pods, o.GetLabels()["app"])
		case "Service":
			kind, _, _ := unstructured.NestedString(o.Object, "spec", "type")
			ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
			port := ports[0].(map[string]any)
			text := fmt.Sprintf("%s %v", kind, port["port"])
			if port["nodePort"] != nil {
				text += fmt.Sprintf(":%v", port["nodePort"])
			}
			services[o.GetName()] = text
		case "ConfigMap":
			data, _, _ := unstructured.NestedStringMap(o.Object, "data")
			configMaps[o.GetName()] = len(data)
		}
	}
	slices.Sort(pods)
	require.Equal(t, upTo(5), pods)
	require.NotNil(t, s.world.Get("Pod/mysql-dataservice-0"))
	require.Equal(t, map[string]string{
		"api-manager": "ClusterIP 9085", "auth": "ClusterIP 9081", "ds-adapter": "ClusterIP 9086", "es-adapter": "ClusterIP 9087",
		"eureka": "NodePort 8761:30161", "gateway-master": "ClusterIP 9184", "gateway-web": "ClusterIP 9084",
		"mysql-dataservice": "ClusterIP 3306", "proxy": "ClusterIP 9094", "trd-adapter": "ClusterIP 9088", "web": "NodePort 80:30160",
	}, services)
	require.Equal(t, map[string]int{
		"api-manager": 1, "auth": 1, "ds-adapter": 1, "es-adapter": 1, "gateway-master": 1, "gateway-web": 1,
		"mysql-dataservice": 1, "mysql-dataservice-init": 6, "proxy": 1, "trd-adapter": 1, "trd-adapter-py": 1, "web": 1, "web-template": 1,
	}, configMaps)
}
