package metacontroller

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/internal/crd"
)

// respond builds the response, after checking that Metacontroller watches the
// kind of each child and that the answer is otherwise valid. An error changes
// nothing in the cluster; an invalid answer would. A child whose name another
// controller uses is left out.
func (c Controller) respond(req *request, out *outcome, taken *takenNames) ([]byte, []AnsweredChild, error) {
	if out.finalized && !req.finalizing {
		return nil, nil, errors.New("a hook that is not finalizing answers finalized: true")
	}
	if out.finalized && req.children.Len() > 0 && !req.keepsAll() {
		return nil, nil, errors.New("finalized: true is answered while children exist")
	}
	if req.finalizing {
		out.children = slices.DeleteFunc(out.children, func(child Object) bool { return !req.observes(child) })
	}
	if err := req.run.checkCount(req, len(out.children)); err != nil {
		return nil, nil, err
	}
	body := append(make([]byte, 0, min(1024+2048*len(out.children), managedAnswerBytes)), `{"status":`...)
	if !isObject(out.status) {
		return nil, nil, errors.New("the status is no object")
	}
	if err := req.run.spend(2 * int64(max(0, len(out.status)-maxStatusBytes))); err != nil {
		return nil, nil, err
	}
	status, err := fitStatus(cleanStatus(out.status), req.finalizing)
	if err != nil {
		return nil, nil, err
	}
	if err := req.checkRoom(status); err != nil {
		return nil, nil, err
	}
	body = append(append(body, status...), `,"children":[`...)
	children := make([]AnsweredChild, 0, len(out.children))
	seen := make(map[AnsweredChild]bool, len(out.children))
	var others others
	for i, object := range out.children {
		start := len(body)
		if len(children) > 0 {
			body = append(body, ',')
		}
		child, grown, err := c.answerChild(req, body, object, &others)
		if err != nil && child.Kept && req.finalizing && !req.keepsAll() && req.run.failure() == nil {
			body = body[:start] // a child that cannot be kept is deleted first: it must not block the deletion
			continue
		}
		body = grown
		id := AnsweredChild{APIVersion: child.APIVersion, Kind: child.Kind, Name: child.Name}
		if err == nil && seen[id] {
			err = errors.New("it is asked for twice")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("child %s/%s: %w", child.Kind, child.Name, err)
		}
		seen[id] = true
		if taken.isTaken(child) {
			body = body[:start]
			continue
		}
		children = append(children, child)
		if body, err = req.run.room(req, body, i+1, len(out.children)); err != nil {
			return nil, nil, err
		}
	}
	body = append(body, ']')
	if out.resync > 0 {
		seconds := (min(out.resync, maxResync) + time.Second - 1) / time.Second
		body = strconv.AppendInt(append(body, `,"resyncAfterSeconds":`...), int64(seconds), 10)
	}
	if req.finalizing {
		body = strconv.AppendBool(append(body, `,"finalized":`...), out.finalized)
	}
	return append(body, '}'), children, nil
}

// others is what counts of the children of an answer together, of those before one.
type others struct {
	quotes     quotes
	unreadable unreadable
}

// answerChild appends a child in its wire form, and returns what it is. It adds what counts of
// it to that of those before it.
func (c Controller) answerChild(req *request, body []byte, object Object, others *others) (AnsweredChild, []byte, error) {
	start := len(body)
	child, err := describe(object)
	if err == nil {
		body, err = c.appendChild(req, body, object)
	}
	declared, isDeclared := c.child(child.APIVersion, child.Kind)
	isInPlace := isDeclared && declared.Update == InPlace
	observed, exists := req.children.Find(child.APIVersion, child.Kind, child.Name)
	if err == nil && exists && isInPlace && !child.Kept && !req.finalizing && isSurelyRefused(observed.raw, body[start:]) {
		return c.answerChild(req, body[:start], Keep(observed), others)
	}
	if err == nil {
		err = c.checkChild(req, child, body[start:])
	}
	if err == nil && exists {
		err = others.unreadable.check(observed)
	}
	if err == nil && exists && isInPlace {
		err = checkMerged(observed, body[start:])
	}
	// A kept child is sent unchanged, so nothing is stored. If a user has made
	// it too large for Metacontroller, only this child cannot be applied.
	if err == nil && !child.Kept && len(body)-start > MaxAppliedBytes/mostPerByte {
		if size := appliedSize(body[start:]); size > MaxAppliedBytes {
			err = fmt.Errorf("the %d bytes of annotations that it is applied with are more than the %d that Metacontroller can apply", size, MaxAppliedBytes)
		}
	}
	if err == nil && !child.Kept && !req.finalizing {
		err = quotesOf(body[start:]).check(&others.quotes)
	}
	return child, body, err
}

