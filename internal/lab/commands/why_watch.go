package commands

import (
	"bytes"
	"context"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/operetta-dev/operetta/internal/lab/why"
)

// told is what why has answered until now. It prints of each answer only what the one before did not have.
type told struct {
	units   map[string]bool
	unready []why.Answer
}

// clocks are what changes in an answer while nothing happens.
var clocks = regexp.MustCompile(`(\b(for|within) |"seen": ")[0-9][-:0-9A-Za-z]*`)

// print prints an answer. Its parts are the lines of a summary, and otherwise what stands between empty lines.
func (t *told) print(out io.Writer, text string, answers []why.Answer, inLines bool) error {
	between := "\n\n"
	if inLines {
		between = "\n"
	}
	var news []string
	units := map[string]bool{}
	for unit := range strings.SplitSeq(strings.TrimSpace(text), between) {
		key := clocks.ReplaceAllString(unit, "$1")
		if units[key] = true; !t.units[key] {
			news = append(news, unit)
		}
	}
	news = append(news, t.ended(answers)...)
	t.units = units
	if len(news) == 0 {
		return nil
	}
	_, err := io.WriteString(out, strings.Join(news, between)+"\n")
	return err
}

// ended says which custom resources are no longer among those that are not Ready.
func (t *told) ended(answers []why.Answer) (lines []string) {
	if len(answers) == 0 {
		return nil
	}
	for _, before := range t.unready {
		at := slices.IndexFunc(answers, func(a why.Answer) bool { return a.Ref == before.Ref })
		switch {
		case at < 0:
			lines = append(lines, why.Labeled("gone", before.Title()))
		case answers[at].IsReady():
			lines = append(lines, why.Labeled("ready", before.Title()))
		}
	}
	t.unready = slices.DeleteFunc(slices.Clone(answers), why.Answer.IsReady)
	return lines
}

// watchWhy answers, and again whenever the file changes.
func (p *program) watchWhy(ctx context.Context, selection why.Selection, flags *whyFlags) error {
	var before told
	for {
		read, _ := os.Stat(flags.file) // a change while it is read counts
		var out bytes.Buffer
		answers, err := p.answerWhy(&out, selection, flags)
		if err != nil {
			return err
		}
		if !flags.all || flags.output != "text" {
			answers = nil // each answer is told as a whole
		}
		if err := before.print(p.Out, out.String(), answers, flags.all && !flags.details && !flags.tree && flags.output == "text"); err != nil {
			return err
		}
		if !waitForChange(ctx, flags.file, read) {
			return nil
		}
	}
}

// waitForChange waits until a file is not what it was, and reports whether there is more to wait for.
func waitForChange(ctx context.Context, path string, last os.FileInfo) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(200 * time.Millisecond):
		}
		now, err := os.Stat(path)
		if err == nil && (last == nil || !now.ModTime().Equal(last.ModTime()) || now.Size() != last.Size()) {
			return true
		}
	}
}
