package dump

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/simulate/apiserver"
	"github.com/operetta-dev/operetta/internal/simulate/composite"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Dump is the objects of a cluster at one time.
type Dump struct {
	entries map[apiserver.Ref]*entry
	byKind  map[string][]apiserver.Ref // by apiVersion and kind
	byOwner map[types.UID][]apiserver.Ref
	byLabel map[string][]apiserver.Ref            // by Metacontroller's label
	byValue map[string]map[string][]apiserver.Ref // by kind and a label, once it is looked for
	newest  time.Time
	asked   map[string]bool // kinds that are seen even if they are empty
	kept    packer
	texts   texts
	// isManaged is set where an object has managedFields, which kubectl hides by default.
	isManaged bool
}

// entry is an object that is decoded when it is needed.
type entry struct {
	text     packed
	uid      types.UID
	version  string
	labels   pairs
	owners   []types.UID
	strategy composite.Strategy // by which Metacontroller has written it, if it shows
}

// Get returns an object, or nil.
func (d *Dump) Get(ref apiserver.Ref) apiserver.Object {
	e := d.entries[ref]
	if e == nil {
		return nil
	}
	object, err := apiserver.ParseObject(d.kept.unpack(e.text))
	if err != nil {
		panic(fmt.Sprintf("%s was read, and cannot be read again: %s", ref, err))
	}
	return object
}

// Len is the number of objects.
func (d *Dump) Len() int { return len(d.entries) }

// Refs returns the objects of a kind, in the order of their names.
func (d *Dump) Refs(apiVersion, kind string) []apiserver.Ref { return d.byKind[apiVersion+" "+kind] }

// All returns references to all objects, in the order of kinds and names.
func (d *Dump) All() []apiserver.Ref {
	return slices.SortedFunc(maps.Keys(d.entries), apiserver.Ref.Compare)
}

// Objects returns the objects of a kind, in the order of their names.
func (d *Dump) Objects(apiVersion, kind string) iter.Seq[apiserver.Object] {
	return d.decoded(d.Refs(apiVersion, kind))
}

// ByOwner returns the objects that name an owner of that UID, in the order of kinds and names.
func (d *Dump) ByOwner(uid types.UID) iter.Seq[apiserver.Object] {
	return d.decoded(d.byOwner[uid])
}

func (d *Dump) decoded(refs []apiserver.Ref) iter.Seq[apiserver.Object] {
	return func(yield func(apiserver.Object) bool) {
		for _, ref := range refs {
			if !yield(d.Get(ref)) {
				return
			}
		}
	}
}

// Sees reports whether the dump has the kind: an object of it, or the word of [Dump.Asked].
func (d *Dump) Sees(apiVersion, kind string) bool {
	return len(d.Refs(apiVersion, kind)) > 0 || d.asked[apiVersion+" "+kind]
}

// Asked says for which kinds kubectl was asked: one without objects is empty then.
func (d *Dump) Asked(kinds ...metacontroller.Resource) {
	for _, kind := range kinds {
		d.asked[kind.APIVersion+" "+kind.Kind] = true
	}
}

// Newest returns the newest time at which anything in the dump was created, written or has changed
// its condition: the closest to the time of the dump that it has.
func (d *Dump) Newest() time.Time { return d.newest }

// Digest tells one dump from another, whatever the order of the objects.
func (d *Dump) Digest() string {
	sum := sha256.New()
	for _, ref := range d.All() {
		e := d.entries[ref]
		fmt.Fprintf(sum, "%s %s %s %s %s %s\n", ref.APIVersion, ref.Kind, ref.Namespace, ref.Name, e.uid, e.version)
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// add keeps an object. Of one that stands there twice the newer counts.
func (d *Dump) add(ref apiserver.Ref, e *entry) {
	if old := d.entries[ref]; old != nil && d.isNewer(old, e) {
		return
	}
	d.entries[ref] = e
}

// isNewer compares by resource version, and at last by text: in any order the same one counts.
func (d *Dump) isNewer(a, b *entry) bool {
	order := cmp.Or(len(a.version)-len(b.version), strings.Compare(a.version, b.version))
	if order == 0 {
		text := bytes.Clone(d.kept.unpack(a.text))
		order = bytes.Compare(text, d.kept.unpack(b.text))
	}
	return order > 0
}

// index fills the indexes when everything was read.
func (d *Dump) index() {
	for _, ref := range d.All() {
		e := d.entries[ref]
		kind := ref.APIVersion + " " + ref.Kind
		d.byKind[kind] = append(d.byKind[kind], ref)
		for _, uid := range e.owners {
			d.byOwner[uid] = append(d.byOwner[uid], ref)
		}
		if uid := e.labels.Get(composite.SelectorLabel); uid != "" {
			d.byLabel[uid] = append(d.byLabel[uid], ref)
		}
	}
}
