package metacontroller

import (
	"errors"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operetta-dev/operetta/internal/rawjson"
)

// reader reads the objects of a request, each of them once.
type reader struct{ *rawjson.Reader }

// objects reads a map of maps of objects, kind by kind. The inner keys are ignored: they are names
// in hook version v1 and namespace/name in v2, and the objects have both. decodeAs returns
// the type into which objects of a kind are decoded, or nil.
func (r reader) objects(field, namespace string, decodeAs func(key string) reflect.Type) (Objects, error) {
	objects := Objects{byKind: map[string][]Snapshot{}}
	err := r.Members(func(name []byte) error {
		key := string(name)
		list, err := r.list(key, namespace, decodeAs(key))
		if errors.Is(err, rawjson.ErrKind) {
			return badRequest("%s[%.100q]: is not an object of objects by name", field, key)
		}
		if _, twice := objects.byKind[key]; twice {
			return badRequest("%s[%.100q] stands twice", field, key)
		}
		objects.byKind[key] = list
		return err
	})
	if errors.Is(err, rawjson.ErrKind) {
		return objects, badRequest("%s is not an object of objects by kind", field)
	}
	return objects, err
}

// list reads the objects of a kind. What is no object has no identity.
func (r reader) list(key, namespace string, decodeAs reflect.Type) ([]Snapshot, error) {
	var list []Snapshot
	known := Snapshot{Namespace: namespace}
	known.Kind, known.APIVersion, _ = strings.Cut(key, ".")
	err := r.Members(func(name []byte) error {
		var into reflect.Value
		if decodeAs != nil {
			into = reflect.New(decodeAs).Elem()
		}
		s, err := r.object(&known, into)
		if decodeAs != nil {
			s.decoded = into.Addr().Interface()
		}
		if s.Name == "" {
			s.key = string(name)
		}
		list = append(list, s)
		return ignoreKind(err)
	})
	return list, err
}

func ignoreKind(err error) error {
	if errors.Is(err, rawjson.ErrKind) {
		return nil
	}
	return err
}

// object reads the next value as an object of Kubernetes: its identity, and the parts that this
// package reads. Its members are decoded into a struct, too, unless that is invalid.
func (r reader) object(known *Snapshot, into reflect.Value) (s Snapshot, err error) {
	start, target := r.Offset(), rawjson.TargetOf(into)
	err = r.Members(func(name []byte) (err error) {
		switch string(name) {
		case "apiVersion":
			return r.identity(&s, &s.APIVersion, known.APIVersion, target, name)
		case "kind":
			return r.identity(&s, &s.Kind, known.Kind, target, name)
		case "metadata":
			s.hasMetadata = r.Kind() == '{'
			return ignoreKind(r.metadata(&s, known, target))
		case "spec":
			s.spec, err = r.ReadPart(target, name)
		case "status":
			s.status, err = r.ReadPart(target, name)
		default:
			err = r.ReadMember(target, name)
		}
		return err
	})
	s.raw = r.Since(start)
	return s, err
}

var (
	nameOfMetadata = []byte("metadata")
	objectMetaType = reflect.TypeFor[metav1.ObjectMeta]()
)

// metadata reads the metadata of an object. The managedFields of an ObjectMeta are not decoded:
// they are the largest part of many objects.
func (r reader) metadata(s, known *Snapshot, outer rawjson.Target) error {
	field := outer.Field(nameOfMetadata)
	if field.IsValid() && !rawjson.HasMembers(field.Type()) { // it decodes itself
		text, err := r.ReadPart(outer, nameOfMetadata)
		if err != nil {
			return err
		}
		again := reader{rawjson.NewReader(text)}
		defer again.Release()
		return again.metadata(s, known, rawjson.Target{})
	}
	target := rawjson.TargetOf(field)
	return r.Members(func(name []byte) (err error) {
		switch string(name) {
		case "name":
			return r.identity(s, &s.Name, "", target, name)
		case "namespace":
			return r.identity(s, &s.Namespace, known.Namespace, target, name)
		case "uid":
			return r.identity(s, (*string)(&s.UID), "", target, name)
		case "generation":
			s.generation, err = r.ReadPart(target, name)
		case "labels":
			s.labels, err = r.ReadPart(target, name)
		case "annotations":
			s.annotations, err = r.ReadPart(target, name)
		case "ownerReferences":
			s.owners, err = r.ReadPart(target, name)
		case "finalizers":
			s.finalizers, err = r.ReadPart(target, name)
		case "managedFields":
			if field.IsValid() && field.Type() == objectMetaType {
				s.managed, err = r.Value()
			} else {
				s.managed, err = r.ReadPart(target, name)
			}
		case "deletionTimestamp":
			s.Terminating = r.Kind() != 'n'
			err = r.ReadMember(target, name)
		default:
			err = r.ReadMember(target, name)
		}
		return err
	})
}

// identity reads a string, and decodes it into the member of the target. A known text is not copied.
func (r reader) identity(s *Snapshot, into *string, known string, target rawjson.Target, name []byte) error {
	value, err := r.Value()
	if err != nil {
		return err
	}
	if value[0] != '"' {
		s.damaged = true
		return nil
	}
	if text := rawjson.Unquote(value); string(text) == known {
		*into = known
	} else {
		*into = string(text)
	}
	field := target.Field(name)
	switch {
	case !field.IsValid():
		return nil
	case field.Kind() == reflect.String:
		field.SetString(*into)
		return nil
	default:
		return rawjson.Decode(value, field.Addr().Interface())
	}
}
