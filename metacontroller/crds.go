package metacontroller

import (
	"io/fs"
	"strings"
	"sync"
)

// CRD is a CustomResourceDefinition. It is compiled once, when it is first needed, which takes
// tenths of a second: where a [Controller] is made anew often, all of them share one CRD.
type CRD struct {
	text     []byte
	versions sync.Map // of string to *schema
}

// NewCRD returns a CustomResourceDefinition in YAML. The bytes must not be changed.
func NewCRD(text []byte) *CRD { return &CRD{text: text} }

// Text returns the definition as it was given, or nil if there is none.
func (c *CRD) Text() []byte {
	if c == nil {
		return nil
	}
	return c.text
}

// CRDs returns a function that finds the CustomResourceDefinition of a kind,
// named in lower case, in a folder of embedded files, <kind>.yaml, as
// `generate` writes it. The function returns nil where there is none yet, which
// [Controller.CRD] allows, and the same one at every call.
func CRDs(files fs.FS, folder string) func(kind string) *CRD {
	read := sync.OnceValue(func() map[string]*CRD {
		byKind := map[string]*CRD{}
		entries, err := fs.ReadDir(files, folder)
		if err != nil {
			return nil // a folder that is embedded can be read
		}
		for _, entry := range entries {
			kind, isYAML := strings.CutSuffix(entry.Name(), ".yaml")
			if text, err := fs.ReadFile(files, folder+"/"+entry.Name()); err == nil && isYAML && kind != "kustomization" {
				byKind[kind] = NewCRD(text)
			}
		}
		return byKind
	})
	return func(kind string) *CRD { return read()[kind] }
}
