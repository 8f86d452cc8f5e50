// Package printable makes text that others wrote safe to show: in a terminal,
// in a log and in an event. Control characters would clear a screen, hide what
// stands before them or forge a line; characters that set the direction of
// writing show a text as another one.
package printable

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns a text as one line of at most so many bytes, and "..." where it
// was longer.
func Line(text string, most int) string {
	text, isCut := cut(text, most)
	text = escape(strings.Join(strings.Fields(text), " "), "")
	if shorter, again := cut(text, most); again {
		text, isCut = shorter, true
	}
	if isCut {
		text += "..."
	}
	return text
}

// Ends returns a text as one line of at most so many bytes and some for the dots: of a longer one the
// first third and the end.
func Ends(text string, most int) string {
	text = escape(strings.Join(strings.Fields(text), " "), "")
	if len(text) <= most {
		return text
	}
	first, _ := cut(text, most/3)
	last := len(text) - (most - most/3)
	for last < len(text) && !utf8.RuneStart(text[last]) {
		last++
	}
	return strings.TrimSpace(first) + " ... " + strings.TrimSpace(text[last:])
}

// Escaped returns a text as one line, with what has no glyph as \n, \t or \uXXXX.
func Escaped(text string) string { return escape(text, "") }

// Is reports whether a text can be shown as it is, in one line.
func Is(text string) bool { return escape(text, "") == text }

// cut cuts a text between characters.
func cut(text string, most int) (string, bool) {
	if len(text) <= most {
		return text, false
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most], true
}

// escape writes what has no glyph as \n, \t or \uXXXX, but for the characters in keep. The form is also
// that of JSON, so that a JSON text stays one; a character that is too large for it becomes \ufffd.
func escape(text, keep string) string {
	isPlain := func(r rune) bool { return r != utf8.RuneError && unicode.IsPrint(r) || strings.ContainsRune(keep, r) }
	if strings.IndexFunc(text, func(r rune) bool { return !isPlain(r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case isPlain(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xffff:
			b.WriteString(`\ufffd`)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// NewWriter returns a writer that passes text on with all but line feeds and
// tabs escaped. A character has to be written in one piece, as the fmt and
// slog packages do.
func NewWriter(to io.Writer) io.Writer { return writer{to} }

type writer struct{ to io.Writer }

// Write writes a text.
func (w writer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.to, escape(string(text), "\n\t")); err != nil {
		return 0, err
	}
	return len(text), nil
}