// appendChild appends a child in its wire form, stamped.
func (c Controller) appendChild(req *request, body []byte, object Object) ([]byte, error) {
	if keep, ok := object.(*kept); ok {
		if !req.observes(keep) {
			return body, errors.New("it is kept and was not observed")
		}
		declared, found := c.child(keep.snapshot.APIVersion, keep.snapshot.Kind)
		if !found {
			return appendObject(body, keep) // checkChild refuses it
		}
		whole, err := keep.wire(declared.Update)
		if err != nil {
			return body, err
		}
		return appendObject(body, whole)
	}
	if _, _, err := stamped(object); err != nil {
		return body, err
	}
	return appendObject(body, object)
}

// describe returns the identity of a desired child, for logs and errors.
func describe(object Object) (AnsweredChild, error) {
	if object == nil {
		return AnsweredChild{}, errors.New("it is nil")
	}
	apiVersion, kind := complete(object)
	_, isKept := object.(*kept)
	child := AnsweredChild{APIVersion: apiVersion, Kind: kind, Name: object.GetName(), Kept: isKept}
	if apiVersion == "" || kind == "" {
		return child, fmt.Errorf("set apiVersion and kind, which are only known of the types of Kubernetes: this is a %T", object)
	}
	return child, nil
}

// checkChild makes sure that a child can be applied, observed and owned, and
// that it is the one that was described. It reads the bytes that are sent, so
// that no way of making a child bypasses it.
func (c Controller) checkChild(req *request, child AnsweredChild, wire []byte) error {
	sent, err := (reading{}).snapshot(wire)
	if err != nil {
		return fmt.Errorf("it %w", err)
	}
	if sent.APIVersion != child.APIVersion || sent.Kind != child.Kind || sent.Name != child.Name {
		return errors.New("it is sent as another object")
	}
	declared, found := c.child(child.APIVersion, child.Kind)
	if !found {
		return fmt.Errorf("%s does not declare the kind %s of apiVersion %q", c.Name(), child.Kind, child.APIVersion)
	}
	if problems := validation.IsDNS1123Subdomain(child.Name); len(problems) > 0 {
		return errors.New("its name is not a DNS name")
	}
	if sent.Namespace != "" && sent.Namespace != req.Namespace {
		return errors.New("it is not in the parent's namespace")
	}
	if req.Namespace != "" && crd.IsClusterKind(declared.Group(), declared.Kind) {
		return errors.New("it is cluster-scoped and the parent is not")
	}
	if lookup(wire, "status") != nil {
		return errors.New("a hook must not set the status of a child")
	}
	return checkMetadata(lookup(wire, "metadata"))
}

// childMetadata are the members of metadata that a hook may set. The others
// belong to the API server, to Metacontroller and to the garbage collector.
var childMetadata = []string{"name", "namespace", "labels", "annotations"}

// checkMetadata refuses metadata that a hook must not set.
func checkMetadata(metadata []byte) error {
	var refused string
	members(metadata, func(key, value []byte) bool {
		name := string(key)
		switch {
		case !slices.Contains(childMetadata, name):
			refused = "metadata." + name
		case name == "labels" && lookup(value, controllerUIDLabel) != nil:
			refused = "the label " + controllerUIDLabel
		case name == "annotations" && lookup(value, LastAppliedAnnotation) != nil:
			refused = "the annotation " + LastAppliedAnnotation
		}
		return refused == ""
	})
	if refused != "" {
		return fmt.Errorf("a hook must not set %s of a child", refused)
	}
	return nil
}

// observes reports whether a desired child exists. During teardown a child that
// does not exist is left out of the answer: finalize never creates.
func (req *request) observes(child Object) bool {
	if child == nil {
		return true // describe refuses it
	}
	apiVersion, kind := complete(child)
	_, found := req.children.Find(apiVersion, kind, child.GetName())
	return found
}
