package podbuggertool_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/hooks/podbuggertool"
	"github.com/operetta-dev/operetta/metacontroller"
	"github.com/operetta-dev/operetta/operettatest"
)

// named returns the Pods that a Role is about, and fails on a rule that is about
// all of them or allows something else.
func named(t *testing.T, object map[string]any) []string {
	t.Helper()
	raw, err := json.Marshal(object)
	require.NoError(t, err)
	var role rbacv1.Role
	require.NoError(t, json.Unmarshal(raw, &role))
	require.Len(t, role.Rules, 2)
	names := role.Rules[0].ResourceNames
	require.NotEmpty(t, names, "a rule without names is about every Pod")
	require.Equal(t, []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, ResourceNames: names, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"pods/ephemeralcontainers"}, ResourceNames: names, Verbs: []string{"patch", "update"}},
	}, role.Rules)
	return names
}

// allowsNoMoreThanItNeeds goes through all that has happened so far: Role and
// RoleBinding were created when the tool controlled its ServiceAccount in an earlier
// step, no Job came before its Role, in an earlier step, named the Pod, and where no
// Job waits nothing is allowed.
func (s story) allowsNoMoreThanItNeeds() {
	s.t.Helper()
	s.allowsItsOwnAccountOnly()
	for _, kind := range []string{"ServiceAccount", "Role", "RoleBinding"} {
		require.Len(s.t, s.Objects(kind), len(s.waiting()), kind)
	}
}

func (s story) allowsItsOwnAccountOnly() {
	s.t.Helper()
	allowed, next := map[string][]string{}, map[string][]string{} // by the name of the Role
	isOwn, isOwnNext := map[string]bool{}, map[string]bool{}      // by the name of the ServiceAccount
	step := 0
	for _, event := range s.Events() {
		if event.Step != step {
			step, allowed, isOwn = event.Step, maps.Clone(next), maps.Clone(isOwnNext)
		}
		name := event.Object.GetName()
		if kind := event.Object.GetKind(); event.Verb == operettatest.Created && (kind == "Role" || kind == "RoleBinding") {
			require.True(s.t, isOwn[name], "%s/%s in step %d", kind, name, step)
		}
		switch {
		case event.Object.GetKind() == "ServiceAccount":
			isOwnNext[name] = event.Verb != operettatest.Deleted && metav1.GetControllerOf(event.Object) != nil
		case event.Object.GetKind() == "Role" && event.Verb == operettatest.Deleted:
			delete(next, name)
		case event.Object.GetKind() == "Role":
			next[name] = named(s.t, event.Object.Object)
		case event.Object.GetKind() == "Job" && event.Verb == operettatest.Created:
			role := "podbuggertool-" + event.Object.GetLabels()["operetta.dev/podbuggertool"]
			require.Contains(s.t, allowed[role], event.Object.GetAnnotations()["operetta.dev/pod"], "Job/%s in step %d", name, step)
		}
	}
}

// waiting returns the tools with Jobs that have work left.
func (s story) waiting() map[string]bool {
	tools := map[string]bool{}
	for _, name := range s.Names("Job") {
		var job batchv1.Job
		s.Decode("Job/"+name, &job)
		if !slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
		}) {
			tools[job.Labels["operetta.dev/podbuggertool"]] = true
		}
	}
	return tools
}

// rolesEver returns the Pods that Roles have ever named.
func (s story) rolesEver() []string {
	var names []string
	for _, event := range s.Events() {
		if event.Object.GetKind() == "Role" && event.Verb != operettatest.Deleted {
			names = append(names, named(s.t, event.Object.Object)...)
		}
	}
	return names
}

