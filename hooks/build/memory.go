package build

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/operator"
)

const (
	// settleTime is how stale a cache may be: for that long it may not contain
	// a Pod whose Job is gone.
	settleTime = 5 * time.Second
	// unseenTime is how long a Pod may take to end after its Job is gone, where Pods are not
	// read: the 30 s that it is given, and some for the garbage collector.
	unseenTime = 45 * time.Second
	// commitDelay is the resync time of a hook that waits for its status to be
	// stored, which alone does not make Metacontroller call again.
	commitDelay = 2 * time.Second
	// announceDelay is the same for a Job that is about to be made.
	announceDelay = time.Second
)

// remember lists the Jobs that may run. A Job is created before the status is
// written, and Jobs and Pods come from separate caches, each of which may be
// stale. So a status names a Job before it is created, and then until it has
// ended, or those that are gone must have been seen.
func (p *plan) remember(s state) {
	for i := range s.observed.jobs {
		if job := &s.observed.jobs[i]; job.isRunning() && !job.isFormer {
			active := ActiveJob{Name: job.Name, UID: job.UID}
			if job.hash == s.hash && job.triesAgain() {
				active.LacksPodSince = s.lacksPodSince(job)
			}
			p.active = append(p.active, active)
		}
	}
	for _, old := range s.build.Status.Active {
		hash := hashIn(s.build, s.hash, old.Name)
		hasEnded := s.known.of(hash) != nil
		if hash == "" || s.observed.job(hash) != nil || hasEnded && !s.known.isCanceled(hash) {
			continue
		}
		p.rememberUnseen(s, old, hash == s.hash && !hasEnded)
	}
}

// rememberUnseen decides on a Job of the status that is not observed: one that was
// asked for may yet appear, and one that is gone may have left a Pod.
func (p *plan) rememberUnseen(s state, old ActiveJob, isWanted bool) {
	now := metav1.NewTime(s.now)
	since, isAnnounced := now, isWanted && old.UID == "" && old.GoneSince == nil
	isOfAnother := old.Name != jobName(s.build, s.hash)
	isWithdrawn := isOfAnother && s.build.Status.JobName == old.Name // since now
	if old.GoneSince != nil && old.GoneSince.Before(&now) && !isWithdrawn {
		since = *old.GoneSince
	}
	wait, text := settleTime, "waiting 5s after Job/"+old.Name+" is gone: a Pod of it may not be observed yet"
	switch {
	case old.UID == "" && !isWanted:
		wait, text = operator.ChildGrace, "Job/"+old.Name+" was asked for and is not observed yet"
	case old.UID != "" && !s.observed.seesPods:
		wait, text = unseenTime, "waiting 45s after Job/"+old.Name+" is gone: a Pod of it may still run"
	}
	left := wait - s.now.Sub(since.Time)
	switch {
	case isAnnounced || isWanted && left <= 0:
		p.isTold = true
		if old.UID != "" {
			since = now
		}
		p.active = append(p.active, ActiveJob{Name: old.Name, GoneSince: &since})
		return
	case left <= 0:
		return
	case isWanted && old.UID == "":
		p.missing = []string{"Job/" + old.Name}
	case isWanted || policy(s.build) != Allow:
		p.waits = text
	}
	p.active = append(p.active, ActiveJob{Name: old.Name, UID: old.UID, GoneSince: &since})
	p.resyncWithin(left)
}

// begin creates the wanted Job, once the status tells that it may exist. A Build
// whose spec has never changed cannot have asked for another Job, and does not
// wait for that.
func (p *plan) begin(s state) {
	name, now := jobName(s.build, s.hash), metav1.NewTime(s.now)
	switch p.make = p.isTold || s.build.Generation <= 1; {
	case p.isTold:
	case p.make:
		p.active = append(p.active, ActiveJob{Name: name, GoneSince: &now})
	default:
		p.active = append(p.active, ActiveJob{Name: name})
		p.missing = []string{"Job/" + name}
		p.resyncWithin(announceDelay)
	}
}
