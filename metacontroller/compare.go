package metacontroller

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// Difference is how the observed children differ from those that the hook asks
// for now. Children are named as in Deployment/web, in the hook's order.
type Difference struct {
	// Missing are children that are not observed.
	Missing []string
	// Outdated are children that carry the hash of an older desired form or have an
	// OtherSelector, whose status.observedGeneration is
	// behind their metadata.generation, or that are being deleted.
	Outdated []string
	// Deleting are those of the Outdated that are being deleted.
	Deleting []string
	// NotUpdated are those of the Outdated that Metacontroller is to update:
	// children of an InPlace kind that carry another hash or have an OtherSelector.
	NotUpdated []string
	// OtherSelector are those of the NotUpdated that are not updated at all, because
	// they are workloads with another selector, which cannot be changed: others have
	// made them, whatever hash they carry. They are sent as they are.
	OtherSelector []string
	// Conflicts are those of the Missing that are left out of the answer, because
	// another controller owns an object of that name.
	Conflicts []Conflict
	// Waiting are not observed, and left out of the answer until their workload is a child, because
	// objects of their names belong to nobody: see [Child].SharedName. None of them is Missing.
	Waiting []string

	// EventFlags are the flags with which `kubectl events` shows the events of
	// the parent, where Metacontroller reports what the API server has refused.
	EventFlags string
}

// Add adds the result of another comparison for the same parent.
func (d *Difference) Add(other Difference) {
	d.Missing = append(d.Missing, other.Missing...)
	d.Outdated = append(d.Outdated, other.Outdated...)
	d.Deleting = append(d.Deleting, other.Deleting...)
	d.NotUpdated = append(d.NotUpdated, other.NotUpdated...)
	d.OtherSelector = append(d.OtherSelector, other.OtherSelector...)
	d.Conflicts = append(d.Conflicts, other.Conflicts...)
	d.Waiting = append(d.Waiting, other.Waiting...)
	d.EventFlags = cmp.Or(d.EventFlags, other.EventFlags)
}

// Compare encodes and stamps the children, and looks for each among those observed. Children
// that [Keep] made are left out. They are sent as they are now: a hook must not change
// one afterwards. Those that are compared at once belong together: a Service and its Deployment,
// say. The error is that of [Hash].
func (o Observed) Compare(children []Object) (Difference, error) {
	if o.call == nil { // it was made by hand
		o.call = &call{request: &request{}}
	}
	c, req := o.call.controller, o.call.request
	diff := Difference{EventFlags: c.eventsOf(req.Identity)}
	var unowned []AnsweredChild // of the Missing
	lacksWorkload := false
	for _, child := range children {
		if _, ok := child.(*kept); ok {
			continue
		}
		apiVersion, kind := complete(child)
		ref := kind + "/" + child.GetName()
		desired, err := req.encode(child)
		if err != nil {
			return diff, fmt.Errorf("child %s: %w", ref, err)
		}
		snapshot, found := o.Children.Find(apiVersion, kind, child.GetName())
		declared, _ := c.Child(apiVersion, kind)
		isInPlace := declared.Update == InPlace
		switch {
		case !found:
			diff.Missing = append(diff.Missing, ref)
			if taken, isTaken := c.taken(req, apiVersion, kind, child.GetName()); isTaken {
				diff.Conflicts = append(diff.Conflicts, taken)
			}
			if runsPods(apiVersion, kind) {
				lacksWorkload = true
			} else if c.isUnowned(req, apiVersion, kind, child.GetName()) {
				unowned = append(unowned, AnsweredChild{APIVersion: apiVersion, Kind: kind, Name: child.GetName()})
			}
			continue
		case snapshot.Terminating:
			diff.Deleting = append(diff.Deleting, ref)
		case isInPlace && hasOtherSelector(&snapshot, desired.wire):
			diff.NotUpdated = append(diff.NotUpdated, ref)
			diff.OtherSelector = append(diff.OtherSelector, ref)
			lacksWorkload = true
		case snapshot.annotation(HashAnnotation) != desired.hash:
			if isInPlace {
				diff.NotUpdated = append(diff.NotUpdated, ref)
			}
		case !snapshot.isGenerationBehind():
			continue
		}
		diff.Outdated = append(diff.Outdated, ref)
	}
	if lacksWorkload {
		req.wait(&diff, unowned)
	}
	return diff, nil
}

// isGenerationBehind reports whether status.observedGeneration is behind
// metadata.generation. Kinds without status.observedGeneration are never
// unseen.
func (s *Snapshot) isGenerationBehind() bool {
	seen, err := strconv.ParseInt(string(rawjson.Lookup(s.status, "observedGeneration")), 10, 64)
	if err != nil {
		return false
	}
	generation, err := strconv.ParseInt(string(s.generation), 10, 64)
	return err == nil && seen < generation
}

// hasOtherSelector reports whether an observed workload has another selector than is wanted.
// It cannot be changed, and Metacontroller would merge the desired one into that of an object
// which it has adopted, and be refused for ever.
func hasOtherSelector(observed *Snapshot, wire []byte) bool {
	if !strings.HasPrefix(observed.APIVersion, "apps/") {
		return false
	}
	was, wanted := rawjson.Lookup(observed.spec, "selector"), rawjson.Lookup(wire, "spec", "selector")
	if was == nil || wanted == nil || bytes.Equal(was, wanted) {
		return false
	}
	var before, after any
	return json.Unmarshal(was, &before) == nil && json.Unmarshal(wanted, &after) == nil && !reflect.DeepEqual(before, after)
}
