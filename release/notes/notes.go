// Package notes makes the notes of a release from the CHANGELOG.
package notes

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Unreleased is the section of what no release has yet.
const Unreleased = "Unreleased"

// groups are the marks of the CHANGELOG's lines, and their headlines in the order in
// which the notes have them.
var groups = []struct{ mark, headline string }{
	{"SECURITY", "Security"}, {"CHANGE", "Changes to be aware of"}, {"FEATURE", "New"}, {"ENHANCEMENT", "Improved"}, {"BUGFIX", "Fixed"},
}

var (
	entry = regexp.MustCompile(`^- \[([A-Z]+)\] `)
	// link is one to a file of the repository.
	link = regexp.MustCompile(`\]\(([a-z][A-Za-z0-9_./-]*(?:#[a-z0-9-]+)?)\)`)
	// release is the headline of a section.
	release = regexp.MustCompile(`^## (v[0-9]+\.[0-9]+\.[0-9]+|` + Unreleased + `)$`)
)

// Section returns the text below a headline of the CHANGELOG, and whether there is one.
func Section(changelog, name string) (string, bool) {
	var lines []string
	found := false
	for line := range strings.Lines(changelog) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "## "+name:
			found = true
		case strings.HasPrefix(line, "## ") && found:
			return strings.TrimSpace(strings.Join(lines, "\n")), true
		case found:
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), found
}

// Of returns the notes of a version: the entries of a section of the CHANGELOG by what they
// are about. Its links to files lead to those of the version, below the address of the
// repository.
func Of(changelog, section, version, repository string) (string, error) {
	for line := range strings.Lines(changelog) {
		if strings.HasPrefix(line, "## ") && !release.MatchString(strings.TrimSuffix(line, "\n")) {
			return "", fmt.Errorf("%q is no headline of a section: write ## %s or ## v1.2.3", strings.TrimSpace(line), Unreleased)
		}
	}
	text, found := Section(changelog, section)
	if !found || text == "" {
		return "", fmt.Errorf("the CHANGELOG tells nothing below ## %s", section)
	}
	var introduction []string
	entries := map[string][]string{}
	mark := ""
	for _, line := range strings.Split(text, "\n") {
		switch found := entry.FindStringSubmatch(line); {
		case found != nil:
			mark = found[1]
			if !slices.ContainsFunc(groups, func(g struct{ mark, headline string }) bool { return g.mark == mark }) {
				return "", fmt.Errorf("[%s] is none of the CHANGELOG's marks: %s", mark, line)
			}
			entries[mark] = append(entries[mark], "- "+line[len(found[0]):])
		case mark == "":
			introduction = append(introduction, line)
		case strings.HasPrefix(line, "- "):
			return "", fmt.Errorf("a line of the CHANGELOG has no mark such as [BUGFIX]: %s", line)
		case line != "":
			entries[mark] = append(entries[mark], line)
		}
	}
	notes := "# Operetta " + version + "\n"
	if about := strings.TrimSpace(strings.Join(introduction, "\n")); about != "" {
		notes += "\n" + about + "\n"
	}
	for _, group := range groups {
		if lines := entries[group.mark]; len(lines) > 0 {
			notes += "\n## " + group.headline + "\n\n" + strings.Join(lines, "\n") + "\n"
		}
	}
	return link.ReplaceAllString(notes, "]("+repository+"/blob/"+version+"/${1})"), nil
}
