package dataservice_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
			for range 60 {
				s.world.Step()
				var databases []string
				for _, o := range s.world.Objects("Pod") {
					if o.GetLabels()["app"] == "mysql-dataservice" {
						databases = append(databases, o.GetName())
					}
				}
				require.LessOrEqual(t, len(databases), 1, "%v", databases)
			}
			s.world.Play()
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
