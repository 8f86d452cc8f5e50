package record

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/corpus"
	"github.com/operetta-dev/operetta/metacontroller"
)

// A hook derives hashes from its parent, and puts them into names, labels and
// annotations of its children. From a masked parent it derives others, and
// would treat every observed child as outdated. So the hook is called with
// both, and where the answers differ in a hash only, the new hash replaces the
// old one in the recording. This also shows which strings in a status or a
// label come from the hook: those that are also in its answer to a masked
// parent.

// answers are a hook's answers to parts of a request and to the whole. The
// parts come first, because more children are new in them.
type answers []any

// asker calls the hook of an exchange again, within limits.
type asker struct {
	Exchange

	ctx context.Context // ends when no time is left for the exchange
}

// Limits for calling a hook again.
const (
	// askTime is for all calls for one exchange.
	askTime = 3 * time.Second
)

// ask calls a hook, and fails if the answer is too large to be recorded.
func (a asker) ask(hook metacontroller.HookName, now time.Time, request []byte) (metacontroller.Answer, error) {
	answer, err := a.Controller.CallContext(a.ctx, hook, now, request, metacontroller.Limits{
		MaxAnswerBytes: mostAnew,
	})
	if err == nil {
		err = a.ctx.Err()
	}
	return answer, err
}

// original returns the answers to the original request.
func (a asker) original() answers {
	return append(a.parts(a.Request), decoded(a.Answer))
}

// masked returns the answers to the masked request.
func (a asker) masked(request []byte) answers {
	var whole any
	if c, err := corpus.NewAsking(a.ask, a.Controller, a.Hook, withTime(a.Exchange, request)); err == nil {
		whole = a.answerTo(c.Request)
	}
	return append(a.parts(request), whole)
}

// parts returns the answers to a request without children, and to one without
// related objects either. An error is nil.
func (a asker) parts(request []byte) answers {
	var all answers
	for _, without := range [][]string{{"children"}, {"children", "related"}} {
		part, err := reduced(a.Controller, a.Hook, request, without)
		if err != nil {
			all = append(all, nil)
			continue
		}
		all = append(all, a.answerTo(part))
	}
	return all
}

func (a asker) answerTo(request []byte) any {
	answer, err := a.ask(a.Hook, a.Now, request)
	if err != nil {
		return nil
	}
	return decoded(answer.Body)
}

// decoded returns the part of an answer that is compared.
func decoded(answer []byte) any {
	var response struct {
		Status   any               `json:"status"`
		Related  any               `json:"relatedResources"`
		Children []json.RawMessage `json:"children"`
	}
	if json.Unmarshal(answer, &response) != nil {
		return nil
	}
	// The children of a long answer are much alike: the first ones are enough.
	children, size := []any{}, 0
	for _, raw := range response.Children {
		var child any
		if size += len(raw); size > mostCompared || json.Unmarshal(raw, &child) != nil {
			break
		}
		children = append(children, child)
	}
	return map[string]any{"status": response.Status, "related": response.Related, "children": children}
}

// mostCompared is how many bytes of the children of an answer are read.
const mostCompared = 256 << 10

// reduced returns a request without some of its objects and without the parent's
// status.
func reduced(c metacontroller.Controller, hook metacontroller.HookName, request []byte, without []string) ([]byte, error) {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(request, &whole); err != nil {
		return nil, err
	}
	var parent map[string]json.RawMessage
	if err := json.Unmarshal(whole["parent"], &parent); err != nil {
		return nil, err
	}
	delete(parent, "status")
	encoded, err := json.Marshal(parent)
	if err != nil {
		return nil, err
	}
	whole["parent"] = encoded
	for _, name := range without {
		delete(whole, name)
	}
	if encoded, err = json.Marshal(whole); err != nil {
		return nil, err
	}
	return corpus.Complete(c, hook, encoded)
}

// learn compares the answers to a request with those to the masked one, and
// reports whether it has learned anything new.
func (m *mask) learn(original, masked answers) bool {
	before := len(m.known.said) + len(m.known.words)
	l := learner{mask: m, pairs: map[string]string{}}
	for i := range original {
		l.collect(masked[i], "")
		l.compare(original[i], masked[i])
	}
	changed := false
	for old, derived := range l.pairs {
		if m.places.hashes[old] != derived {
			m.places.hashes[old] = derived
			changed = true
		}
	}
	return changed || len(m.known.said)+len(m.known.words) > before
}

type learner struct {
	mask  *mask
	pairs map[string]string
}

// collect stores the strings of an answer.
func (l *learner) collect(value any, field string) {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			l.collect(member, key)
		}
	case []any:
		for _, item := range value {
			l.collect(item, field)
		}
	case string:
		if len(value) > 1024 || strings.Contains(value, "redacted-") {
			return
		}
		l.mask.known.said[value] = true
		if field == "message" {
			for _, word := range strings.Fields(value) {
				l.mask.known.words[strings.TrimRight(word, ".,:;")] = true
			}
		}
	}
}

// compare walks through two answers in parallel, and stores hashes at the same
// places.
func (l *learner) compare(a, b any) {
	switch a := a.(type) {
	case map[string]any:
		other, _ := b.(map[string]any)
		for key, member := range a {
			if counterpart, found := other[key]; found {
				l.compare(member, counterpart)
			}
		}
	case []any:
		other, _ := b.([]any)
		if len(a) != len(other) {
			return
		}
		for i := range a {
			l.compare(a[i], other[i])
		}
	case string:
		other, _ := b.(string)
		old, derived := hashesIn(a), hashesIn(other)
		if len(old) != len(derived) {
			return
		}
		for i := range old {
			if _, known := l.pairs[old[i]]; !known && len(old[i]) == len(derived[i]) {
				l.pairs[old[i]] = derived[i]
			}
		}
	}
}
