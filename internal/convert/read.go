package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/operetta-dev/operetta/internal/documents"
)

// manifest is an object in a file.
type manifest struct {
	file    string
	content fields
}

func (m manifest) name() any { return at(m.content, "metadata")["name"] }

// found is what a folder has.
type found struct {
	manifests, services       []manifest
	unreadable, parts, others int
}

// read reads the YAML and JSON files of a folder and of those below it.
func read(folder fs.FS) (found, error) {
	var all found
	err := fs.WalkDir(folder, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(file)) {
			return err
		}
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			return fmt.Errorf("reading a manifest: %w", err)
		}
		documents, err := documents.Split(text)
		if err != nil {
			all.unreadable++
		}
		for _, document := range documents {
			all.read(file, document)
		}
		return nil
	})
	return all, err
}

// read adds the objects of a document.
func (f *found) read(file string, document []byte) {
	text, err := documents.ToJSON(bytes.TrimSpace(document))
	var object fields
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(text, &object)
	}
	if name := fmt.Sprint(at(object, "metadata")); err != nil || strings.ContainsAny(name, "${<") {
		f.unreadable++
		return
	}
	f.add(manifest{file, object})
}

func (f *found) add(m manifest) {
	kind, _ := m.content["kind"].(string)
	group, _, _ := strings.Cut(fmt.Sprint(m.content["apiVersion"]), "/")
	isTask := group == "tekton.dev" && (kind == "Task" || kind == "ClusterTask")
	template, isWorkload := templates[kind]
	isWorkload = isWorkload && !strings.Contains(group, ".")
	switch {
	case kind == "List":
		for _, item := range list(m.content, "items") {
			f.add(manifest{m.file, item})
		}
	case group == "v1" && kind == "Service":
		f.services = append(f.services, m)
	case isTask && len(list(m.content, "spec.steps")) > 0, isWorkload && isWhole(at(m.content, template)):
		f.manifests = append(f.manifests, m)
	case isTask || isWorkload:
		f.parts++
	case len(m.content) > 0:
		f.others++
	}
}

// isWhole reports whether a Pod template is more than a patch of one.
func isWhole(template fields) bool {
	containers := list(template, "spec.containers")
	return len(containers) > 0 && !slices.ContainsFunc(containers, func(c fields) bool { return c["image"] == nil || c["name"] == nil })
}
