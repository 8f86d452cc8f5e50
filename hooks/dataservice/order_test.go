package dataservice_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/operetta-dev/operetta/operettatest"
)

// image returns a change of the images of components.
func image(tag string, components ...string) func(map[string]any) {
	return func(spec map[string]any) {
		for _, name := range components {
			set(name+".image", "registry.example.com/d3os/"+name+":"+tag)(spec)
		}
	}
}

// tag returns the tag that a Deployment's template has, and whether its rollout is complete.
func (s *story) tag(name string) (tag string, isComplete bool) {
	var d appsv1.Deployment
	s.world.Decode("Deployment/"+name, &d)
	_, tag, _ = strings.Cut(d.Spec.Template.Spec.Containers[0].Image, ":")
	status := d.Status
	return tag, status.ObservedGeneration == d.Generation && status.UpdatedReplicas == 1 && status.ReadyReplicas == 1 && status.Replicas == 1
}

// TestEditOfSeveralGoesInTheOrderOfTheStart edits eureka and what comes after it, of which a part is
// not edited itself.
func TestEditOfSeveralGoesInTheOrderOfTheStart(t *testing.T) {
	t.Parallel()
	edited := []string{"eureka", "auth", "web"}
	for _, options := range strategies() {
		s := tell(t, options)
		s.edit()
		s.apply(s.sample(image("2.0", edited...)))
		waited := false
		for range 60 {
			for i, name := range edited[1:] {
				tag, _ := s.tag(name)
				if before, isComplete := s.tag(edited[i]); before != "2.0" || !isComplete {
					require.NotEqual(t, "2.0", tag, "%s was updated before %s was ready", name, edited[i])
				}
			}
			waited = waited || s.message("web") == "its update waits for eureka, auth"
			s.world.Step()
		}
		s.world.Play()
		require.True(t, waited, "the status says what it waits for")
		for _, name := range edited {
			tag, _ := s.tag(name)
			require.Equal(t, "2.0", tag)
		}
		s.world.RequireCondition(product, "Ready", "True Ready")
	}
}

// TestUpgradeStopsWhereOneDoesNotBecomeReady: nothing behind it changes, or goes.
func TestUpgradeStopsWhereOneDoesNotBecomeReady(t *testing.T) {
	t.Parallel()
	for _, options := range strategies() {
		options.Fail = []string{"Deployment/auth"}
		s := tell(t, options)
		s.world.Do("mend")
		s.edit()
		s.world.Do("fail Deployment/auth")
		before := s.uids()
		s.edit(image("2.0", "eureka", "auth", "gateway-web", "web"), set("web.nodePort", int64(30777)))
		require.Equal(t, before, s.uids())
		for name, want := range map[string]string{"eureka": "2.0", "auth": "2.0", "gateway-web": "1.0"} {
			tag, _ := s.tag(name)
			require.Equal(t, want, tag, name)
		}
		require.Equal(t, "its update waits for auth", s.message("gateway-web"))
		require.Equal(t, "its update waits for auth, gateway-web", s.message("web"))
		require.Contains(t, s.condition("Ready"), "auth: ")
		require.Equal(t, "True ProgressDeadlineExceeded", s.world.Condition(product, "Stalled").String())
		// What is missing comes back.
		s.world.Delete("Service/web")
		s.world.Play()
		require.NotNil(t, s.world.Get("Service/web"))

		s.world.Do("mend")
		s.edit(image("3.0", "eureka", "auth", "gateway-web", "web"))
		s.world.RequireCondition(product, "Ready", "True Ready")
		tag, _ := s.tag("web")
		require.Equal(t, "3.0", tag)
	}
}

// TestEditOfOneIsNotHeldBackByWhatIsBroken: what was ready with the newest spec and has failed since is
// no part of the edit.
func TestEditOfOneIsNotHeldBackByWhatIsBroken(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{"StatefulSet/mysql-dataservice", "Deployment/eureka", "Deployment/proxy"} {
		s := tell(t, operettatest.Options{})
		s.edit()
		s.world.Do("fail " + broken)
		s.world.Play()
		require.Equal(t, "Degraded", s.phase())
		s.edit(image("2.0", "auth", "web"))
		for _, name := range []string{"auth", "web"} {
			tag, isComplete := s.tag(name)
			require.Equal(t, "2.0", tag, "%s beside a broken %s", name, broken)
			require.True(t, isComplete)
		}
	}
}

