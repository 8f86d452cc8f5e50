package hooks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/lab/explore"
	"github.com/operetta-dev/operetta/internal/lab/player"
	"github.com/operetta-dev/operetta/internal/testenv"
)

// found are schedules that have broken a law once, as short as they were made.
// Those with a known law break it still: the list of them is to become empty.
var found = []struct {
	name, scenario string
	apply          player.Strategy
	schedule       string
	known          string
}{
	{
		name: "a Pod that nothing is heard of runs on when its Job is gone", scenario: "build", apply: player.DynamicApply,
		schedule: `
			deliver Build
			sync Build/hello
			deliver Job
			sync Build/hello
			deliver Build all
			step Job/hello-4cc8182588
			step Pod/hello-4cc8182588-44445
			step Pod/hello-4cc8182588-44445
			edit Build/hello {"spec":{"source":{"git":{"revision":"next"}}}}
			deliver Build all
			sync Build/hello
			deliver Job all
			deliver Build all
			sync Build/hello
			deliver Build all
			sync Build/hello`,
	},
	{
		name: "a Job that is deleted by hand, whose Pod is heard of late", scenario: "build", apply: player.DynamicApply,
		schedule: `
			deliver Build
			sync Build/hello
			step Job/hello-4cc8182588
			deliver Build all
			deliver Job all
			sync Build/hello
			deliver Build all
			delete Job/hello-4cc8182588
			deliver Job all
			sync Build/hello
			deliver Build all
			sync Build/hello`,
	},
	{
		name: "the same before a status tells of the Job", scenario: "build", apply: player.DynamicApply,
		schedule: `
			calm 40
			edit Build/hello {"spec":{"source":{"git":{"revision":"next"}}}}
			deliver Build all
			sync Build/hello
			deliver Build all
			wait 1s
			sync Build/hello lose-status
			step Job/hello-7b56ab7a42
			delete Job/hello-7b56ab7a42
			deliver Job all
			deliver Build all
			sync Build/hello`,
	},
	{
		name: "a workload without its label holds up the teardown", scenario: "dataservice", apply: player.DynamicApply,
		schedule: `
			calm 40
			edit Deployment/eureka {"metadata":{"labels":{"controller-uid":null}}}
			delete DataService/shop`,
	},
	{
		name: "a status that is lost after the Pod has ended", scenario: "myjob", apply: player.DynamicApply,
		schedule: `
			deliver MyJob
			sync MyJob/hello
			calm 3
			deliver Pod
			sync MyJob/hello crash@1
			restart
			sync MyJob/hello lose-status`,
	},
	{
		name: "a template that changes while nothing is heard of the Pods", scenario: "podset", apply: player.DynamicApply,
		schedule: `
			deliver PodSet all
			edit PodSet/cache {"spec":{"size":3,"template":{"spec":{"containers":[{"image":"nginx:1.28","name":"memcached"}]}}}}
			sync PodSet/cache
			deliver PodSet all
			sync PodSet/cache`,
	},
	{
		name: "Pods that were left behind and whose names are wanted", scenario: "podset", apply: player.ServerSideApply,
		schedule: `
			calm 40
			delete PodSet/cache orphan
			collect
			create {"apiVersion":"apps.jicki.cn/v1alpha1","kind":"PodSet","metadata":{"name":"cache"},"spec":{"size":2,"template":{"spec":{"nodeSelector":{"a":"b"},"containers":[{"image":"memcached:1.6","name":"memcached"}]}}}}`,
	},
	{
		name: "a ServiceAccount under its deprecated name while nothing is heard of the Pods", scenario: "podset", apply: player.ServerSideApply,
		schedule: `
			deliver PodSet all
			sync PodSet/cache
			edit PodSet/cache {"spec":{"size":3,"template":{"spec":{"serviceAccount":"2"}}}}
			deliver PodSet all
			sync PodSet/cache`,
	},
	{
		name: "a new one before the old one's children are gone", scenario: "modelbox", apply: player.DynamicApply,
		schedule: `
			calm 17
			delete ModelBox/sentiment
			create {"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"name":"sentiment"},"spec":{"image":"nginx:1.27-alpine","ports":[{"port":80}],"replicas":1}}
			collect
			restart
			sync ModelBox/sentiment
			restart`,
	},
	{
		name: "a Job of the name of an earlier Build's that is heard of late", scenario: "build", apply: player.DynamicApply,
		schedule: `
			calm 40
			delete Build/hello foreground
			collect
			deliver Build all
			create {"apiVersion":"ci.zt.vapi.cc/v1","kind":"Build","metadata":{"name":"hello"},"spec":{"command":["go","build"],"image":"golang:1.26","source":{"git":{"revision":"main","url":"https://git.example.com/hello.git"}}}}
			edit Build/hello {"spec":{"env":[{"name":"alpha","value":"TCP"}],"image":"https://example.com/a.git"}}
			deliver Build
			sync Build/hello
			deliver Build all
			sync Build/hello
			deliver Build all
			wait timer
			sync Build/hello
			deliver Build
			sync Build/hello`,
	},
	{
		name: "another one of the name that comes while the watch is interrupted", scenario: "build", apply: player.ServerSideApply,
		schedule: `
			calm 40
			delete Build/hello
			collect
			collect
			deliver Job
			deliver Pod
			create {"apiVersion":"ci.zt.vapi.cc/v1","kind":"Build","metadata":{"name":"hello"},"spec":{"command":["go","build"],"image":"golang:1.26","source":{"git":{"revision":"main","url":"https://git.example.com/hello.git"}}}}
			sync Build/hello
			relist Build`,
	},
}

// TestFound plays what was found once.
func TestFound(t *testing.T) {
	for _, story := range found {
		if !testenv.Selected(story.scenario) {
			continue
		}
		t.Run(story.name, func(t *testing.T) {
			t.Parallel()
			schedule, err := explore.ParseSchedule(story.schedule)
			require.NoError(t, err)
			run := scenario(t, story.scenario, story.apply).Play(schedule)
			switch {
			case story.known != "":
				require.NotNil(t, run.Broken, "take it from the list of what is known")
				require.Equal(t, story.known, run.Broken.Law)
			case run.Broken != nil:
				t.Fatal(explore.Finding{Violation: *run.Broken, Schedule: schedule, Run: run}.Text())
			}
		})
	}
}
