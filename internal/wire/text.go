package wire

import (
	"strings"

	"github.com/operetta-dev/operetta/internal/printable"
)

const (
	// maxStatusText is the size to which a text in a status is cut. A condition's
	// message may have 32,768 characters.
	maxStatusText = 32<<10 - 4
	// maxReason is the size to which a condition's reason is cut: it is one word. The schema has 1024.
	maxReason = 128
)

// printableText returns a text as a status may have it.
func printableText(s string) string {
	isPlain := len(s) <= maxStatusText
	for i := 0; i < len(s) && isPlain; i++ {
		isPlain = s[i] >= ' ' && s[i] <= '~'
	}
	if isPlain || len(s) <= maxStatusText+len("...") && printable.Is(s) { // it may have been cut before
		return s
	}
	return printable.Line(s, maxStatusText)
}

// conditionReason returns the valid reason of a condition that is closest to a text: a device
// plug-in fails a Pod with OutOfnvidia.com/gpu, say, and a container may write
// anything.
func conditionReason(text string) string {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !isLetter(r) })
	text = strings.TrimRightFunc(text, func(r rune) bool { return !isInReason(r) })
	text = strings.Map(func(r rune) rune {
		if isInReason(r) {
			return r
		}
		return '_'
	}, text)
	if text = strings.TrimRight(text[:min(len(text), maxReason)], ",:"); text == "" {
		return "Unknown"
	}
	return text
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func isInReason(r rune) bool {
	return isLetter(r) || r >= '0' && r <= '9' || strings.ContainsRune("_,:", r)
}
