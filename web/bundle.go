package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// bundle returns the files that the product embeds, by their names. The folder has src and, from
// npm ci, node_modules.
func bundle(dir string) (map[string][]byte, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	page, err := os.ReadFile(filepath.Join(dir, "src/index.html"))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"index.html": page}
	for _, entry := range []string{"play", "player"} {
		result := api.Build(options(dir, "src/"+entry+".tsx"))
		if len(result.Errors) > 0 {
			return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), ""))
		}
		notice, err := licences(dir, result.Metafile)
		if err != nil {
			return nil, err
		}
		for _, file := range result.OutputFiles {
			content := file.Contents
			if filepath.Ext(file.Path) == ".js" {
				content = append([]byte(notice), content...)
			}
			files[filepath.Base(file.Path)] = content
		}
	}
	return files, nil
}

func options(dir, entry string) api.BuildOptions {
	return api.BuildOptions{
		AbsWorkingDir: dir, EntryPoints: []string{entry}, Outdir: "out",
		Bundle: true, Format: api.FormatIIFE, Target: api.ES2023, Charset: api.CharsetUTF8,
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true,
		LegalComments: api.LegalCommentsNone, // the notice has them
		Metafile:      true,
	}
}

// licences returns a comment with the licence of each package that is in a bundle: it must come with
// every copy. Packages with the same text but for its years and names share it.
func licences(dir, metafile string) (string, error) {
	var meta struct {
		Inputs map[string]json.RawMessage `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return "", fmt.Errorf("read what is in the bundle: %w", err)
	}
	owners := map[string][]string{} // by the text of the licence
	for _, name := range packages(meta.Inputs) {
		text, err := os.ReadFile(filepath.Join(dir, "node_modules", name, "LICENSE"))
		if err != nil {
			return "", fmt.Errorf("the licence of %s: %w", name, err)
		}
		whose, terms := split(string(text))
		owners[terms] = append(owners[terms], name+": "+whose)
	}
	var notice strings.Builder
	notice.WriteString("/*\n")
	for _, terms := range slices.Sorted(maps.Keys(owners)) {
		notice.WriteString(strings.Join(owners[terms], "\n") + "\n\n" + terms + "\n\n")
	}
	return strings.ReplaceAll(notice.String(), "*/", "* /") + "*/\n", nil
}

// packages returns the names of the packages of some files, sorted.
func packages(inputs map[string]json.RawMessage) []string {
	var names []string
	for path := range inputs {
		_, inside, found := strings.Cut(path, "node_modules/")
		if !found {
			continue
		}
		parts := strings.SplitN(inside, "/", 3)
		if strings.HasPrefix(inside, "@") {
			names = append(names, parts[0]+"/"+parts[1])
		} else {
			names = append(names, parts[0])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// split returns the line that says whose a licence is, and its terms in one paragraph a line.
func split(text string) (whose, terms string) {
	var rest []string
	for paragraph := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		line := strings.Join(strings.Fields(paragraph), " ")
		switch {
		case strings.HasPrefix(line, "Copyright"):
			whose = line
		case line == "", line == "MIT License", line == "The MIT License (MIT)":
		default:
			rest = append(rest, line)
		}
	}
	return whose, strings.Join(rest, "\n")
}
