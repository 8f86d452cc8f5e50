// Package deploy carries the manifests that the program itself needs.
package deploy

import (
	"embed"

	"github.com/operetta-dev/operetta/metacontroller"
)

//go:embed crds
var files embed.FS

// CRD returns the CustomResourceDefinition of a kind as `generate` has written it,
// or nil where there is none yet.
var CRD = metacontroller.CRDs(files, "crds")
