// Package build runs a build of the newest revision of a Git repository.
//
// A build is a Job. Its name ends in a hash of all that changes what is built,
// so that every other revision, image or script is another Job. An init
// container clones the repository into the workspace, and the steps run there, one
// after the other. Without a repository nothing is cloned.
//
// The Job is asked for until a result of that hash is known, from the Job itself
// or from the history in the status, and not again after that: neither when the
// Job is cleaned up nor when the spec comes back to it. A Job that vanishes
// before it has finished is made again.
//
// While an older Job runs, the concurrency policy decides: under Replace the
// older one goes, and the new one is made when it and its Pods are gone; under
// Forbid the older one finishes first; under Allow both run. Finished Jobs are
// kept for their logs up to a limit. Suspend cancels: the history tells that, and
// then the Job goes. None goes before the status that the hook
// is sent tells its result.
//
// Jobs and Pods are observed late, and a status may be lost after its Job was
// made. So the status names a Job before it is made, and those that run until
// their Pods must have been observed, too. A Job is known by its name, and a Pod
// by the Job that controls it; what can be edited, such as labels, decides
// nothing.
//
// Ready is True when the newest build has succeeded. A failed one is Stalled,
// for only another spec will mend it.
package build

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/deploy"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Controller declares the operator.
func Controller() metacontroller.Controller {
	return metacontroller.Configured(DefaultPolicy(), declare)
}

func declare(policy Policy) metacontroller.Controller {
	return metacontroller.Controller{
		Parent:    metacontroller.Resource{APIVersion: "ci.zt.vapi.cc/v1", Kind: "Build", Plural: "builds"},
		CRD:       deploy.CRD("build"),
		Children:  []metacontroller.Child{{Resource: metacontroller.Job, Update: metacontroller.OnDelete, DecodeAs: reflect.TypeFor[observedJob]()}},
		Related:   []metacontroller.Related{{Resource: metacontroller.Pod, Informs: true}},
		Reasons:   []string{reasonSucceeded, reasonFailed, reasonAlreadyBuilt, reasonRunning, reasonPending, reasonWaiting, reasonCanceled, reasonSuspended},
		Sync:      metacontroller.Sync(policy.sync),
		Customize: metacontroller.Customize(policy.customize),
	}
}

// What is written on Jobs and their Pods.
const (
	buildLabel         = "build"
	hashLabel          = "ci.zt.vapi.cc/hash"
	revisionAnnotation = "ci.zt.vapi.cc/revision"
)

// customize selects the Pods of the Build until it has ended: they show what it waits for, which
// step runs and what has failed. Deleting a Job deletes its Pods in the background, so that a Pod
// may outlive its Job; after an edit a build waits for such a Pod, whatever the policy says.
func (p Policy) customize(build *Build) ([]metacontroller.Rule, error) {
	if hasEnded(build) || !p.WatchPods.Includes(false) && build.Generation <= 1 {
		return nil, nil
	}
	return []metacontroller.Rule{{
		APIVersion:    metacontroller.Pod.APIVersion,
		Resource:      metacontroller.Pod.Plural,
		Namespace:     build.Namespace,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{buildLabel: build.Name}},
	}}, nil
}

// hasEnded reports whether the status tells how the newest build ended, and that no other runs. It
// does not run again before another edit, which is a newer generation.
func hasEnded(build *Build) bool {
	hash, err := hashOf(build)
	return err == nil && history(build.Status.History).of(hash) != nil && len(build.Status.Active) == 0
}
