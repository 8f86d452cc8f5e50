package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// listed is a line of deploy/images/images.yaml, whose others are comments and empty.
var listed = regexp.MustCompile(`(?m)^[a-z0-9-]+: (\S+)$`)

// pinImages asks the registries for the digest of every image that deploy/images/images.yaml lists, and
// writes it there and into the manifests. It writes nothing before it knows them all.
func pinImages(ctx context.Context, f flags) error {
	deploy := filepath.Join(f.root, "deploy")
	list, err := os.ReadFile(filepath.Join(deploy, "images/images.yaml"))
	if err != nil {
		return err
	}
	pinned := map[string]string{} // what it becomes, by what is listed
	for _, line := range listed.FindAllStringSubmatch(string(list), -1) {
		version, _, _ := strings.Cut(line[1], "@")
		tag, err := name.NewTag(version)
		if err != nil {
			return fmt.Errorf("nothing is changed: %w", err)
		}
		descriptor, err := remote.Head(tag, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
		if err != nil {
			return fmt.Errorf("nothing is changed: %s: %w", version, err)
		}
		pinned[line[1]] = version + "@" + descriptor.Digest.String()
	}
	// The samples' images are their users', even where they have the same name.
	for _, folder := range []string{"images", "metacontroller", "components"} {
		if err := filepath.WalkDir(filepath.Join(deploy, folder), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for was, is := range pinned {
				line := regexp.MustCompile(`(?m)^( *(?:- )?[a-z0-9-]+: )` + regexp.QuoteMeta(was) + `$`)
				text = line.ReplaceAll(text, []byte("${1}"+is))
			}
			return os.WriteFile(path, text, 0o644)
		}); err != nil {
			return err
		}
	}
	for _, is := range slices.Sorted(maps.Values(pinned)) {
		fmt.Fprintln(os.Stdout, is)
	}
	return nil
}
