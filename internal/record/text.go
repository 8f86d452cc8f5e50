package record

import (
	"bytes"
	"encoding/json"
	"strings"
)

// known are the strings that are public: the names of the request's objects,
// and what the hook says without knowing a secret.
type known struct {
	group  string          // of the parent's API
	parent string          // its name
	names  map[string]bool // of all objects
	// members are the names of the fields of its spec, which are recorded as such.
	members map[string]bool
	// said are the strings in answers to fully masked requests, and words the
	// words in their statuses.
	said, words map[string]bool
	enumerations
}

// text returns the output for a string, with a cache: a large request repeats
// most strings.
func (m *mask) text(at place, text string) string {
	const mostMemorized = 4096
	if at.kind == isNotes || at.within == "matchExpressions" { // it depends on more than the cache's key
		return m.written(at, text)
	}
	key := memoKey{at.kind, at.field, at.within, text, at.isSpec, at.isStatus}
	if written, found := m.memo[key]; found {
		return written
	}
	if len(m.memo) >= mostMemorized {
		clear(m.memo)
	}
	written := m.written(at, text)
	m.memo[key] = written
	return written
}

type memoKey struct {
	kind                placeKind
	field, within, text string
	isSpec, isStatus    bool
}

func (m *mask) written(at place, text string) string {
	if text == "" || boolForm.MatchString(text) {
		return text
	}
	switch at.kind {
	case byUser:
		if at.within == "data" || at.within == "binaryData" {
			return m.places.encoded(text)
		}
		return m.places.of(text)
	case isLabels:
		return m.label(at, text)
	case isNotes:
		return m.annotation(at, text)
	case isSizes:
		if sizeForm.MatchString(text) {
			return text
		}
	case isOwnership:
	case typed:
		if at.within == "matchExpressions" {
			switch at.field {
			case "key":
				m.labelKey = text
			case "values":
				at.field = m.labelKey
				return m.label(at, text)
			}
		}
		return m.field(at, text)
	}
	return m.places.of(text)
}

// field returns the output for a string in a field of a type.
func (m *mask) field(at place, text string) string {
	form := formOf(at.field, at.within)
	switch {
	case form == hashForm && hashForm.MatchString(text):
		return m.places.hash(text)
	case form != nil && form.MatchString(text) && !looksSecret(text):
		if form == imageForm || form == uidForm || form == timeForm {
			return text
		}
		return m.withoutHashes(text)
	case isPlain(at, text), at.isSpec && m.known.enumerations[at.field][text] && !isSecretive(at.field), at.field == "reason" && (knownReasons[text] || m.known.said[text]):
		return text
	case at.isStatus && !isSecretive(at.field):
		return m.status(at, text)
	}
	return m.places.shaped(text)
}

// isPlain reports whether a string is a time, a duration or a percentage, which are kept in
// every field that is not free text.
func isPlain(at place, text string) bool {
	return at.field != "value" && !isSecretive(at.field) && (timeForm.MatchString(text) || spanForm.MatchString(text) || shareForm.MatchString(text))
}

// status returns the output for a string in the parent's status, which an
// earlier answer of the hook contained. It is kept if the hook also says it
// without knowing a secret.
func (m *mask) status(at place, text string) string {
	if m.known.said[text] || m.known.names[text] || m.known.isReference(text) {
		return m.withoutHashes(text)
	}
	if at.field != "message" {
		return m.places.shaped(text)
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		bare := strings.TrimRight(word, ".,:;")
		if bare == "" || m.known.words[m.withoutHashes(bare)] || m.known.isReference(bare) {
			words[i] = m.withoutHashes(word)
			continue
		}
		words[i] = m.places.of(bare) + word[len(bare):]
	}
	return strings.Join(words, " ")
}

// isReference reports whether a text is a reference of an object, as in
// Job/shop-94dbbb2ce6.
func (k known) isReference(text string) bool {
	kind, name, isReference := strings.Cut(text, "/")
	return isReference && kindForm.MatchString(kind) && k.isObject(name)
}

