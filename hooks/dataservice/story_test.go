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
	"github.com/operetta-dev/operetta/internal/simulate"
	"github.com/operetta-dev/operetta/metacontroller"
)

// story is a DataService in a world, told step by step.
type story struct {
	*testing.T

	world *simulate.World
	whole bool // all of the sample, in the inner loop too
}

func tell(t *testing.T, apply simulate.Strategy, faults ...simulate.Fault) *story {
	return tellWith(t, simulate.Options{Apply: apply, Faults: faults})
}

// tellUnchecked is tell where the API server takes what the schema refuses, as
// an older schema may have.
func tellUnchecked(t *testing.T, apply simulate.Strategy) *story {
	return tellWith(t, simulate.Options{Apply: apply, SkipValidation: true})
}

func tellWith(t *testing.T, options simulate.Options) *story {
	options.Controllers = []metacontroller.Controller{dataservice.Controller()}
	options.Call = simulate.Direct(dataservice.Controller())
	options.MaxSteps = 400
	return &story{T: t, world: simulate.New(options)}
}

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
	require.NoError(s, s.world.Apply(s.encoded(object)))
}

func (s *story) encoded(object map[string]any) []byte {
	s.Helper()
	text, err := yaml.Marshal(object)
	require.NoError(s, err)
	encoded, err := yaml.YAMLToJSON(text)
	require.NoError(s, err)
	return encoded
}

// refuse has the API server refuse an edit of the sample, and returns its words.
func (s *story) refuse(changes ...func(spec map[string]any)) string {
	s.Helper()
	err := s.world.Apply(s.encoded(s.sample(changes...)))
	require.True(s, apierrors.IsInvalid(err), "%v", err)
	return err.Error()
}

// TestAnEditThatARuleRefusesChangesNothing: the rules about a change are those of
// the API server, which a hook alone never sees.
func TestAnEditThatARuleRefusesChangesNothing(t *testing.T) {
	s := tell(t, simulate.DynamicApply)
	s.edit(set("mysql.storage.size", "10Gi"))
	before := s.world.Outcomes()
	require.Contains(t, s.refuse(set("mysql.storage.size", "20Gi")), "spec.mysql")
	require.Contains(t, s.refuse(set("mysql.name", "other")), "spec.mysql")
	s.play()
	require.Equal(t, before[0].Parent.GetGeneration(), s.world.Outcomes()[0].Parent.GetGeneration())
	require.Equal(t, "True", s.world.Outcomes()[0].Ready)
}

// play plays until all is quiet.
func (s *story) play() {
	s.Helper()
	require.NoError(s, s.world.Play())
}

