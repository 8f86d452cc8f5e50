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

// maxParentValues bounds what is validated at all, for each value costs 5 to 50
// microseconds, with the rules about it: see TestRulesAreCheap in hooks. A template of
// 200 containers with 20 variables each has half of that.
const maxParentValues = 20_000

// judgedCost is how much memory it takes to decode and validate a parent, for
// each byte of the decoded one: most of it is garbage at once.
const judgedCost = 4

// rememberedVerdicts is the number of parents of a kind whose verdict is
// remembered. Most requests are about a parent that has not changed.
const rememberedVerdicts = 4096

// schema is a Controller's CRD, which is compiled when it is first needed, and
// what it has said of parents. A verdict depends on nothing but the parent, so
// that it makes no difference but in time whether it is remembered.
type schema struct {
	load     func() (*crd.Schema, error)
	verdicts *lru.Cache // of [sha256.Size]byte to error
}

// schemas are those of all Controllers by the first byte of their CRD: a
// Controller is a value that is made anew at every turn, and its CRD is the same.
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
		verdicts: lru.New(rememberedVerdicts),
	})
	return made.(*schema)
}

// LoadCRD compiles the CRD, if there is one, so that the first request does not
// have to wait for it. Without it, that request does it.
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

// validate refuses a parent that the API server would refuse. The status is the
// hook's own and is not looked at.
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
	verdict, err := judge(ctx, definition, c.Parent, req)
	if err != nil {
		return err
	}
	s.verdicts.Add(key, verdict)
	return verdict
}

// judge returns a verdict, and an error where there is none.
func judge(ctx context.Context, definition *crd.Schema, kind Resource, req *request) (verdict, err error) {
	if values := valuesOf(req.parent); values > maxParentValues {
		return badRequest("the parent has more than %d values: write fewer", maxParentValues), nil
	}
	object := map[string]any{}
	var failure error
	var size int64
	members(req.parent, func(key, value []byte) bool {
		if name := string(key); isValidated(name) {
			size += judgedCost * anySize(value)
			if err = req.run.passing(size); err != nil {
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

// isValidated reports whether a member of the parent is judged as it stands.
// Of the metadata only a few names are, for the rest changes at every write.
func isValidated(member string) bool { return member != "metadata" && member != "status" }

// validatedMetadata are the members of metadata that a rule of a CRD can see.
var validatedMetadata = []string{"generateName", "name"}

// verdictKey tells apart parents of which the verdicts may differ.
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

// ValidatedValues returns how many values validation would look at in the parent
// of a request, which says what the request costs: each of them 5 to 50
// microseconds. It stops counting where a parent has more than is validated, and
// what is no request has none.
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

// countValues counts the values in a JSON text, or a few more.
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
