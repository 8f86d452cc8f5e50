package attest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	provenance "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// Types of the statement.
const (
	statementType = "https://in-toto.io/Statement/v1"
	predicateType = "https://slsa.dev/provenance/v1"
	buildType     = "https://github.com/operetta-dev/operetta/blob/main/docs/install.md#a-release"
	repository    = "git+https://github.com/operetta-dev/operetta"
)

// Build is what is known of how an image was made.
type Build struct {
	// Builder is the URI of who has built it. Nothing proves it without a signature.
	Builder string
	// Image is its name, without a version.
	Image string
	// Digests are those of the image, as in sha256:..., by what they are of: all platforms
	// together, and each.
	Digests map[string]string
	// Version and Revision, which is a commit, are those of the source.
	Version, Revision string
	// Platforms are what it was built for.
	Platforms []string
	// GoVersion is that of the compiler, as the programs say.
	GoVersion string
	// Byproducts are files that were made of it, by name.
	Byproducts map[string][]byte
}

// Provenance returns an in-toto statement with a SLSA provenance, which is not signed.
func (b Build) Provenance() ([]byte, error) {
	parameters, err := structpb.NewStruct(map[string]any{"version": b.Version, "image": b.Image, "platforms": list(b.Platforms)})
	if err != nil {
		return nil, err
	}
	internal, err := structpb.NewStruct(map[string]any{"go": b.GoVersion})
	if err != nil {
		return nil, err
	}
	predicate := &provenance.Provenance{
		BuildDefinition: &provenance.BuildDefinition{
			BuildType: buildType, ExternalParameters: parameters, InternalParameters: internal,
			ResolvedDependencies: []*intoto.ResourceDescriptor{{Uri: repository, Digest: map[string]string{"gitCommit": b.Revision}}},
		},
		RunDetails: &provenance.RunDetails{Builder: &provenance.Builder{Id: b.Builder}},
	}
	for _, name := range sorted(b.Byproducts) {
		predicate.RunDetails.Byproducts = append(predicate.RunDetails.Byproducts,
			&intoto.ResourceDescriptor{Name: name, Digest: map[string]string{"sha256": hexSHA256(b.Byproducts[name])}})
	}
	if err := predicate.Validate(); err != nil {
		return nil, err
	}
	statement := &intoto.Statement{Type: statementType, PredicateType: predicateType}
	if statement.Predicate, err = asStruct(predicate); err != nil {
		return nil, err
	}
	for _, name := range sorted(b.Digests) {
		algorithm, digest, _ := strings.Cut(b.Digests[name], ":")
		statement.Subject = append(statement.Subject, &intoto.ResourceDescriptor{
			Name: b.Image, Digest: map[string]string{algorithm: digest},
			Annotations: &structpb.Struct{Fields: map[string]*structpb.Value{"platform": structpb.NewStringValue(name)}},
		})
	}
	if err := statement.Validate(); err != nil {
		return nil, err
	}
	return indented(statement)
}

// asStruct returns a message as the JSON object that it stands for.
func asStruct(message proto.Message) (*structpb.Struct, error) {
	text, err := protojson.Marshal(message)
	if err != nil {
		return nil, err
	}
	var object structpb.Struct
	return &object, protojson.Unmarshal(text, &object)
}

// indented returns a message as JSON. protojson puts in spaces by chance.
func indented(message proto.Message) ([]byte, error) {
	text, err := protojson.Marshal(message)
	if err != nil {
		return nil, err
	}
	var once, again bytes.Buffer
	if err := json.Compact(&once, text); err != nil {
		return nil, fmt.Errorf("the statement: %w", err)
	}
	if err := json.Indent(&again, once.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("the statement: %w", err)
	}
	return append(again.Bytes(), '\n'), nil
}
