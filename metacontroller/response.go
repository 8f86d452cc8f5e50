package metacontroller

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/rawjson"
)

// maxStatusBytes is the size of the largest status. The API server stores 1.5
// MiB of an object, spec and metadata included.
const maxStatusBytes = 1 << 20

// respond builds the response and what is told of it, after checking that Metacontroller watches the
// kind of each child and that the answer is otherwise valid. An error changes
// nothing in the cluster; an invalid answer would. A child whose name another
// controller uses is left out, and so is one that waits for its workload.
func (c Controller) respond(answer *Answer, req *request, out *outcome, maxBytes int64) error {
	if out.finalized && !req.finalizing {
		return errors.New("a hook that is not finalizing answers finalized: true")
	}
	if out.finalized && req.children.Len() > 0 && !req.keepsAll() {
		return errors.New("finalized: true is answered while children exist")
	}
	if !rawjson.IsObject(out.status) {
		return errors.New("the status is no object")
	}
	if req.finalizing { // it never creates
		out.children = slices.DeleteFunc(out.children, func(child Object) bool { return !req.observes(child) })
	}
	if len(out.status) > maxStatusBytes {
		if !req.finalizing {
			return fmt.Errorf("the status would have %d bytes, and no more than %d can be stored: make the spec ask for less", len(out.status), maxStatusBytes)
		}
		out.status = []byte("{}") // nothing may stop a teardown
	}
	size := len(out.status) + 128 + 128*len(out.children) // about that of the answer
	for _, child := range out.children {
		size += len(req.encoded[child].wire)
	}
	body := append(make([]byte, 0, size), `{"status":`...)
	body = append(append(body, out.status...), `,"children":[`...)
	body, err := c.appendChildren(answer, req, out, body, maxBytes)
	if err != nil {
		return err
	}
	body = append(body, ']')
	if out.resync > 0 {
		seconds := (min(out.resync, maxResync) + time.Second - 1) / time.Second
		body = strconv.AppendInt(append(body, `,"resyncAfterSeconds":`...), int64(seconds), 10)
	}
	if req.finalizing {
		body = strconv.AppendBool(append(body, `,"finalized":`...), out.finalized)
	}
	answer.Body = append(body, '}')
	answer.Ready, answer.Finalized = readyOf(out.status), out.finalized && !req.isLeaving()
	answer.Changes.Status = !sameStatus(req.parent.status, out.status)
	return nil
}

// appendChildren appends the children of an answer, as a list in JSON without its brackets.
func (c Controller) appendChildren(answer *Answer, req *request, out *outcome, body []byte, maxBytes int64) ([]byte, error) {
	changes := Changes{Removed: req.children.staying()}
	children := make([]AnsweredChild, 0, len(out.children))
	seen := make(map[AnsweredChild]bool, len(out.children))
	for _, object := range out.children {
		child, wire, err := c.answerChild(req, object)
		if err != nil && child.Kept && req.finalizing && !req.keepsAll() {
			continue // a child that cannot be kept is deleted first: it must not block the deletion
		}
		id := AnsweredChild{APIVersion: child.APIVersion, Kind: child.Kind, Name: child.Name}
		if err == nil && seen[id] {
			err = errors.New("it is asked for twice")
		}
		if err != nil {
			return nil, fmt.Errorf("child %s/%s: %w", child.Kind, child.Name, err)
		}
		seen[id] = true
		if _, _, isTaken := c.holder(req, child.APIVersion, child.Kind, child.Name); isTaken || req.waiting[id] {
			changes.Withheld++
			continue
		}
		c.changed(&changes, req, child, object)
		if len(children) > 0 {
			body = append(body, ',')
		}
		children, body = append(children, child), append(body, wire...)
		if int64(len(body)) > maxBytes {
			return nil, fmt.Errorf("the answer with its %d children would be larger than %d bytes: make the spec ask for less, or raise --max-answer-bytes", len(out.children), maxBytes)
		}
	}
	answer.Children, answer.Changes = children, changes
	return body, nil
}