// edit applies the sample after a change, and plays until all is quiet.
func (s *story) edit(changes ...func(spec map[string]any)) {
	s.Helper()
	s.apply(s.sample(changes...))
	s.play()
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

func (s *story) get(kind, name string) simulate.Object {
	apiVersion := "v1"
	if kind == "Deployment" || kind == "StatefulSet" || kind == "DaemonSet" {
		apiVersion = "apps/v1"
	}
	return s.world.Get(simulate.Ref{APIVersion: apiVersion, Kind: kind, Namespace: "default", Name: name})
}

// workloads returns the names of the workloads.
func (s *story) workloads() []string {
	var names []string
	for _, o := range s.world.Objects() {
		if o.GetKind() == "Deployment" || o.GetKind() == "StatefulSet" || o.GetKind() == "DaemonSet" {
			names = append(names, o.GetName())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// uids returns the identities of all children.
func (s *story) uids() map[string]string {
	uids := map[string]string{}
	for _, o := range s.world.Objects() {
		if s.world.IsChild(o) {
			uids[o.GetKind()+"/"+o.GetName()] = string(o.GetUID())
		}
	}
	return uids
}

func (s *story) parent() simulate.Object { return s.world.Outcomes()[0].Parent }

func (s *story) condition(conditionType string) string {
	c := simulate.Condition(s.parent(), conditionType)
	return c.Status + " " + c.Reason + ": " + c.Message
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

// strategies are those in which a story is told: one of them in the inner loop of
// all kinds, for these stories take half a minute.
func strategies() []simulate.Strategy {
	both := []simulate.Strategy{simulate.DynamicApply, simulate.ServerSideApply}
	if testing.Short() && os.Getenv("OPERETTA_TEST_KIND") == "" {
		return both[:1]
	}
	return both
}

func TestStartIsOrdered(t *testing.T) {
	t.Parallel()
	for _, apply := range strategies() {
		s := tell(t, apply)
		s.whole = true
		s.apply(s.sample())
		seen := map[string]bool{}
		for range 60 {
			ready := map[string]bool{}
			for _, name := range s.workloads() {
				for _, kind := range []string{"Deployment", "StatefulSet"} {
					if o := s.get(kind, name); o != nil {
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
		s.play()
		require.Equal(t, upTo(5), s.workloads())
		require.Equal(t, "True Ready: all 12 components are ready", s.condition("Ready"))
		require.Equal(t, "Ready", s.phase())
	}
}

func TestWhatWaitsNamesWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault     simulate.Fault
		there     []string
		component string // that waits
		message   string
		middle    string // the condition MiddlewareReady
	}{
		{simulate.Fault{What: simulate.Hold, Kind: "StatefulSet", Name: "mysql-dataservice"}, upTo(1), "eureka", "waits for mysql-dataservice", "False"},
		{simulate.Fault{What: simulate.Fail, Kind: "Deployment", Name: "eureka"}, upTo(2), "auth", "waits for eureka", "True"},
		{simulate.Fault{What: simulate.Hold, Kind: "Deployment", Name: "es-adapter"}, upTo(3), "gateway-web", "waits for es-adapter", "True"},
	} {
		s := tell(t, simulate.DynamicApply, test.fault)
		s.whole = true
		s.apply(s.sample())
		s.play()
		require.Equal(t, test.there, s.workloads())
		require.Equal(t, test.message, s.message(test.component))
		require.Contains(t, s.condition("Ready"), test.fault.Name+": 0 of 1 Pods are ready")
		require.Equal(t, test.middle, simulate.Condition(s.parent(), "MiddlewareReady").Status)
		require.Equal(t, "Starting", s.phase())
	}
}

func TestFlappingMiddlewareRemovesNothing(t *testing.T) {
	t.Parallel()
	for _, apply := range strategies() {
		s := tell(t, apply, simulate.Fault{What: simulate.Flap, Kind: "StatefulSet", Name: "mysql-dataservice"})
		s.apply(s.sample())
		s.play()
		require.Empty(t, s.world.UnmetFaults())
		for _, step := range s.world.Steps {
			for _, event := range step.Events {
				require.NotEqual(t, simulate.Deleted, event.Verb, "%v", event)
			}
		}
		require.Equal(t, "Ready", s.phase())
	}
}

func TestFailingMiddlewareHoldsBackOnlyWhatIsNotThereYet(t *testing.T) {
	t.Parallel()
	s := tell(t, simulate.DynamicApply, simulate.Fault{What: simulate.Fail, Kind: "StatefulSet", Name: "mysql-dataservice", Step: 40})
	s.edit(unset("proxy"))
	for len(s.world.Steps) < 45 && s.phase() == "Ready" {
		require.NoError(t, s.world.Delete(simulate.RefOf(s.get("ConfigMap", "auth"))))
		s.play()
	}
	require.Equal(t, "Degraded", s.phase())
	before := s.uids()
	require.NoError(t, s.world.Delete(simulate.RefOf(s.get("ConfigMap", "web"))))
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
	for _, apply := range strategies() {
		s := tell(t, apply)
		s.whole = true
		s.edit()
		stuck := s.get("Deployment", "gateway-web").DeepCopy()
		stuck.SetFinalizers([]string{"example.com/stuck"})
		s.apply(stuck.Object)
		s.world.DeleteParents()
		for range 30 {
			s.world.Step()
		}
		require.Equal(t, slices.Sorted(slices.Values(append(upTo(3), "gateway-web"))), s.workloads(), "an earlier stage went")
		require.Equal(t, "Deleting", s.phase())
		require.Equal(t, "False Deleting: has yet to go: Deployment/gateway-web", s.condition("Ready"))
		require.Equal(t, "waits for what depends on it to go", s.message("eureka"))
		require.Nil(t, s.get("Service", "web"))

		stuck = s.get("Deployment", "gateway-web").DeepCopy()
		stuck.SetFinalizers([]string{})
		s.apply(stuck.Object)
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
		s.play()
		require.Empty(t, s.world.Outcomes())
		require.Len(t, gone, 8)
		slices.Sort(gone[:6])
		require.Equal(t, slices.Concat(stages[2], stages[1], stages[0]), gone)
	}
}

func TestUpdatesReachTheChildren(t *testing.T) {
	t.Parallel()
	for _, apply := range strategies() {
		s := tell(t, apply)
		s.edit()
		pod := func(name string) string {
			for _, o := range s.world.Objects() {
				if o.GetKind() == "Pod" && strings.HasPrefix(o.GetName(), name) {
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
		require.Equal(t, "True", simulate.Condition(s.parent(), "Ready").Status, s.condition("Ready"))
		deployment := s.get("Deployment", "proxy")
		containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
		encoded := fmt.Sprint(containers[0], deployment.Object["spec"].(map[string]any)["replicas"])
		for _, part := range []string{"proxy:2.0", "-Xmx1g", "containerPort:9194"} {
			require.Contains(t, encoded, part)
		}
		require.True(t, strings.HasSuffix(encoded, " 2"), encoded)
		require.NotEqual(t, proxy, pod("proxy-"))
		require.NotEqual(t, web, pod("web-"), "a changed ConfigMap restarts its Pods")
		require.Equal(t, mysql, pod("mysql-"), "nobody touched mysql")
		data, _, _ := unstructured.NestedStringMap(s.get("ConfigMap", "gateway-web").Object, "data")
		require.Contains(t, data["application.yml"], `uri: "http://proxy:9194"`)
		ports, _, _ := unstructured.NestedSlice(s.get("Service", "web").Object, "spec", "ports")
		require.EqualValues(t, 30260, ports[0].(map[string]any)["nodePort"])
	}
}

// TestRenamedComponent sees the old one stay until the new one is ready, with a
// node port that only one of them can have.
func TestRenamedComponent(t *testing.T) {
	t.Parallel()
	for _, apply := range strategies() {
		s := tell(t, apply)
		s.edit()
		s.apply(s.sample(set("web.name", "front")))
		for range 30 {
			s.world.Step()
			isReady := false
			if front := s.get("Deployment", "front"); front != nil {
				count, _, _ := unstructured.NestedInt64(front.Object, "status", "readyReplicas")
				isReady = count == 1
			}
			require.True(t, isReady || s.get("Deployment", "web") != nil && s.get("Service", "web") != nil, "neither of them is there")
		}
		s.play()
		for _, kind := range []string{"Deployment", "Service", "ConfigMap"} {
			require.Nil(t, s.get(kind, "web"), kind)
			require.NotNil(t, s.get(kind, "front"), kind)
		}
		ports, _, _ := unstructured.NestedSlice(s.get("Service", "front").Object, "spec", "ports")
		require.EqualValues(t, 30160, ports[0].(map[string]any)["nodePort"])
		require.Equal(t, "Ready", s.phase())
	}
}

func TestMiddlewareMovesOutAndBackAndChangesItsKind(t *testing.T) {
	t.Parallel()
	elsewhere := func(spec map[string]any) {
		spec["mysql"] = map[string]any{"kind": "ThirdParty", "thirdParty": map[string]any{
			"url": "mysql://db.example.com", "authType": "basic", "credentialsSecretRef": map[string]any{"name": "db"},
		}}
	}
	for _, apply := range strategies() {
		s := tell(t, apply)
		s.edit()
		claim := s.get("PersistentVolumeClaim", "data-mysql-dataservice-0")
		require.NotNil(t, claim)
		s.edit(elsewhere)
		require.Equal(t, "Ready", s.phase())
		require.Nil(t, s.get("StatefulSet", "mysql-dataservice"))
		require.NotNil(t, s.get("PersistentVolumeClaim", "data-mysql-dataservice-0"), "the volume is nobody's to delete")
		data, _, _ := unstructured.NestedStringMap(s.get("ConfigMap", "auth").Object, "data")
		require.Contains(t, data["application.yml"], "jdbc:mysql://db.example.com:3306/auth?")
		s.edit()
		require.Equal(t, "Ready", s.phase())
		require.Equal(t, claim.GetUID(), s.get("PersistentVolumeClaim", "data-mysql-dataservice-0").GetUID(), "it comes back to its volume")

		user := func(kind string) func(map[string]any) {
			return func(spec map[string]any) {
				spec["uuc"] = map[string]any{"kind": kind, "image": "registry.example.com/d3os/uuc:1.0"}
			}
		}
		for _, kind := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
			s.edit(user(kind))
			require.Equal(t, "Ready", s.phase())
			for _, other := range []string{"Deployment", "StatefulSet", "DaemonSet"} {
				require.Equal(t, kind == other, s.get(other, "uuc") != nil, "%s as %s", other, kind)
			}
		}
		s.edit()
		require.Nil(t, s.get("DaemonSet", "uuc"))
		require.Nil(t, s.get("Service", "uuc"))
	}
}

func TestOptionalComponentIsRemoved(t *testing.T) {
	t.Parallel()
	s := tell(t, simulate.DynamicApply)
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
	for _, apply := range strategies() {
		for onDelete, stays := range map[string]bool{"Retain": true, "Delete": false} {
			s := tell(t, apply)
			s.edit(set("mysql.storage.onDelete", onDelete))
			s.world.DeleteParents()
			s.play()
			require.Empty(t, s.world.Outcomes())
			require.Empty(t, s.workloads())
			require.Equal(t, stays, s.get("PersistentVolumeClaim", "data-mysql-dataservice-0") != nil, onDelete)
		}
	}
}

func TestTwoProductsInOneNamespace(t *testing.T) {
	t.Parallel()
	s := tell(t, simulate.DynamicApply)
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
	s.play()
	second := s.world.Outcomes()[1]
	require.Equal(t, "ChildBlocked", second.Reason)
	require.Contains(t, second.Message, "Deployment/eureka")
	require.Nil(t, s.get("Deployment", "proxy-2"), "somebody else's eureka was taken for its own")
	require.Equal(t, "True", s.world.Outcomes()[0].Ready)

	s.apply(small("eureka-2"))
	s.play()
	for _, outcome := range s.world.Outcomes() {
		require.Equal(t, "True", outcome.Ready, outcome.Message)
	}
}

// TestSampleGivesTheTables compares what the sample ends with to the tables that
// the product is known for.
func TestSampleGivesTheTables(t *testing.T) {
	t.Parallel()
	s := tell(t, simulate.DynamicApply)
	s.whole = true
	s.edit()
	var pods []string
	services, configMaps := map[string]string{}, map[string]int{}
	for _, o := range s.world.Objects() {
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
	require.NotNil(t, s.get("Pod", "mysql-dataservice-0"))
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
