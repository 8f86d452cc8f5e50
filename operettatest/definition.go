package operettatest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"sigs.k8s.io/yaml"
)

// definitionCanBeStored requires that the API server would take the operator's CustomResourceDefinition.
// That is a test, and not a part of operetta generate, because the validation comes with gRPC and
// OpenTelemetry.
func (k kind) definitionCanBeStored(t *testing.T) {
	if k.CRD == nil {
		t.Skip("the operator has no CRD: set Controller.CRD")
	}
	require.NoError(t, stored(t.Context(), k.CRD.Text()))
}

// stored returns why the API server would refuse a CustomResourceDefinition, by its
// own validation: among others it estimates what each rule costs at most, for the
// longest lists and texts that the schema admits, and refuses what costs too much.
func stored(ctx context.Context, text []byte) error {
	var written apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &written); err != nil {
		return fmt.Errorf("reading the CustomResourceDefinition: %w", err)
	}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(&written)
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&written, &internal, nil); err != nil {
		return fmt.Errorf("converting the CustomResourceDefinition: %w", err)
	}
	// The API server notes them itself as it creates a definition.
	for _, version := range internal.Spec.Versions {
		if version.Storage {
			internal.Status.StoredVersions = append(internal.Status.StoredVersions, version.Name)
		}
	}
	if err := validation.ValidateCustomResourceDefinition(ctx, &internal).ToAggregate(); err != nil {
		return fmt.Errorf("the API server would refuse its CustomResourceDefinition: %w", err)
	}
	return nil
}
