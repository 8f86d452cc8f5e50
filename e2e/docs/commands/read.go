// Package commands reads the commands that the documentation shows, tells which test runs
// each of them, and runs them in a shell as they are written.
package commands

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Command is a command of a fenced block.
type Command struct {
	// File is its path below the project's folder, and Line where the command begins.
	File string
	Line int
	// Heading is the headline above it, without the signs that make it one.
	Heading string
	// Text is the command as it is written, with all its lines and without the prompt.
	Text string
	// Output has the lines that the page shows below the command.
	Output []string
}

// At is where a command stands, as in README.md:24.
func (c Command) At() string { return fmt.Sprint(c.File, ":", c.Line) }

var (
	space   = regexp.MustCompile(`\s+`)
	comment = regexp.MustCompile(`(?m)(^|\s)#.*$`)
)

// Short is the command in one line: without comments, and with single spaces.
func (c Command) Short() string {
	text := strings.ReplaceAll(c.Text, "\\\n", " ")
	return strings.TrimSpace(space.ReplaceAllString(comment.ReplaceAllString(text, " "), " "))
}

// shells are the languages of blocks with commands. In a console, a prompt tells the
// commands from what they print.
var shells = []string{"sh", "shell", "bash", "console"}

// Read returns the commands of all Markdown files of the project, by file and line.
func Read(root string) ([]Command, error) {
	var found []Command
	for _, folder := range []string{"*.md", "docs/*.md"} {
		paths, err := fs.Glob(os.DirFS(root), folder)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := os.ReadFile(filepath.Join(root, path))
			if err != nil {
				return nil, fmt.Errorf("read the documentation: %w", err)
			}
			commands, err := parse(path, string(text))
			if err != nil {
				return nil, err
			}
			found = append(found, commands...)
		}
	}
	return found, nil
}

// block is a fenced block of a page.
type block struct {
	language, heading string
	first             int // the number of its first line
	lines             []string
}

var (
	fenced  = regexp.MustCompile("(?ms)^([ \t]*)```(.*?)\n(.*?)^[ \t]*```[ \t]*$")
	heading = regexp.MustCompile("(?m)^#+ *(.*?) *$")
)

// blocks returns the fenced blocks of a page, without the indentation of the fence.
func blocks(file, text string) ([]block, error) {
	var found []block
	var last string
	end := 0
	for _, at := range fenced.FindAllStringSubmatchIndex(text, -1) {
		for _, line := range heading.FindAllStringSubmatch(text[end:at[0]], -1) {
			last = line[1]
		}
		end = at[1]
		b := block{language: strings.TrimSpace(text[at[4]:at[5]]), heading: last, first: 1 + strings.Count(text[:at[6]], "\n")}
		for line := range strings.Lines(text[at[6]:at[7]]) {
			b.lines = append(b.lines, strings.TrimPrefix(strings.TrimSuffix(line, "\n"), text[at[2]:at[3]]))
		}
		found = append(found, b)
	}
	if strings.Contains(text[end:], "```") {
		return nil, fmt.Errorf("%s: the last block has no end", file)
	}
	return found, nil
}

// parse returns the commands of a page.
func parse(file, text string) ([]Command, error) {
	all, err := blocks(file, text)
	if err != nil {
		return nil, err
	}
	var found []Command
	for _, b := range all {
		if b.language == "" && len(b.lines) > 0 && isKnown(b.lines[0]) {
			return nil, fmt.Errorf("%s:%d: a block that begins with a command says so: write ```sh or ```console", file, b.first-1)
		}
		if slices.Contains(shells, b.language) {
			commands, err := b.commands(file)
			if err != nil {
				return nil, err
			}
			found = append(found, commands...)
		}
	}
	return found, nil
}

// prompt stands before each command of a console.
const prompt = "$ "

// commands returns the commands of a block.
func (b block) commands(file string) ([]Command, error) {
	var found []Command
	isOpen := false // the last one asks for more
	for i, line := range b.lines {
		text, isPrompt := strings.CutPrefix(line, prompt)
		bare := strings.TrimSpace(text)
		var last *Command
		if len(found) > 0 {
			last = &found[len(found)-1]
		}
		switch {
		case isOpen:
			last.Text += "\n" + line
			isOpen = !isComplete(last.Text)
		case b.language == "console" && !isPrompt && last == nil:
			return nil, fmt.Errorf("%s:%d: output before the first command; write $ before a command", file, b.first+i)
		case b.language == "console" && !isPrompt:
			last.Output = append(last.Output, line)
		case bare == "" || strings.HasPrefix(bare, "#"):
		default:
			found = append(found, Command{File: file, Line: b.first + i, Heading: b.heading, Text: text})
			isOpen = !isComplete(text)
		}
	}
	for i := range found {
		for n := len(found[i].Output); n > 0 && strings.TrimSpace(found[i].Output[n-1]) == ""; n-- {
			found[i].Output = found[i].Output[:n-1]
		}
	}
	if isOpen {
		return nil, fmt.Errorf("%s: the command has no end", found[len(found)-1].At())
	}
	return found, nil
}

// isComplete tells whether a shell would not ask for another line. It warns of a document that
// does not end.
func isComplete(text string) bool {
	told, err := exec.Command("bash", "-n", "-c", text+"\n").CombinedOutput()
	return err == nil && len(told) == 0 && !strings.HasSuffix(text, "\\")
}

// named finds the blocks of a page that begin with a comment which is the name of a file.
var named = regexp.MustCompile("(?s)```(?:go|yaml)\n(?://|#) ([^ \n]+\\.[^ \n]+)\n(.*?)```\n")

// Files returns the contents of the blocks of a page that are files, by their names.
func Files(page string) (map[string]string, error) {
	text, err := os.ReadFile(page)
	files := map[string]string{}
	for _, block := range named.FindAllStringSubmatch(string(text), -1) {
		files[block[1]] = block[2]
	}
	return files, err
}
