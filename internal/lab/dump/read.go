package dump

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/documents"
	"github.com/operetta-dev/operetta/internal/lab/cluster/apiserver"
	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
	"github.com/operetta-dev/operetta/internal/rawjson"
	"github.com/operetta-dev/operetta/metacontroller"
)

// ErrEmpty is that there is no object.
var ErrEmpty = errors.New("has no object: write kubectl get KINDS -A -o json, with the kinds of your custom resources and of their children")

// Read reads Lists and single objects, one after the other, in JSON or YAML. JSON may have any
// length, as it is read object by object. Errors complete a sentence that begins with the
// name of what is read.
func Read(r io.Reader) (*Dump, error) {
	d := &Dump{
		entries: map[kube.Ref]*entry{}, byKind: map[string][]*entry{},
		byOwner: map[types.UID][]*entry{}, byLabel: map[string][]*entry{},
		byValue: map[string]map[string][]*entry{}, asked: map[string]bool{},
	}
	buffered := bufio.NewReaderSize(r, 64<<10)
	var err error
	if isJSON(buffered) {
		err = d.readJSON(buffered)
	} else {
		err = d.readYAML(buffered)
	}
	if err != nil {
		return nil, err
	}
	if len(d.entries) == 0 {
		return nil, ErrEmpty
	}
	d.index()
	return d, nil
}

// isJSON looks at the first character that is no space.
func isJSON(r *bufio.Reader) bool {
	for {
		c, err := r.ReadByte()
		if err != nil {
			return false
		}
		if strings.IndexByte(" \t\r\n", c) < 0 {
			_ = r.UnreadByte() // it was read just now
			return c == '{' || c == '['
		}
	}
}

func (d *Dump) readYAML(r io.Reader) error {
	text, err := documents.Read(r)
	if err != nil {
		return fmt.Errorf("%w, or print JSON, which may have any length", err)
	}
	objects, err := documents.Objects(text)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := d.readJSON(bytes.NewReader(object)); err != nil {
			return err
		}
	}
	return nil
}

// readJSON reads values until the end of a text.
func (d *Dump) readJSON(r io.Reader) error {
	decoder := jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true))
	for {
		kind := decoder.PeekKind()
		var err error
		switch kind {
		case '{':
			err = d.readObject(decoder)
		case '[':
			err = d.readItems(decoder)
		default:
			if _, err = decoder.ReadToken(); errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = errors.New("is neither a List nor an object")
			}
		}
		if err != nil {
			return told(err, decoder.InputOffset())
		}
	}
}

// told says where a text is wrong.
func told(err error, offset int64) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("is cut off after %d bytes: save the dump again", offset)
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("is not valid JSON at byte %d: %s", syntax.ByteOffset, strings.TrimPrefix(syntax.Err.Error(), "jsontext: "))
	}
	return err
}

// readObject reads an object, or the items of a List without keeping all of its text.
func (d *Dump) readObject(decoder *jsontext.Decoder) error {
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	members, isList := []byte{'{'}, false
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadValue()
		if err != nil {
			return err
		}
		isItems := string(name) == `"items"`
		member := append(bytes.Clone(name), ':')
		if isItems && decoder.PeekKind() == '[' {
			isList = true
			if err := d.readItems(decoder); err != nil {
				return err
			}
			continue
		}
		value, err := decoder.ReadValue()
		if err != nil {
			return err
		}
		if len(members) > 1 {
			members = append(members, ',')
		}
		members = append(append(members, member...), value...)
	}
	if _, err := decoder.ReadToken(); err != nil || isList {
		return err
	}
	return d.read(append(members, '}'))
}

func (d *Dump) readItems(decoder *jsontext.Decoder) error {
	if _, err := decoder.ReadToken(); err != nil {
		return err
	}
	for decoder.PeekKind() != ']' {
		value, err := decoder.ReadValue()
		if err != nil {
			return err
		}
		if err := d.read(value); err != nil {
			return err
		}
	}
	_, err := decoder.ReadToken()
	return err
}

// head is what is read of every object.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name              string            `json:"name"`
		Namespace         string            `json:"namespace"`
		UID               types.UID         `json:"uid"`
		ResourceVersion   string            `json:"resourceVersion"`
		CreationTimestamp string            `json:"creationTimestamp"`
		Labels            map[string]string `json:"labels"`
		OwnerReferences   []struct {
			UID types.UID `json:"uid"`
		} `json:"ownerReferences"`
		ManagedFields []struct {
			Time      string                            `json:"time"`
			Manager   string                            `json:"manager"`
			Operation metav1.ManagedFieldsOperationType `json:"operation"`
		} `json:"managedFields"`
	} `json:"metadata"`
}

func (d *Dump) read(text jsontext.Value) error {
	number := len(d.entries) + 1
	if err := text.Compact(); err != nil {
		return err
	}
	var h head
	if err := rawjson.Decode(text, &h); err != nil {
		return fmt.Errorf("has no Kubernetes object as object %d: %w", number, err)
	}
	if h.APIVersion == "" || h.Kind == "" || h.Metadata.Name == "" {
		return fmt.Errorf("has no apiVersion, kind or metadata.name in object %d: print it with kubectl get -o json", number)
	}
	ref := kube.Ref{
		APIVersion: same(h.APIVersion), Kind: same(h.Kind), Namespace: same(h.Metadata.Namespace), Name: h.Metadata.Name,
	}
	e := &entry{ref: ref, sum: sha256.Sum256(text), uid: h.Metadata.UID, version: h.Metadata.ResourceVersion, labels: pairsOf(h.Metadata.Labels)}
	for _, owner := range h.Metadata.OwnerReferences {
		e.owners = append(e.owners, owner.UID)
	}
	d.note(h.Metadata.CreationTimestamp)
	d.isManaged = d.isManaged || len(h.Metadata.ManagedFields) > 0
	for _, entry := range h.Metadata.ManagedFields {
		d.note(entry.Time)
		if entry.Operation == metav1.ManagedFieldsOperationApply && entry.Manager == apiserver.Applier {
			e.strategy = composite.ServerSideApply
		}
	}
	if bytes.Contains(text, []byte(`"`+metacontroller.LastAppliedAnnotation+`":`)) {
		e.strategy = composite.DynamicApply
	}
	rawjson.Elements(rawjson.Lookup(text, "status", "conditions"), func(condition []byte) bool {
		if rawjson.IsObject(condition) {
			for _, field := range []string{"lastTransitionTime", "lastHeartbeatTime"} { // the latter of a Node
				at, _ := rawjson.Text(rawjson.Lookup(condition, field))
				d.note(at)
			}
		}
		return true
	})
	e.text = bytes.Clone(text)
	d.add(e)
	return nil
}

// note looks whether a time is the newest.
func (d *Dump) note(text string) {
	if at, err := time.Parse(time.RFC3339, text); err == nil && at.After(d.newest) {
		d.newest = at.UTC()
	}
}
