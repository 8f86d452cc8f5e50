package build

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

// The status stores which Jobs may run without being observed. A Job is created
// before the status is written, and that write may fail; Jobs and Pods come
// from separate caches, and each may be stale. So a status names a Job before
// it is created, until it has been observed, and then until it has ended or its
// Pods must have been observed, too.

const (
	// settleTime is how stale a cache may be: for that long it may not contain
	// a Job that was created, or a Pod whose Job is gone.
	settleTime = 5 * time.Second
	// commitDelay is the resync time of a hook that waits for its status to be
	// stored, which alone does not make Metacontroller call again.
	commitDelay = 2 * time.Second
	// announceDelay is the same for a Job that is about to be made.
	announceDelay = time.Second
)

// since returns a time from the status. A time in the future was written by
// another clock and counts as now, so that nothing waits for it.
func (s state) since(remembered metav1.Time) metav1.Time {
	if remembered.After(s.now) {
		return metav1.NewTime(s.now)
	}
	return remembered
}

func (s state) elapsed(since metav1.Time) time.Duration { return s.now.Sub(since.Time) }

// ask returns the Asked of the next status for the wanted Job, whether to
// create it now, and when to check again.
func (s state) ask() (asked *Asked, isMade bool, again time.Duration) {
	name, now := jobName(s.build, s.hash), metav1.NewTime(s.now)
	old := s.build.Status.Asked
	isTold := old != nil && old.JobName == name
	switch {
	case isTold && old.State == Made:
		asked = &Asked{name, Made, s.since(old.Since)}
		left := settleTime - s.elapsed(asked.Since)
		return asked, left <= 0, max(0, left)
	case isTold || s.build.Generation <= 1:
		// A Build whose spec has never changed cannot have asked for another
		// Job.
		return &Asked{name, Made, now}, true, 0
	default:
		return &Asked{name, Announced, now}, false, announceDelay
	}
}

// withdrawn returns the Job that was asked for by an earlier spec and may yet
// appear, or nil, and how long to wait for it.
func (s state) withdrawn() (*Asked, time.Duration) {
	old := s.build.Status.Asked
	if old == nil || old.JobName == jobName(s.build, s.hash) {
		return nil, 0
	}
	hash := hashIn(s.build, s.hash, old.JobName)
	if hash == "" || s.observed.job(hash) != nil || s.known.of(hash) != nil {
		return nil, 0
	}
	asked := &Asked{old.JobName, Withdrawn, metav1.NewTime(s.now)}
	if old.State == Withdrawn {
		asked.Since = s.since(old.Since)
	}
	if left := operator.ChildGrace - s.elapsed(asked.Since); left > 0 {
		return asked, left
	}
	return nil, 0
}

// active returns the running Jobs, and those that are gone but may still have a
// running Pod, with how long to wait for the latter and the name of one.
func (s state) active() (list []ActiveJob, left time.Duration, gone string) {
	for i := range s.observed.jobs {
		if job := &s.observed.jobs[i]; job.isRunning() && !job.isFormer {
			list = append(list, ActiveJob{Name: job.Name, UID: job.UID})
		}
	}
	for _, old := range s.build.Status.Active {
		hash := hashIn(s.build, s.hash, old.Name)
		if hash == "" || s.observed.job(hash) != nil || s.known.of(hash) != nil {
			continue
		}
		since := metav1.NewTime(s.now)
		if old.GoneSince != nil {
			since = s.since(*old.GoneSince)
		}
		rest := settleTime - s.elapsed(since)
		if rest <= 0 && !s.observed.hasRunningPod(hash) {
			continue
		}
		list = append(list, ActiveJob{old.Name, old.UID, &since})
		if rest > left {
			left, gone = rest, old.Name
		}
	}
	slices.SortFunc(list, func(a, b ActiveJob) int { return strings.Compare(a.Name, b.Name) })
	return list, left, gone
}
