package commands

import (
	"fmt"
	"regexp"
	"strings"
)

// varying are what differs from one run to the next, in a text in which all signs of
// regular expressions are quoted, and what stands for it. Where a page has left something
// out it has three dots.
var varying = []struct {
	shown   *regexp.Regexp
	pattern string
}{
	{regexp.MustCompile(`\\\.\\\.\\\.`), `.*?`},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), `[-0-9TZ:]+`},
	{regexp.MustCompile(`(127\\\.0\\\.0\\\.1:)\d+`), `$1\d+`},
	{regexp.MustCompile(`\b\d+m\d+s\b|\b\d+[smhd]\b`), `[0-9smhd]+`},
	{regexp.MustCompile(`,\n`), `,\s*`}, // where a page has folded a line
	{regexp.MustCompile(`[ \n]+`), `\s+`},
}

// Compare compares what a page shows with what a command has printed. Ages, times and ports
// may differ, and so may the width of columns.
func Compare(shown []string, printed string) error {
	if len(shown) == 0 {
		return nil
	}
	pattern := regexp.QuoteMeta(strings.TrimSpace(strings.Join(shown, "\n")))
	for _, v := range varying {
		pattern = v.shown.ReplaceAllString(pattern, v.pattern)
	}
	matches, err := regexp.MatchString(`(?s)^\s*`+pattern+`\s*$`, printed)
	if err != nil {
		return fmt.Errorf("the output that is shown cannot be compared: %w", err)
	}
	if !matches {
		return fmt.Errorf("it prints something else than the page shows:\n%s\nand the page has:\n%s", printed, strings.Join(shown, "\n"))
	}
	return nil
}
