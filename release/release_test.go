package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/release/image"
)

const revision = "0123456789abcdef0123456789abcdef01234567"

// built returns images of nothing, with this test as their program.
func built(t *testing.T) image.Built {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	program, err := os.ReadFile(path)
	require.NoError(t, err)
	var b image.Built
	b.Index, err = random.Index(64, 1, 2)
	require.NoError(t, err)
	for range image.Platforms() {
		one, err := random.Image(64, 1)
		require.NoError(t, err)
		b.Images, b.Programs = append(b.Images, one), append(b.Programs, program)
	}
	return b
}

func flags() imageFlags {
	f := imageFlags{repository: "registry.example.com/operetta"}
	f.source.Version, f.source.Revision, f.source.Created = "v1.2.3", revision, time.Unix(1767323045, 0).UTC()
	return f
}

func TestSBOMsNameTheModulesOfThePrograms(t *testing.T) {
	files, err := attestations(flags(), built(t), "https://example.com/builder")
	require.NoError(t, err)
	require.Len(t, files, 3)
	var bom cdx.BOM
	require.NoError(t, cdx.NewBOMDecoder(bytes.NewReader(files["sbom-linux-amd64.cdx.json"]), cdx.BOMFileFormatJSON).Decode(&bom))
	require.Equal(t, cdx.SpecVersion1_6, bom.SpecVersion)
	require.Equal(t, "2026-01-02T03:04:05Z", bom.Metadata.Timestamp)
	require.Equal(t, "v1.2.3", bom.Metadata.Component.Version)
	versions := map[string]string{}
	for _, component := range *bom.Components {
		require.Equal(t, "pkg:golang/"+component.Name+"@"+component.Version, component.PackageURL)
		versions[component.Name] = component.Version
	}
	require.Equal(t, runtime.Version(), versions["stdlib"])
	goMod, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	for _, module := range []string{"helm.sh/helm/v4", "github.com/CycloneDX/cyclonedx-go"} {
		require.Contains(t, string(goMod), "\t"+module+" "+versions[module]+"\n")
	}
	require.Len(t, *(*bom.Dependencies)[0].Dependencies, len(versions))

	var other cdx.BOM
	require.NoError(t, json.Unmarshal(files["sbom-linux-arm64.cdx.json"], &other))
	require.NotEqual(t, bom.SerialNumber, other.SerialNumber)
	_, err = attestations(flags(), image.Built{Index: built(t).Index, Images: built(t).Images, Programs: [][]byte{{1}, {2}}}, "x:y")
	require.ErrorContains(t, err, "the modules of the program")
}

func TestProvenanceSaysWhatIsKnown(t *testing.T) {
	b := built(t)
	files, err := attestations(flags(), b, "https://example.com/builder")
	require.NoError(t, err)
	again, err := attestations(flags(), b, "https://example.com/builder")
	require.NoError(t, err)
	require.Equal(t, files, again, "the same release gives the same bytes")

	all, err := b.Index.Digest()
	require.NoError(t, err)
	amd64, err := b.Images[0].Digest()
	require.NoError(t, err)
	arm64, err := b.Images[1].Digest()
	require.NoError(t, err)
	subject := func(hex, platform string) string {
		return `{"name": "registry.example.com/operetta", "digest": {"sha256": "` + hex + `"}, "annotations": {"platform": "` + platform + `"}}`
	}
	var statement struct {
		Predicate struct {
			RunDetails struct {
				Byproducts []struct {
					Name   string
					Digest map[string]string
				}
			}
		}
	}
	provenance := files["provenance.intoto.json"]
	require.NoError(t, json.Unmarshal(provenance, &statement))
	byproducts, err := json.Marshal(statement.Predicate.RunDetails.Byproducts)
	require.NoError(t, err)
	require.Len(t, statement.Predicate.RunDetails.Byproducts, 2)
	require.JSONEq(t, `{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": "https://slsa.dev/provenance/v1",
		"subject": [`+subject(all.Hex, "all")+`, `+subject(amd64.Hex, "linux/amd64")+`, `+subject(arm64.Hex, "linux/arm64")+`],
		"predicate": {
			"buildDefinition": {
				"buildType": "https://github.com/operetta-dev/operetta/blob/main/docs/install.md#a-release",
				"externalParameters": {"version": "v1.2.3", "image": "registry.example.com/operetta", "platforms": ["linux/amd64", "linux/arm64"]},
				"internalParameters": {"go": "`+runtime.Version()+`"},
				"resolvedDependencies": [{"uri": "git+https://github.com/operetta-dev/operetta", "digest": {"gitCommit": "`+revision+`"}}]
			},
			"runDetails": {"builder": {"id": "https://example.com/builder"}, "byproducts": `+strings.ToLower(string(byproducts))+`}
		}
	}`, string(provenance))

	_, err = attestations(flags(), b, "")
	require.Error(t, err, "somebody has built it")
}

func TestAReleaseIsOfACommitAndAVersion(t *testing.T) {
	root := t.TempDir()
	changelog := "# Changelog\n\n## Unreleased\n\n- [FEATURE] Sings.\n\n## v0.1.0\n\n- [FEATURE] Hums.\n"
	require.NoError(t, os.WriteFile(filepath.Join(root, "CHANGELOG.md"), []byte(changelog), 0o600))
	for wrong, args := range map[string][]string{
		`"devel" is no version of a release`:     {"--revision", revision},
		`"v1.2" is no version of a release`:      {"--version", "v1.2", "--revision", revision},
		`"unknown" is no commit`:                 {"--version", "v1.2.3"},
		`"0123456" is no commit`:                 {"--version", "v1.2.3", "--revision", "0123456"},
		"the CHANGELOG has no section ## v1.2.3": {"--version", "v1.2.3", "--revision", revision, "--tagged"},
		"no such file or directory":              {"--version", "v0.1.0", "--revision", revision, "--tagged"}, // there is no deploy/
	} {
		require.ErrorContains(t, run(t.Context(), append([]string{"release", "--root", root, "--out", t.TempDir()}, args...)), wrong)
	}
	text, err := notesOf(root, "v1.2.3", false)
	require.NoError(t, err)
	require.Equal(t, "# Operetta v1.2.3\n\n## New\n\n- Sings.\n", text)
	text, err = notesOf(root, "v0.1.0", true)
	require.NoError(t, err)
	require.Equal(t, "# Operetta v0.1.0\n\n## New\n\n- Hums.\n", text)
}
