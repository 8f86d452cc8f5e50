package commands

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/internal/cli"
)

// fence matches a block of code, and inline a command in a sentence.
var (
	fence  = regexp.MustCompile("(?s)```.*?```")
	inline = regexp.MustCompile("`((?:cd \\S+ && )?(?:[A-Z_]+=\\S+ )*(?:make|operetta|bin/operetta|kubectl|go) [^`\\n]+)`")
)

// TestInlineCommands: the commands in sentences are not run, for most are a part of one. What
// they name exists.
func TestInlineCommands(t *testing.T) {
	const root = "../../.."
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	require.NoError(t, err)
	pages, err := filepath.Glob(filepath.Join(root, "docs/*.md"))
	require.NoError(t, err)
	count := 0
	for _, page := range append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, found := range inline.FindAllStringSubmatch(string(fence.ReplaceAll(text, nil)), -1) {
			count++
			words := strings.Fields(found[1])
			folder := root
			if words[0] == "cd" {
				folder, words = filepath.Join(root, words[1]), words[3:]
			}
			for strings.Contains(words[0], "=") {
				words = words[1:]
			}
			at := filepath.Base(page) + ": " + found[1]
			switch words[0] {
			case "make":
				target, _, _ := strings.Cut(words[1], "=")
				if target == words[1] && filepath.Base(page) != "authors.md" { // whose modules have a Makefile of their own
					assert.Regexp(t, `(?m)^`+regexp.QuoteMeta(target)+`:`, string(makefile), at)
				}
			case "operetta", "bin/operetta":
				requireFlags(t, words[1:], at)
			case "kubectl":
				requireFiles(t, root, words, at)
			case "go":
				requireTests(t, folder, words, at)
			}
		}
	}
	require.Greater(t, count, 50)
}

// requireFlags looks for a subcommand and its flags in its help.
func requireFlags(t *testing.T, words []string, at string) {
	t.Helper()
	if strings.HasPrefix(words[0], "--") { // of the program itself
		words = append([]string{""}, words...)
	}
	var help bytes.Buffer
	code := Run(context.Background(), "operetta", ours(), strings.Fields(words[0]+" --help"), cli.Streams{In: strings.NewReader(""), Out: &help, Err: &help})
	if !assert.Zero(t, code, at) || !assert.Contains(t, help.String(), strings.TrimSpace("operetta "+words[0]), at) {
		return
	}
	for _, word := range words[1:] {
		if flag, _, _ := strings.Cut(strings.Trim(word, "[],"), "="); strings.HasPrefix(flag, "--") {
			assert.Contains(t, help.String(), flag, at)
		}
	}
}

// requireFiles looks for the files below deploy/ that a command names.
func requireFiles(t *testing.T, root string, words []string, at string) {
	t.Helper()
	for _, word := range words {
		_, path, isFlag := strings.Cut(word, "=")
		if !isFlag {
			path = word
		}
		if path = strings.TrimPrefix(path, "operetta/"); strings.HasPrefix(path, "deploy/") {
			assert.FileExists(t, existing(filepath.Join(root, path)), at)
		}
	}
}

// existing returns a file: of a folder, its kustomization or else any that is in it.
func existing(path string) string {
	for _, name := range []string{"kustomization.yaml", "*"} {
		if found, _ := filepath.Glob(filepath.Join(path, name)); len(found) > 0 {
			return found[0]
		}
	}
	return path
}

// requireTests looks for the test that a command runs in its package.
func requireTests(t *testing.T, folder string, words []string, at string) {
	t.Helper()
	for i, word := range words {
		if word != "-run" {
			continue
		}
		name, _, _ := strings.Cut(strings.Trim(words[i+1], "'"), "/")
		files, err := filepath.Glob(filepath.Join(folder, words[2], "*_test.go"))
		require.NoError(t, err)
		var texts []byte
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			texts = append(texts, text...)
		}
		assert.Regexp(t, `(?m)^func Test\w*`+strings.TrimPrefix(name, "Test"), string(texts), at)
	}
}
