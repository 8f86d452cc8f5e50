package simulate

import "slices"

// podCache is what the built-in controllers have heard of Pods, by one watch that
// is late. What they have done themselves they know at once: each of the real ones
// remembers what it has made and deleted until it hears of that.
type podCache struct {
	*cache

	store   *store
	pending []news
}

// note puts a change of a Pod behind those that wait for their delivery, or hears
// of it where a controller has made it. A kubelet takes Pods away that go, and
// reports on all.
func (p *podCache) note(c change) {
	if c.ref.Kind != "Pod" || c.ref.APIVersion != "v1" {
		return
	}
	n := news{c.ref, p.store.objects[c.ref]}
	went := c.before != nil && c.before.GetDeletionTimestamp() != nil
	goes := c.after == nil || c.after.GetDeletionTimestamp() != nil
	if c.by == byKubernetes && (c.before == nil || goes && !went) {
		p.pending = slices.DeleteFunc(p.pending, func(old news) bool { return old.ref == c.ref })
		p.hear(n)
		return
	}
	p.pending = append(p.pending, n)
}

// hear makes a Pod what the cache has, and returns it as it was known and is.
func (p *podCache) hear(n news) (before, after Object) {
	if before = p.get(n.ref); before != nil {
		p.take(n.ref, before)
	}
	if n.r != nil {
		after = n.r.object
		p.add(n.ref, n.r)
	}
	return before, after
}

// hearOfPod tells the built-in controllers the next change of a Pod, if there is
// one.
func (k *kubernetes) hearOfPod() bool {
	if k.pods == nil || len(k.pods.pending) == 0 {
		return false
	}
	next := k.pods.pending[0]
	k.pods.pending = k.pods.pending[1:]
	before, after := k.pods.hear(next)
	k.enqueueOwners(before, after)
	return true
}

// hearOfPods tells them all.
func (k *kubernetes) hearOfPods() bool {
	done := false
	for k.hearOfPod() {
		done = true
	}
	return done
}

// podsOf returns the Pods that have an owner, as its controller knows them.
func (k *kubernetes) podsOf() *cache {
	if k.pods != nil {
		return k.pods.cache
	}
	return k.store.cache
}
