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
	{regexp.MustCompile(`\s+\\\(x\d+ over \w+\\\)`), `( \(x\d+ over \w+\))?`},
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
	return match(`(?s)^\s*%s\s*$`, strings.Join(shown, "\n"), printed)
}

// CompareLines looks for each line that a page shows among those that have been printed.
func CompareLines(shown []string, printed string) error {
	for _, line := range shown {
		if err := match(`(?m)^\s*%s\s*$`, line, printed); err != nil {
			return err
		}
	}
	return nil
}

func match(frame, shown, printed string) error {
	pattern := regexp.QuoteMeta(strings.TrimSpace(shown))
	for _, v := range varying {
		pattern = v.shown.ReplaceAllString(pattern, v.pattern)
	}
	matches, err := regexp.MatchString(fmt.Sprintf(frame, pattern), printed)
	if err != nil {
		return fmt.Errorf("the output that is shown cannot be compared: %w", err)
	}
	if !matches {
		return fmt.Errorf("it prints something else than the page shows:\n%s\nand the page has:\n%s", printed, shown)
	}
	return nil
}
