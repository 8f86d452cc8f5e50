package dataservice_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operetta-dev/operetta/operettatest"
)

// nodePorts returns the node ports of a Service.
func (s *story) nodePorts(name string) []int64 {
	var numbers []int64
	service := s.world.Get("Service/" + name)
	if service == nil {
		return nil
	}
	ports, _, _ := unstructured.NestedSlice(service.Object, "spec", "ports")
	for _, port := range ports {
		if number, _ := port.(map[string]any)["nodePort"].(int64); number != 0 {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// stepThrough plays to rest and looks after each step.
func (s *story) stepThrough(look func()) {
	for range 60 {
		s.world.Step()
		look()
	}
	s.world.Play()
}

// TestSwappedNodePorts swaps those of two components, which neither can have while
// the other does.
func TestSwappedNodePorts(t *testing.T) {
	t.Parallel()
	for _, options := range strategies() {
		s := tell(t, options)
		s.edit()
		s.apply(s.sample(set("eureka.nodePort", int64(30160)), set("web.nodePort", int64(30161))))
		generation := s.parent().GetGeneration()
		s.stepThrough(func() {
			ready := s.world.Condition(product, "Ready")
			if observed, _, _ := unstructured.NestedInt64(s.parent().Object, "status", "observedGeneration"); observed == generation && ready.Status == "True" {
				require.Equal(t, []int64{30160}, s.nodePorts("eureka"))
				require.Equal(t, []int64{30161}, s.nodePorts("web"))
			}
		})
		require.Equal(t, "True", s.world.Condition(product, "Ready").Status, s.condition("Ready"))
		require.Equal(t, []int64{30160}, s.nodePorts("eureka"))
		require.Equal(t, []int64{30161}, s.nodePorts("web"))
	}
}

// TestRenamedComponentIsReadyWithItsNodePort sees Ready become True once, when the
// new Service has the node port of the old one.
func TestRenamedComponentIsReadyWithItsNodePort(t *testing.T) {
	t.Parallel()
	for _, options := range strategies() {
		s := tell(t, options)
		s.edit()
		s.apply(s.sample(set("web.name", "front")))
		var said []string
		s.stepThrough(func() {
			ready := s.world.Condition(product, "Ready").Status
			if len(said) == 0 || said[len(said)-1] != ready {
				said = append(said, ready)
			}
			if ready == "True" {
				require.Equal(t, []int64{30160}, s.nodePorts("front"))
			}
		})
		require.Equal(t, []string{"False", "True"}, said)
	}
}

// TestOneDatabaseBehindTheService changes the kind of mysql while another component
// fails, which used to keep the old one beside the new one.
func TestOneDatabaseBehindTheService(t *testing.T) {
	t.Parallel()
	withoutStorage := unset("mysql.storage")
	for _, options := range strategies() {
		for _, kinds := range [][]string{{"Deployment", "StatefulSet"}, {"StatefulSet", "Deployment"}} {
			const typo = "registry.example.com/d3os/proxy:1.00"
			options.Fail = []string{"Image/" + typo}
			s := tell(t, options)
			s.edit(withoutStorage, set("mysql.kind", kinds[0]))
			s.apply(s.sample(withoutStorage, set("mysql.kind", kinds[1]), set("proxy.image", typo)))
			s.stepThrough(func() {
				var databases []string
				for _, o := range s.world.Objects("Pod") {
					if o.GetLabels()["app"] == "mysql-dataservice" {
						databases = append(databases, o.GetName())
					}
				}
				require.LessOrEqual(t, len(databases), 1, "%v", databases)
			})
			require.NotNil(t, s.world.Get(kinds[1]+"/mysql-dataservice"))
			require.Nil(t, s.world.Get(kinds[0]+"/mysql-dataservice"))
			require.Equal(t, "<nil>", s.message("mysql"), "there is nothing to say")
		}
	}
}

// TestTypoInTheImageOfMySQLIsRepaired writes an image that never becomes ready, and
// then the right one again.
func TestTypoInTheImageOfMySQLIsRepaired(t *testing.T) {
	t.Parallel()
	const typo = "mysql:8.44"
	for _, options := range strategies() {
		options.Fail = []string{"Image/" + typo}
		s := tell(t, options)
		s.edit()
		claim := s.world.Get("PersistentVolumeClaim/data-mysql-dataservice-0").GetUID()
		s.edit(set("mysql.image", typo))
		require.Contains(t, s.condition("Ready"), "mysql-dataservice: 0 of 1 Pods are ready")
		s.edit()
		require.Equal(t, "Ready", s.phase(), s.condition("Ready"))
		require.Equal(t, claim, s.world.Get("PersistentVolumeClaim/data-mysql-dataservice-0").GetUID())
	}
}

// TestTypoInAnOrderedSetNamesThePod has a StatefulSet of before, whose policy
// cannot be changed: the status says which Pod a person has to delete.
func TestTypoInAnOrderedSetNamesThePod(t *testing.T) {
	t.Parallel()
	const typo = "mysql:8.44"
	s := tell(t, operettatest.Options{ServerSideApply: true, Fail: []string{"Image/" + typo}})
	s.edit()
	ordered := s.world.Get("StatefulSet/mysql-dataservice").DeepCopy()
	require.NoError(t, unstructured.SetNestedField(ordered.Object, "OrderedReady", "spec", "podManagementPolicy"))
	s.edit(unset("mysql"), unset("api-manager"), unset("auth"), unset("ds-adapter"), unset("es-adapter"), unset("trd-adapter"))
	require.Nil(t, s.world.Get("StatefulSet/mysql-dataservice"))
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		unstructured.RemoveNestedField(ordered.Object, "metadata", field)
	}
	s.apply(ordered.Object)
	s.edit()
	require.Equal(t, "Ready", s.phase(), s.condition("Ready"))
	s.edit(set("mysql.image", typo))
	s.edit()
	policy, _, _ := unstructured.NestedString(s.world.Get("StatefulSet/mysql-dataservice").Object, "spec", "podManagementPolicy")
	require.Equal(t, "OrderedReady", policy)
	const wanted = "delete Pod/mysql-dataservice-0, for its StatefulSet waits for it to be ready before it makes it anew"
	require.Contains(t, s.message("mysql"), wanted)
	require.Equal(t, "True PodNotReplaced: "+wanted, s.condition("Stalled"))
	s.world.Delete("Pod/mysql-dataservice-0")
	s.world.Play()
	require.Equal(t, "Ready", s.phase(), s.condition("Ready"))
}

// TestLargeConfigurationStopsItsComponentOnly writes files that no child can hold,
// in letters that take six times their size there: the others go on, and what is
// there stays.
func TestLargeConfigurationStopsItsComponentOnly(t *testing.T) {
	t.Parallel()
	for _, options := range strategies() {
		s := tell(t, options)
		s.edit()
		before := s.uids()
		files := map[string]any{}
		for i := range 6 {
			files[fmt.Sprintf("%d.xml", i)] = strings.Repeat("<", 32768)
		}
		s.edit(set("web.config", files), set("proxy.replica", int64(2)))
		require.Equal(t, before, s.uids())
		require.Contains(t, s.condition("Stalled"), "True TooLarge: ConfigMap/web-template would have 118")
		require.Contains(t, s.condition("Stalled"), "make spec.web.config smaller")
		require.Contains(t, s.message("web"), "make spec.web.config smaller")
		require.Equal(t, "False", s.world.Condition(product, "Ready").Status)
		replicas, _, _ := unstructured.NestedInt64(s.world.Get("Deployment/proxy").Object, "spec", "replicas")
		require.EqualValues(t, 2, replicas)
		s.edit()
		require.Equal(t, "Ready", s.phase())
	}
}
