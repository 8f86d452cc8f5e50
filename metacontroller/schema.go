package metacontroller

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"

	"k8s.io/utils/lru"

	"github.com/operetta-dev/operetta/internal/crd"
	"github.com/operetta-dev/operetta/internal/rawjson"
)

// cachedVerdicts is the number of validation results that are cached for
// each kind. Most requests are about a parent that has not changed.
const cachedVerdicts = 4096

// schema is a version of a CRD, compiled when it is first needed, with a cache
// of validation results. A result depends on the parent alone, so the cache
// only saves time.
type schema struct {
	load     func() (*crd.Schema, error)
	verdicts *lru.Cache // of uint64 to error
}

// version returns a version of a definition.
func (c *CRD) version(name string) *schema {
	if known, ok := c.versions.Load(name); ok {
		return known.(*schema)
	}
	made, _ := c.versions.LoadOrStore(name, &schema{
		load:     sync.OnceValues(func() (*crd.Schema, error) { return crd.Load(c.text, name) }),
		verdicts: lru.New(cachedVerdicts),
	})
	return made.(*schema)
}

// Schema returns the compiled CRD, or nil if there is none.
func (c Controller) Schema() (*crd.Schema, error) {
	if c.CRD == nil {
		return nil, nil //nolint:nilnil // nothing is validated
	}
	return c.CRD.version(c.Parent.Version()).load()
}

// LoadCRD compiles the CRD, if there is one. Otherwise the first request has to
// wait for that.
func (c Controller) LoadCRD() error {
	if _, err := c.Schema(); err != nil {
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	return nil
}

// validate refuses a parent that the API server would refuse. The status is
// written by the hook and is not validated.
func (c Controller) validate(ctx context.Context, req *request) error {
	if c.CRD == nil {
		return nil
	}
	s := c.CRD.version(c.Parent.Version())
	key := verdictKey(&req.parent)
	if verdict, ok := s.verdicts.Get(key); ok {
		verdict, _ := verdict.(error)
		return verdict
	}
	definition, err := s.load()
	if err != nil {
		return fmt.Errorf("the parent cannot be validated: %w", err)
	}
	object := map[string]any{}
	if err := decode(req.parent.raw, &object); err != nil {
		return badRequest("the parent cannot be decoded: %s", err)
	}
	delete(object, "status")
	metadata := map[string]any{"name": req.Name} // what rules can read of it
	if name, ok := rawjson.Text(rawjson.Lookup(req.parent.raw, "metadata", "generateName")); ok {
		metadata["generateName"] = name
	}
	object["metadata"] = metadata
	definition.Prune(object)
	definition.Default(object)
	errs := definition.Validate(ctx, object)
	if err := givenUp(ctx); err != nil {
		return err // the rules may have been cut short
	}
	var verdict error
	if len(errs) > 0 {
		verdict = badRequest("the API server would refuse this %s: %s", c.Parent.Kind, crd.Brief(errs))
	}
	s.verdicts.Add(key, verdict)
	return verdict
}

var verdictSeed = maphash.MakeSeed()

// verdictKey returns the cache key of a parent: a hash of all that is validated. It is of the
// content, and not of the uid and generation, for a request that was written by hand
// may have those of another.
func verdictKey(parent *Snapshot) uint64 {
	var h maphash.Hash
	h.SetSeed(verdictSeed)
	_, _ = h.WriteString(parent.Name) // a hash cannot fail
	rawjson.Members(parent.raw, func(key, value []byte) bool {
		if name := string(key); name != "metadata" && name != "status" {
			_ = h.WriteByte(0)
			_, _ = h.Write(key)
			_ = h.WriteByte(0)
			_, _ = h.Write(value)
		}
		return true
	})
	return h.Sum64()
}
