package metacontroller

import (
	"unicode/utf8"

	"github.com/operetta-dev/operetta/internal/printable"
)

// A status quotes texts of others: what a container printed last, why the
// kubelet refused a Pod, which image somebody has set. Anyone who may run a Pod
// can put control characters there for the terminal that shows the status. And
// the API server refuses a whole status if one condition does not fit the
// schema, so that users would see no status any more. So each status is checked
// in its final bytes, whichever hook made it.

const (
	// maxStatusText is the size to which a text in a status is cut. A condition's
	// message may have 32,768 characters.
	maxStatusText = 32<<10 - 4
	// maxStatusBytes is the size above which the messages and reasons in a
	// status are cut further. The API server stores 1.5 MiB of an object, spec
	// included.
	maxStatusBytes = 192 << 10
	// maxConditionReason is the limit in the schema of a condition.
	maxConditionReason = 1024
)

// cleanStatus returns a status in which every text is printable and every
// condition can be stored. A status that needs no change is returned without a
// copy.
func cleanStatus(status []byte) []byte {
	status = cleaner{most: maxStatusText}.clean(status)
	for _, most := range []int{4 << 10, 1 << 10, 256} {
		if len(status) <= maxStatusBytes {
			break
		}
		status = cleaner{most: most, explanationsOnly: true}.clean(status)
	}
	return status
}

// cleaner rewrites the texts in a JSON object.
type cleaner struct {
	most int // bytes of a text
	// explanationsOnly changes messages and reasons only. A hook may rely on
	// the names and hashes in its status, but not on what it has written for
	// people.
	explanationsOnly bool
}

// clean returns the object with its texts rewritten. It copies from the first
// changed text on.
func (c cleaner) clean(object []byte) []byte {
	var out []byte
	depth, copied := 0, 0
	isCondition := false
	var key []byte // of the member, with its quotation marks
	for i := 0; i < len(object); {
		switch object[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := skipString(object, i)
			quoted := object[i:end]
			isKey := end < len(object) && object[end] == ':'
			if isKey {
				key = quoted
			}
			if isKey && depth == 1 {
				isCondition = string(key) == `"conditions"`
			}
			if clean, changed := c.text(quoted, key, isKey, isCondition && depth == 3); changed {
				out = append(append(out, object[copied:i]...), clean...)
				copied = end
			}
			i = end
			continue
		}
		i++
	}
	if copied == 0 {
		return object
	}
	return append(out, object[copied:]...)
}

// text returns the cleaned form of a quoted text.
func (c cleaner) text(quoted, key []byte, isKey, inCondition bool) (clean []byte, changed bool) {
	isReason := string(key) == `"reason"`
	switch {
	case isKey && c.explanationsOnly:
		return nil, false
	case !isKey && inCondition && isReason:
		if c.explanationsOnly || isConditionReason(quoted[1:len(quoted)-1]) {
			return nil, false
		}
		return appendString(nil, conditionReason(string(unquote(quoted)))), true
	case c.explanationsOnly && !isReason && string(key) != `"message"`:
		return nil, false
	case len(quoted)-2 <= c.most && isPlain(quoted):
		return nil, false
	}
	text := string(unquote(quoted))
	if len(text) <= c.most+len("...") && printable.Is(text) { // unchanged if it was cut before
		return nil, false
	}
	return appendString(nil, printable.Line(text, c.most)), true
}

// isPlain reports whether a quoted text is surely printable: it is ASCII, and
// escapes nothing but quotation marks and backslashes.
func isPlain(quoted []byte) bool {
	for i := 0; i < len(quoted); i++ {
		switch c := quoted[i]; {
		case c >= utf8.RuneSelf || c < ' ' || c == 0x7f:
			return false
		case c == '\\':
			if i++; quoted[i] != '"' && quoted[i] != '\\' {
				return false
			}
		}
	}
	return true
}

// isConditionReason reports whether the API server accepts a JSON text as the
// reason of a condition.
func isConditionReason[T []byte | string](text T) bool {
	if len(text) == 0 || len(text) > maxConditionReason || !isLetter(text[0]) || !isWordCharacter(text[len(text)-1]) {
		return false
	}
	for i := range len(text) {
		if c := text[i]; !isWordCharacter(c) && c != ',' && c != ':' {
			return false
		}
	}
	return true
}

// conditionReason returns the valid reason that is closest to a text: a device
// plug-in fails a Pod with OutOfnvidia.com/gpu, say, and a container may write
// anything.
func conditionReason(text string) string {
	const most = 128 // characters; a reason is one word
	reason := make([]byte, 0, most)
	for _, r := range text {
		c := byte('_')
		if r < utf8.RuneSelf && (isWordCharacter(byte(r)) || r == ',' || r == ':') {
			c = byte(r)
		}
		if len(reason) < most && (len(reason) > 0 || isLetter(c)) {
			reason = append(reason, c)
		}
	}
	for len(reason) > 0 && (!isWordCharacter(reason[len(reason)-1]) || reason[len(reason)-1] == '_') {
		reason = reason[:len(reason)-1]
	}
	if len(reason) == 0 {
		return "Unknown"
	}
	return string(reason)
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isWordCharacter(c byte) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '_' }