// TestRemovalGoesInTheReverseOrder takes out web, its gateway and a service in one edit.
func TestRemovalGoesInTheReverseOrder(t *testing.T) {
	t.Parallel()
	order := []string{"web", "gateway-web", "proxy"}
	for _, options := range strategies() {
		s := tell(t, options)
		s.edit()
		s.world.Edit("Deployment/web", "{metadata: {finalizers: [example.com/stuck]}}")
		without := []func(map[string]any){unset("web"), unset("gateway-web"), unset("proxy"), unset("gateway-master")}
		s.apply(s.sample(without...))
		for range 30 {
			s.world.Step()
		}
		require.NotNil(t, s.world.Get("Deployment/gateway-web"), "it went before web")
		require.Equal(t, "waiting for deletion of Deployment/web", s.message("web"))
		require.Equal(t, "is deleted after Deployment/web", s.message("gateway-web"))
		require.Equal(t, "False Updating: web: waiting for deletion of Deployment/web", s.condition("Ready"))
		s.world.Edit("Deployment/web", "{metadata: {finalizers: []}}")
		for range 60 {
			s.world.Step()
			for i, name := range order[1:] {
				if s.world.Get("Deployment/"+name) == nil {
					require.Nil(t, s.world.Get("Deployment/"+order[i]), "%s went before %s", name, order[i])
					require.False(t, slices.ContainsFunc(s.world.Objects("Pod"), func(o operettatest.Object) bool { return o.GetLabels()["app"] == order[i] }), "%s went before the Pods of %s", name, order[i])
				}
			}
		}
		s.world.Play()
		for _, name := range order {
			require.Nil(t, s.world.Get("Deployment/"+name))
			require.Equal(t, "there is no "+name, s.message(name))
		}
		s.world.RequireCondition(product, "Ready", "True Ready")
	}
}

// TestStorageDoesNotChangeOnADetour: mysql goes elsewhere, and comes back with other storage while its
// StatefulSet is still there. Each way out works.
func TestStorageDoesNotChangeOnADetour(t *testing.T) {
	t.Parallel()
	elsewhere := func(spec map[string]any) {
		spec["mysql"] = map[string]any{"kind": "ThirdParty", "thirdParty": map[string]any{
			"url": "mysql://db.example.com", "authType": "basic", "credentialsSecretRef": map[string]any{"name": "db"},
		}}
	}
	for _, options := range strategies() {
		for name, way := range map[string]func(s *story){
			"restored": func(s *story) { s.edit(elsewhere); s.world.Do("mend"); s.edit() },
			"deleted":  func(s *story) { s.world.Delete("StatefulSet/mysql-dataservice"); s.world.Do("mend"); s.world.Play() },
			"gone":     func(s *story) { s.world.Delete(product); s.world.Play(); s.edit() },
		} {
			s := tell(t, options)
			s.edit()
			s.world.Do("fail Deployment/auth") // so that the old StatefulSet stays
			s.edit(elsewhere)
			old := s.world.MustGet("StatefulSet/mysql-dataservice")
			s.edit(set("mysql.storage.size", "20Gi"))
			require.Equal(t, "True ImmutableStorage", s.world.Condition(product, "Stalled").String())
			require.Contains(t, s.condition("Ready"), "False ImmutableStorage: StatefulSet/mysql-dataservice has other storage, which cannot be changed: ")
			kept := s.world.MustGet("StatefulSet/mysql-dataservice")
			require.Equal(t, fmt.Sprint(old.Object["spec"]), fmt.Sprint(kept.Object["spec"]))
			way(s)
			require.True(t, s.world.Condition(product, "Ready").Status == "True" || name == "gone", "%s: %s", name, s.condition("Ready"))
			require.NotEqual(t, "ImmutableStorage", s.world.Condition(product, "Ready").Reason)
		}
	}
}
