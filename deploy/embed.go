// Package deploy carries the manifests that the program itself needs.
package deploy

import (
	"embed"

	"github.com/operetta-dev/operetta/metacontroller"
)

//go:embed crds
var files embed.FS

// CRD returns the CustomResourceDefinition of a kind as `make generate` has
// written it, or nil where there is none yet, see [metacontroller.CRDs].
var CRD = metacontroller.CRDs(files, "crds")

// Server has the manifests of the webhook server and its namespace, which those of
// another module are made from.
//
//go:embed kustomization.yaml namespace.yaml server
var Server embed.FS
