package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/operetta-dev/operetta/release/attest"
	"github.com/operetta-dev/operetta/release/image"
	"github.com/operetta-dev/operetta/release/notes"
)

// repository is where the notes' links lead.
const repository = "https://github.com/operetta-dev/operetta"

// checksums is the name of the file with the checksums of the others.
const checksums = "SHA256SUMS"

var (
	versions  = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	revisions = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

// makeRelease writes all that a release consists of into a folder.
func makeRelease(ctx context.Context, args []string) error {
	var f imageFlags
	set := flag.NewFlagSet("release", flag.ContinueOnError)
	f.register(set)
	builder := set.String("builder", repository+"#make-release", "URI of who builds it, for the provenance")
	tagged := set.Bool("tagged", false, "the commit has the version as its tag: the CHANGELOG must have a section of it")
	if err := set.Parse(args); err != nil {
		return err
	}
	if !versions.MatchString(f.source.Version) {
		return fmt.Errorf("%q is no version of a release: write VERSION=v1.2.3", f.source.Version)
	}
	if !revisions.MatchString(f.source.Revision) {
		return fmt.Errorf("%q is no commit: a release is made from a clone of the repository", f.source.Revision)
	}
	text, err := notesOf(f.source.Root, f.source.Version, *tagged)
	if err != nil {
		return err
	}
	if err := makeInstall(ctx, []string{"--root", f.source.Root, "--out", f.out, "--name", f.repository, "--version", f.source.Version}); err != nil {
		return err
	}
	built, err := f.build(ctx)
	if err != nil {
		return err
	}
	files, err := attestations(f, built, *builder)
	if err != nil {
		return err
	}
	files["release-notes.md"] = []byte(text)
	for name, content := range files {
		if err := f.write(name, content); err != nil {
			return err
		}
	}
	sums, err := attest.Checksums(f.out, checksums)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "release: nothing of it is signed: whoever publishes it has to sign "+checksums+" and the image's digest")
	return f.write(checksums, sums)
}

func (f *imageFlags) write(name string, content []byte) error {
	path := filepath.Join(f.out, name)
	fmt.Fprintln(os.Stdout, path)
	return os.WriteFile(path, content, 0o644)
}

// attestations returns a bill of materials for each program, and the provenance of the
// image, by the names of their files.
func attestations(f imageFlags, built image.Built, builder string) (map[string][]byte, error) {
	index, err := built.Index.Digest()
	if err != nil {
		return nil, err
	}
	build := attest.Build{
		Builder: builder, Image: f.repository, Version: f.source.Version, Revision: f.source.Revision,
		Digests: map[string]string{"all": index.String()}, Byproducts: map[string][]byte{},
	}
	for i, platform := range image.Platforms() {
		digest, err := built.Images[i].Digest()
		if err != nil {
			return nil, err
		}
		build.Digests[platform.String()] = digest.String()
		build.Platforms = append(build.Platforms, platform.String())
		program := attest.Program{Platform: platform.String(), Version: f.source.Version, Created: f.source.Created, Content: built.Programs[i]}
		name := fmt.Sprintf("sbom-%s.cdx.json", strings.ReplaceAll(platform.String(), "/", "-"))
		if build.Byproducts[name], err = program.SBOM(); err != nil {
			return nil, err
		}
		info, err := buildinfo.Read(bytes.NewReader(program.Content))
		if err != nil {
			return nil, err
		}
		build.GoVersion = info.GoVersion
	}
	files := map[string][]byte{}
	for name, content := range build.Byproducts {
		files[name] = content
	}
	files["provenance.intoto.json"], err = build.Provenance()
	return files, err
}

// printNotes prints the notes of a version.
func printNotes(_ context.Context, args []string) error {
	set := flag.NewFlagSet("notes", flag.ContinueOnError)
	root := set.String("root", ".", "folder of the CHANGELOG")
	version := set.String("version", "", "version of the release")
	tagged := set.Bool("tagged", false, "the CHANGELOG must have a section of it")
	if err := set.Parse(args); err != nil {
		return err
	}
	text, err := notesOf(*root, *version, *tagged)
	fmt.Fprint(os.Stdout, text)
	return err
}

// notesOf returns the notes of a version. Before its section has been given its name, they
// are those of what is unreleased.
func notesOf(root, version string, tagged bool) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	section := version
	if _, found := notes.Section(string(text), version); !found {
		if tagged {
			return "", fmt.Errorf("the CHANGELOG has no section ## %s: give the entries below ## %s this headline", version, notes.Unreleased)
		}
		section = notes.Unreleased
		fmt.Fprintf(os.Stderr, "release: the CHANGELOG has no section ## %s: the notes are those of ## %s\n", version, section)
	}
	return notes.Of(string(text), section, version, repository)
}
