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

	"github.com/operetta-dev/operetta/internal/lab/kube"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/internal/lab/cluster/composite"
	"github.com/operetta-dev/operetta/metacontroller"
)

// Dump is the objects of a cluster at one time.
type Dump struct {
	entries map[kube.Ref]*entry
	byKind  map[string][]*entry // by apiVersion and kind
	byOwner map[types.UID][]*entry
	byLabel map[string][]*entry            // by Metacontroller's label
	byValue map[string]map[string][]*entry // by kind and a label, once it is looked for
	newest  time.Time
	asked   map[string]bool // kinds that are seen even if they are empty
	// isManaged is set where an object has managedFields, which kubectl hides by default.
	isManaged bool
}

// entry is an object that is decoded when it is needed.
type entry struct {
	ref      kube.Ref
	text     []byte
	sum      [sha256.Size]byte // of the text
	uid      types.UID
	version  string
	labels   pairs
	owners   []types.UID
	strategy composite.Strategy // by which Metacontroller has written it, if it shows
}

// Get returns an object, or nil.
func (d *Dump) Get(ref kube.Ref) kube.Object {
	if e := d.entries[ref]; e != nil {
		return d.decode(e)
	}
	return nil
}

func (d *Dump) decode(e *entry) kube.Object {
	object, err := kube.ParseObject(e.text)
	if err != nil {
		panic(fmt.Sprintf("%s was read, and cannot be read again: %s", e.ref, err))
	}
	return object
}

// Len is the number of objects.
func (d *Dump) Len() int { return len(d.entries) }

// Refs returns the objects of a kind, in the order of their names.
func (d *Dump) Refs(apiVersion, kind string) (refs []kube.Ref) {
	for _, e := range d.ofKind(apiVersion, kind) {
		refs = append(refs, e.ref)
	}
	return refs
}

func (d *Dump) ofKind(apiVersion, kind string) []*entry { return d.byKind[apiVersion+" "+kind] }

// All returns references to all objects, in the order of kinds and names.
func (d *Dump) All() []kube.Ref {
	return slices.SortedFunc(maps.Keys(d.entries), kube.Ref.Compare)
}

// Objects returns the objects of a kind, in the order of their names.
func (d *Dump) Objects(apiVersion, kind string) iter.Seq[kube.Object] {
	return d.decoded(d.ofKind(apiVersion, kind))
}

// ByOwner returns the objects that name an owner of that UID, in the order of kinds and names.
func (d *Dump) ByOwner(uid types.UID) iter.Seq[kube.Object] {
	return d.decoded(d.byOwner[uid])
}

func (d *Dump) decoded(entries []*entry) iter.Seq[kube.Object] {
	return func(yield func(kube.Object) bool) {
		for _, e := range entries {
			if !yield(d.decode(e)) {
				return
			}
		}
	}
}

// Sees reports whether the dump has the kind: an object of it, or the word of [Dump.Asked].
func (d *Dump) Sees(apiVersion, kind string) bool {
	return len(d.ofKind(apiVersion, kind)) > 0 || d.asked[apiVersion+" "+kind]
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
		sum.Write(d.entries[ref].sum[:])
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// add keeps an object. Of one that stands there twice the newer counts.
func (d *Dump) add(e *entry) {
	if old := d.entries[e.ref]; old != nil && isNewer(old, e) {
		return
	}
	d.entries[e.ref] = e
}

// isNewer compares by resource version, and at last by content: in any order the same one counts.
func isNewer(a, b *entry) bool {
	return cmp.Or(len(a.version)-len(b.version), strings.Compare(a.version, b.version), bytes.Compare(a.sum[:], b.sum[:])) > 0
}

// index fills the indexes when everything was read.
func (d *Dump) index() {
	for _, ref := range d.All() {
		e := d.entries[ref]
		kind := ref.APIVersion + " " + ref.Kind
		d.byKind[kind] = append(d.byKind[kind], e)
		for _, uid := range e.owners {
			d.byOwner[uid] = append(d.byOwner[uid], e)
		}
		if uid := e.labels.Get(composite.SelectorLabel); uid != "" {
			d.byLabel[uid] = append(d.byLabel[uid], e)
		}
	}
}
