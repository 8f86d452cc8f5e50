// Package attest tells what a release consists of and how it was made: a bill of
// materials of each program, the provenance of the image, and checksums.
//
// Everything in it follows from its arguments: the same release gives the same bytes.
package attest

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// Program is an executable file that Go has made.
type Program struct {
	// Platform is what it runs on, as in linux/amd64.
	Platform string
	// Version is that of the release.
	Version string
	// Created is the time of its commit.
	Created time.Time
	// Content is the file.
	Content []byte
}

// SBOM returns the bill of materials of a program in CycloneDX 1.6: the modules that the
// program itself says it is made of. Their licenses are not known there.
func (p Program) SBOM() ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(p.Content))
	if err != nil {
		return nil, fmt.Errorf("the modules of the program: %w", err)
	}
	root := cdx.Component{
		BOMRef: "pkg:golang/" + info.Main.Path + "@" + p.Version, Type: cdx.ComponentTypeApplication,
		Name: "operetta", Version: p.Version, PackageURL: "pkg:golang/" + info.Main.Path + "@" + p.Version,
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hexSHA256(p.Content)}},
		Properties: &[]cdx.Property{{Name: "operetta.dev:platform", Value: p.Platform}},
	}
	components := []cdx.Component{library("stdlib", info.GoVersion, "")}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		components = append(components, library(module.Path, module.Version, module.Sum))
	}
	var needs []string
	for _, component := range components {
		needs = append(needs, component.BOMRef)
	}
	bom := cdx.NewBOM()
	// Another program gives another number, and the same one the same.
	bom.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceURL, []byte(root.BOMRef+p.Platform+hexSHA256(p.Content))).String()
	bom.Metadata = &cdx.Metadata{Timestamp: p.Created.UTC().Format(time.RFC3339), Component: &root}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: root.BOMRef, Dependencies: &needs}}
	var text bytes.Buffer
	err = cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).EncodeVersion(bom, cdx.SpecVersion1_6)
	return text.Bytes(), err
}

// library returns a module as a component. Its sum is Go's, of the whole module.
func library(path, version, sum string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	component := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url}
	if sum != "" {
		component.Properties = &[]cdx.Property{{Name: "operetta.dev:go.sum", Value: sum}}
	}
	return component
}

func hexSHA256(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