// TestTheRoleHasRoomForTheNames asks for as many Pods as maxPods allows, with the
// longest names: the Role has to fit into the annotation in which Metacontroller
// keeps what it applied last. The others have their turn later.
func TestTheRoleHasRoomForTheNames(t *testing.T) {
	const maxPods, atOnce, longest = 500, 400, 253
	pods := make([]string, maxPods)
	for i := range pods {
		name := fmt.Sprintf("%0*d", longest, i)
		pods[i] = fmt.Sprintf(`%q: {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": %q, "namespace": "default", "uid": "%d", "labels": {"app": "shop"}},
			"spec": {"containers": [{"name": "main"}]}, "status": {"phase": "Running"}}`, "default/"+name, name, i)
	}
	request := fmt.Sprintf(`{"parent": {"apiVersion": "apps.jicki.cn/v1alpha1", "kind": "PodBuggerTool",
		"metadata": {"name": %q, "namespace": "default", "uid": "u", "generation": 1},
		"spec": {"selector": {"matchLabels": {"app": "shop"}}, "image": "busybox", "maxPods": %d}},
		"children": {"ServiceAccount.v1": {"podbuggertool-%[1]s": {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "podbuggertool-%[1]s", "namespace": "default"}}}},
		"related": {"Pod.v1": {%[3]s}}}`, strings.Repeat("a", 63), maxPods, strings.Join(pods, ","))
	controller := podbuggertool.Controller()
	whole, err := operettatest.Complete(controller, metacontroller.SyncHook, []byte(request))
	require.NoError(t, err)
	answer, err := controller.Call(metacontroller.SyncHook, metav1.Now().Time, whole)
	require.NoError(t, err)
	var response struct {
		Children []map[string]any     `json:"children"`
		Status   podbuggertool.Status `json:"status"`
	}
	require.NoError(t, json.Unmarshal(answer.Body, &response))
	require.Len(t, response.Children, 3, "no Job before its access")
	require.Len(t, named(t, response.Children[1]), atOnce)
	require.Equal(t, int32(maxPods), response.Status.Pending)
	require.Contains(t, response.Status.Pods[99].Message, "first its Role has to name the Pod")
}

// TestSuspendedJobDoesNotHoldItsRole lets somebody who may edit Jobs suspend one,
// so that it never ends.
func TestSuspendedJobDoesNotHoldItsRole(t *testing.T) {
	stories(t, operettatest.Options{}, func(s story) {
		s.tool("toolbox", toolbox)
		s.pod("web", "{app: shop}")
		s.until("Job")
		job := s.Objects("Job")[0]
		s.Edit("Job/"+job.GetName(), "{spec: {suspend: true}}")
		s.Play()

		require.Len(s.t, s.Names("Job"), 1, "it is not made again")
		require.Empty(s.t, s.Objects("Role"))
		require.WithinDuration(s.t, job.GetCreationTimestamp().Add(11*time.Minute), s.Now(), 2*time.Second)
		require.Equal(s.t, int32(1), s.status("toolbox").Failed)
		require.Contains(s.t, s.status("toolbox").Pods[0].Message, "see whether it is suspended, and delete it to try again")

		s.Delete("Job/" + job.GetName())
		s.rests()
		s.ready("toolbox", "1/1")
	})
}

// TestJobThatCannotStartIsNotPendingForEver has a Job whose Pod waits for
// something that never comes.
func TestJobThatCannotStartIsNotPendingForEver(t *testing.T) {
	stories(t, operettatest.Options{Hold: []string{"Job/" + firstJob(t, story.toolAndPod)}}, func(s story) {
		s.toolAndPod()
		s.rests()
		require.Len(s.t, s.Names("Job"), 1)
		require.Empty(s.t, s.Objects("Role"))
		require.Contains(s.t, s.status("toolbox").Pods[0].Message, "has failed: DeadlineExceeded; it had 10m0s to start and to end: see kubectl events")
		require.Equal(s.t, "True", s.Condition("PodBuggerTool/toolbox", "Stalled").Status)
	})
}

// TestServiceAccountOfSomebodyElseGetsNoRole has somebody create a ServiceAccount of
// the name before the tool is. Under server-side apply Metacontroller takes it
// over, and it goes with the last Job.
func TestServiceAccountOfSomebodyElseGetsNoRole(t *testing.T) {
	stories(t, operettatest.Options{}, func(s story) {
		const account = "ServiceAccount/podbuggertool-toolbox"
		s.Apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: podbuggertool-toolbox}}")
		s.tool("toolbox", toolbox)
		s.pod("web", "{app: shop}")
		s.Play()
		s.allowsItsOwnAccountOnly()
		if s.Get(account) != nil {
			require.Empty(s.t, s.rolesEver())
			require.Empty(s.t, s.Objects("RoleBinding"))
			require.Zero(s.t, s.jobsEver())
			require.Contains(s.t, s.Condition("PodBuggerTool/toolbox", "Stalled").Message, "ServiceAccount/podbuggertool-toolbox not created after 30s")

			s.Delete(account) // of which Metacontroller does not hear
			s.Do("wait 10m")
		}
		s.rests()
		s.ready("toolbox", "1/1")
	})
}
