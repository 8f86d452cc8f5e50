package metacontroller

import (
	"io/fs"
	"strings"
	"sync"
)

// CRDs returns a function that finds the CustomResourceDefinition of a kind in a folder
// of embedded files, <kind>.yaml, as `generate` writes it. The kind is named in lower
// case. Where there is none yet the function returns nil, which [Controller.CRD] may be.
// The bytes are the same at every call, and are not to be changed: a file system hands
// out a copy at every reading, and each would be compiled anew.
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
