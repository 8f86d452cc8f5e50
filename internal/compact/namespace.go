package compact

import "bytes"

// mostNamespace is the length of the longest name of a namespace.
const mostNamespace = 63

// Namespace returns the namespace of the parent in a request, or in its first
// part, or "". It reads no further than that, so that it is cheap for long
// requests. The text need not be valid JSON: use the result for fair queuing
// only.
func Namespace(request []byte) string {
	value := request
	for _, quoted := range []string{`"parent"`, `"metadata"`, `"namespace"`} {
		value = member(value, quoted)
	}
	end, isWhole := follow(value)
	if !isWhole || value[0] != '"' || end > mostNamespace+len(`""`) {
		return ""
	}
	return string(value[1 : end-1])
}

// member returns the text from the value of a member on, of the object at the
// start of a text, or nil.
func member(text []byte, quoted string) []byte {
	text, isObject := bytes.CutPrefix(trim(text, ""), []byte("{"))
	for isObject {
		text = trim(text, ",")
		end, isWhole := follow(text)
		if !isWhole || text[0] != '"' {
			break
		}
		key := text[:end]
		text = trim(text[end:], ":")
		if string(key) == quoted {
			return text
		}
		if end, isWhole = follow(text); !isWhole {
			break
		}
		text = text[end:]
	}
	return nil
}

// follow returns the length of the value at the start of a text, and whether it
// is complete.
func follow(text []byte) (end int, isWhole bool) {
	if len(text) == 0 {
		return 0, false
	}
	switch text[0] {
	case '"', '{', '[':
		return new(nested).follow(text, 0)
	default:
		end = bytes.IndexAny(text, ",}]")
		return end, end > 0
	}
}

// trim removes leading white space and other characters.
func trim(text []byte, others string) []byte { return bytes.TrimLeft(text, " \t\r\n"+others) }
