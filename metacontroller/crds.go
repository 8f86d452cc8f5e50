package metacontroller

import (
	"io/fs"
	"strings"
	"sync"
)

// CRDs returns a function that finds the CustomResourceDefinition of a kind,
// named in lower case, in a folder of embedded files, <kind>.yaml, as
// `generate` writes it. The function returns nil where there is none yet, which
// [Controller.CRD] allows. It returns the same bytes at every call, which must
// not be changed: a file system returns a copy each time, and each copy would
// be compiled again.
func CRDs(files fs.FS, folder string) func(kind string) []byte {
	read := sync.OnceValue(func() map[string][]byte {
		byKind := map[string][]byte{}
		entries, err := fs.ReadDir(files, folder)
		if err != nil {
			return nil // a folder that is embedded can be read
		}
		for _, entry := range entries {
			kind, isYAML := strings.CutSuffix(entry.Name(), ".yaml")
			if text, err := fs.ReadFile(files, folder+"/"+entry.Name()); err == nil && isYAML && kind != "kustomization" {
				byKind[kind] = text
			}
		}
		return byKind
	})
	return func(kind string) []byte { return read()[kind] }
}