// answerChild returns what a child is, and its wire form after all checks.
func (c Controller) answerChild(req *request, object Object) (AnsweredChild, []byte, error) {
	child, err := describe(object)
	if err != nil {
		return child, nil, err
	}
	declared, isDeclared := c.Child(child.APIVersion, child.Kind)
	if !isDeclared {
		return child, nil, fmt.Errorf("%s does not declare the kind %s of apiVersion %q", c.Name(), child.Kind, child.APIVersion)
	}
	wire, err := req.wire(object, declared)
	if err != nil {
		return child, nil, err
	}
	if observed, exists := req.children.Find(child.APIVersion, child.Kind, child.Name); exists && !child.Kept && declared.Update == InPlace {
		if !req.finalizing && hasOtherSelector(&observed, wire) {
			return c.answerChild(req, Keep(observed)) // each update would be refused
		}
		wire = withReplicas(&observed, wire)
	}
	// A kept child is sent unchanged, so nothing is stored. If a user has made
	// it too large for Metacontroller, only this child cannot be applied.
	if size := appliedSize(wire); !child.Kept && size > MaxAppliedBytes {
		return child, nil, fmt.Errorf("the %d bytes of annotations that it is applied with are more than the %d that Metacontroller can apply", size, MaxAppliedBytes)
	}
	return child, wire, c.checkChild(req, child, wire)
}

// wire returns a child as it is sent, stamped. It is encoded unless Compare has done so.
func (req *request) wire(object Object, declared Child) ([]byte, error) {
	if keep, ok := object.(*kept); ok {
		if !req.observes(keep) {
			return nil, errors.New("it is kept and was not observed")
		}
		return keep.wire(declared.Update)
	}
	if known, ok := req.encoded[object]; ok {
		return known.wire, nil
	}
	desired, err := req.encode(object)
	return desired.wire, err
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
	var apiVersion, kind string
	var metadata []byte
	hasStatus := false
	rawjson.Members(wire, func(key, value []byte) bool {
		switch string(key) {
		case "apiVersion":
			apiVersion, _ = rawjson.Text(value)
		case "kind":
			kind, _ = rawjson.Text(value)
		case "metadata":
			metadata = value
		case "status":
			hasStatus = true
		}
		return true
	})
	if apiVersion != child.APIVersion || kind != child.Kind {
		return errors.New("it is sent as another object")
	}
	if hasStatus {
		return errors.New("a hook must not set the status of a child")
	}
	declared, _ := c.Child(child.APIVersion, child.Kind)
	if req.Namespace != "" && crd.IsClusterKind(declared.Group(), declared.Kind) {
		return errors.New("it is cluster-scoped and the parent is not")
	}
	return checkMetadata(req, child, metadata)
}

// childMetadata are the members of metadata that a hook may set. The others
// belong to the API server, to Metacontroller and to the garbage collector.
var childMetadata = []string{"name", "namespace", "labels", "annotations"}

func checkMetadata(req *request, child AnsweredChild, metadata []byte) error {
	var err error
	var name string
	rawjson.Members(metadata, func(key, value []byte) bool {
		switch member := string(key); {
		case !slices.Contains(childMetadata, member):
			err = fmt.Errorf("a hook must not set metadata.%s of a child", member)
		case member == "name":
			name, _ = rawjson.Text(value)
		case member == "namespace":
			if namespace, _ := rawjson.Text(value); namespace != req.Namespace {
				err = errors.New("it is not in the parent's namespace")
			}
		case member == "labels" && rawjson.Lookup(value, controllerUIDLabel) != nil:
			err = fmt.Errorf("a hook must not set the label %s of a child", controllerUIDLabel)
		case member == "annotations" && rawjson.Lookup(value, LastAppliedAnnotation) != nil:
			err = fmt.Errorf("a hook must not set the annotation %s of a child", LastAppliedAnnotation)
		}
		return err == nil
	})
	switch {
	case err != nil:
		return err
	case name == "":
		return errors.New("it has no metadata.name")
	case name != child.Name:
		return errors.New("it is sent as another object")
	case len(validation.IsDNS1123Subdomain(name)) > 0:
		return errors.New("its name is not a DNS name")
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
