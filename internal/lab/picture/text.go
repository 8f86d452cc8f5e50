package picture

import "strings"

// widthOf estimates the width of a text in a sans serif font, in hundredths of its size. It is
// rather too large: the font is the reader's.
func widthOf(text string) int {
	width := 0
	for _, r := range text {
		switch {
		case r > 0x1100:
			width += 100
		case strings.ContainsRune("mwMWO@%", r):
			width += 86
		case strings.ContainsRune("iljI.,:;'|!ftr()[]/ -", r):
			width += 37
		case r >= 'A' && r <= 'Z':
			width += 68
		default:
			width += 59
		}
	}
	return width
}

// pixels is the width of a text of a size.
func pixels(text string, size int) int { return (widthOf(text)*size + 99) / 100 }

// cutEnd cuts a text at its end until it fits, unless too little would be left of it.
func cutEnd(text string, size, room int) string {
	if pixels(text, size) <= room {
		return text
	}
	runes := []rune(text)
	for n := len(runes) - 1; n > 3; n-- {
		if short := strings.TrimSpace(string(runes[:n])) + "…"; pixels(short, size) <= room {
			return short
		}
	}
	return ""
}

// cutMiddle cuts a name in its middle, for names often differ at their ends.
func cutMiddle(name string, size, room int) string {
	runes := []rune(name)
	short := name
	for n := len(runes) - 1; n > 1 && pixels(short, size) > room; n-- {
		short = string(runes[:(n+1)/2]) + "…" + string(runes[len(runes)-n/2:])
	}
	return short
}