// isObject reports whether a name is that of an object of the request, or that
// of the parent with a hash.
func (k known) isObject(name string) bool {
	rest, isDerived := strings.CutPrefix(name, k.parent+"-")
	return k.names[name] || isDerived && k.parent != "" && isHash(rest) && derived.FindString(rest) == rest
}

// label returns the output for the value of a label. It is kept if Kubernetes
// sets it, if it is the name of an object, or if the hook says it: anyone may
// write a label, whatever its domain.
func (m *mask) label(at place, text string) string {
	domain, _, _ := strings.Cut(at.field, "/")
	isPublic := m.known.names[text] || m.known.said[text] || knownLabels[at.field] || m.known.isOwn(domain) && m.known.members[text]
	switch {
	case at.field == "controller-uid" && uidForm.MatchString(text):
		return text
	case isPublic && keyForm.MatchString(text) && !looksSecret(text) && !isSecretive(at.field):
		return m.withoutHashes(text)
	case isHash(text) && derived.FindString(text) == text:
		return m.places.hash(text)
	}
	return m.places.of(text)
}

// isOwn reports whether a domain is the parent's API group or within it.
func (k known) isOwn(domain string) bool {
	return k.group != "" && (domain == k.group || strings.HasSuffix(domain, "."+k.group))
}

// annotation returns the output for the value of an annotation.
func (m *mask) annotation(at place, text string) string {
	domain, _, _ := strings.Cut(at.field, "/")
	form := knownAnnotations[at.field]
	switch {
	case at.field == hashAnnotation:
		return m.hashOf(at, text)
	case applied[at.field]:
		return m.appliedObject(at, text)
	case form != nil && form.MatchString(text),
		m.known.isOwn(domain) && smallForm.MatchString(text):
		return text
	case isHash(text) && derived.FindString(text) == text && !at.isSpec:
		return m.places.hash(text)
	case !at.isSpec && m.known.said[text] && !looksSecret(text):
		return m.withoutHashes(text)
	}
	return m.places.of(text)
}

// appliedObject masks an annotation that holds an object in JSON.
func (m *mask) appliedObject(at place, text string) string {
	inner := mask{memo: m.memo, keys: m.keys, places: m.places, known: m.known, before: m.before, after: m.after, volatile: 1}
	inner.in = json.NewDecoder(strings.NewReader(text))
	inner.in.UseNumber()
	inside := place{depth: 3, isApplied: true, isSpec: at.isSpec}
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) || inner.value(inside) != nil {
		return m.places.of(text)
	}
	return string(bytes.TrimSpace(inner.out.Bytes()))
}

var (
	memberForm = newForm(`^[-A-Za-z0-9_./]{1,316}$`)
	ownedForm  = newForm(`^f:[-A-Za-z0-9_./]{1,316}$`)
)

// key returns the output for the name of a member.
func (m *mask) key(at place, key string) string {
	if at.kind == isOwnership {
		switch prefix, rest, _ := strings.Cut(key, ":"); {
		case key == "." || ownedForm.MatchString(key) && !looksSecret(key):
			return key
		default:
			return prefix[:min(1, len(prefix))] + ":" + m.places.of(rest)
		}
	}
	if isName, found := m.keys[key]; found && !isName || !found && !m.isName(key) {
		return m.places.of(key)
	}
	if !at.isApplied && at.root != "parent" && at.depth == 2 {
		return m.withoutHashes(key) // it may be the name of an object
	}
	return key
}

// isName reports whether a member's name is kept, and caches that.
func (m *mask) isName(key string) bool {
	const mostMemorized = 4096
	if len(m.keys) >= mostMemorized {
		clear(m.keys)
	}
	m.keys[key] = memberForm.MatchString(key) && !looksSecret(key)
	return m.keys[key]
}

// withoutHashes replaces the hashes within a string.
func (m *mask) withoutHashes(text string) string {
	if len(text) < 8 {
		return text
	}
	return derived.ReplaceAllStringFunc(text, func(match string) string {
		if !isHash(match) || strings.Contains(m.known.parent, match) {
			return match
		}
		return m.places.hash(match)
	})
}
