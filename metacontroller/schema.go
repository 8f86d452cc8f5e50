package metacontroller

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/utils/lru"

	"github.com/operetta-dev/operetta/internal/crd"
)

// maxParentValues limits what is validated. Each value costs 5 to 50
// microseconds, with the rules about it: see TestRulesAreCheap in hooks. A
// template of 200 containers with 20 variables each has half of that.
const maxParentValues = 20_000

// validationCost is the memory to decode and validate a parent, as a multiple of
// the decoded parent. Most of it is garbage immediately.
const validationCost = 4

// cachedVerdicts is the number of validation results that are cached for
// each kind. Most requests are about a parent that has not changed.
const cachedVerdicts = 4096

// schema is a Controller's CRD, compiled when it is first needed, with a cache
// of validation results. A result depends on the parent alone, so the cache
// only saves time.
type schema struct {
	load     func() (*crd.Schema, error)
	verdicts *lru.Cache // of [sha256.Size]byte to error
}

// schemas caches the schemas of all Controllers by the first byte of their CRD:
// a Controller is a value that is built anew often, with the same CRD bytes.
var schemas sync.Map // of *byte to *schema

// schema returns nil for a Controller without a CRD.
func (c Controller) schema() *schema {
	if len(c.CRD) == 0 {
		return nil
	}
	if known, ok := schemas.Load(&c.CRD[0]); ok {
		return known.(*schema)
	}
	made, _ := schemas.LoadOrStore(&c.CRD[0], &schema{
		load:     func() (*crd.Schema, error) { return crd.Compiled(c.CRD, c.Parent.Version()) },
		verdicts: lru.New(cachedVerdicts),
	})
	return made.(*schema)
}

// LoadCRD compiles the CRD, if there is one. Otherwise the first request has to
// wait for that.
func (c Controller) LoadCRD() error {
	s := c.schema()
	if s == nil {
		return nil
	}
	if _, err := s.load(); err != nil {
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	return nil
}

// validate refuses a parent that the API server would refuse. The status is
// written by the hook and is not validated.
func (c Controller) validate(ctx context.Context, req *request) error {
	s := c.schema()
	if s == nil {
		return nil
	}
	key := verdictKey(req.parent)
	if verdict, ok := s.verdicts.Get(key); ok {
		verdict, _ := verdict.(error)
		return verdict
	}
	// Rules of the CRD may compare quantities.
	if err := checkQuantities(req.parent, c.ParentType()); err != nil {
		return err
	}
	definition, err := s.load()
	if err != nil {
		return fmt.Errorf("the parent cannot be validated: %w", err)
	}
	verdict, err := validateParent(ctx, definition, c.Parent, req)
	if err != nil {
		return err
	}
	s.verdicts.Add(key, verdict)
	return verdict
}

// validateParent validates the parent. It returns the verdict, and an error if there is
// none.
func validateParent(ctx context.Context, definition *crd.Schema, kind Resource, req *request) (verdict, err error) {
	if values := valuesOf(req.parent); values > maxParentValues {
		return badRequest("the parent has more than %d values: write fewer", maxParentValues), nil
	}
	object := map[string]any{}
	var failure error
	var size int64
	members(req.parent, func(key, value []byte) bool {
		if name := string(key); isValidated(name) {
			size += validationCost * anySize(value)
			if err = req.run.spendTemporarily(size); err != nil {
				return false
			}
			var member any
			if failure = decode(value, &member); failure != nil {
				failure = badRequest("the parent's member %.50q cannot be decoded: %s", name, failure)
				return false
			}
			object[name] = member
		}
		return true
	})
	if failure != nil || err != nil {
		return failure, err
	}
	metadata := map[string]any{}
	for _, name := range validatedMetadata {
		if value, ok := text(lookup(req.parent, "metadata", name)); ok {
			metadata[name] = value
		}
	}
	object["metadata"] = metadata
	definition.Prune(object)
	definition.Default(object)
	errs := definition.Validate(ctx, object)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("validating the parent: %w", context.Cause(ctx)) // the rules may have been cut short
	}
	if len(errs) > 0 {
		return badRequest("the API server would refuse this %s: %s", kind.Kind, crd.Brief(errs)), nil
	}
	return nil, nil
}

// isValidated reports whether a member of the parent is validated. Of the
// metadata only a few names are, because the rest changes at every write.
func isValidated(member string) bool { return member != "metadata" && member != "status" }

// validatedMetadata are the members of metadata that CRD rules can read.
var validatedMetadata = []string{"generateName", "name"}

// verdictKey returns the cache key of a parent.
func verdictKey(parent []byte) [sha256.Size]byte {
	h := sha256.New()
	part := func(name string, value []byte) {
		_, _ = fmt.Fprintf(h, "%d %s%d ", len(name), name, len(value)) // a hash cannot fail
		_, _ = h.Write(value)
	}
	members(parent, func(key, value []byte) bool {
		if isValidated(string(key)) {
			part(string(key), value)
		}
		return true
	})
	for _, name := range validatedMetadata {
		part("metadata."+name, lookup(parent, "metadata", name))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// ValidatedValues returns how many values validation would read in the parent
// of a request, as a measure of its cost: each takes 5 to 50 microseconds. It
// stops counting above the number that is validated, and returns 0 for anything
// that is not a request.
func ValidatedValues(body []byte) int {
	if !json.Valid(body) {
		return 0
	}
	return valuesOf(lookup(body, "parent"))
}

// valuesOf counts the values that are validated.
func valuesOf(parent []byte) (count int) {
	members(parent, func(key, value []byte) bool {
		if isValidated(string(key)) {
			count += countValues(value)
		}
		return count <= maxParentValues
	})
	return count
}

// countValues returns an upper estimate of the number of values in a JSON text.
func countValues(raw []byte) int {
	count := 1
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = skipString(raw, i) - 1
		case ',', '{', '[':
			count++
		}
	}
	return count
}
