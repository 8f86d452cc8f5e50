package image_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/release/image"
)

// most is the size in bytes that an image has for each platform at most, compressed.
const most = 12 << 20

func source(root string) image.Source {
	return image.Source{Root: root, Go: "go", Version: "v1.2.3", Revision: "0123abcd", Created: time.Unix(1767323045, 0).UTC()}
}

var build = sync.OnceValues(func() (image.Built, error) { return image.Build(context.Background(), source("../..")) })

func built(t *testing.T) image.Built {
	t.Helper()
	images, err := build()
	require.NoError(t, err)
	return images
}

func TestEachPlatformIsSmall(t *testing.T) {
	for i, platform := range image.Platforms() {
		layers, err := built(t).Images[i].Layers()
		require.NoError(t, err)
		require.Len(t, layers, 1)
		size, err := layers[0].Size()
		require.NoError(t, err)
		t.Logf("%s: %.1f MB compressed", platform, float64(size)/1e6)
		require.Less(t, size, int64(most))
	}
}

// From another folder, at another time, with another environment.
func TestTheSameSourceGivesTheSameDigest(t *testing.T) {
	elsewhere := t.TempDir()
	for _, part := range []string{"cmd", "deploy", "hooks", "internal", "metacontroller", "operator", "serve"} {
		require.NoError(t, os.CopyFS(filepath.Join(elsewhere, part), os.DirFS(filepath.Join("../..", part))))
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join("../..", file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(elsewhere, file), content, 0o600))
	}
	want, err := built(t).Index.Digest()
	require.NoError(t, err)

	t.Setenv("GOFLAGS", "-tags=another")
	t.Setenv("GOAMD64", "v3")
	t.Setenv("TZ", "Asia/Tokyo")
	again, err := image.Build(t.Context(), source(elsewhere))
	require.NoError(t, err)
	got, err := again.Index.Digest()
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// TestTheImageIsWhatTheDockerfileSays but for the base.
func TestTheImageIsWhatTheDockerfileSays(t *testing.T) {
	content, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	dockerfile := strings.NewReplacer("$VERSION", "v1.2.3", "$REVISION", "0123abcd").Replace(string(content))
	_, final, found := strings.Cut(dockerfile, "\nFROM gcr.io/distroless/")
	require.True(t, found)
	labels := map[string]string{}
	for _, label := range regexp.MustCompile(`(org\.opencontainers\.image\.[a-z]+)="([^"]*)"`).FindAllStringSubmatch(final, -1) {
		labels[label[1]] = label[2]
	}
	require.Len(t, labels, 6)
	for i, platform := range image.Platforms() {
		config, err := built(t).Images[i].ConfigFile()
		require.NoError(t, err)
		require.Equal(t, platform.OS+"/"+platform.Architecture, config.OS+"/"+config.Architecture)
		require.Equal(t, labels, config.Config.Labels)
		var ports []string
		for port := range config.Config.ExposedPorts {
			ports = append(ports, strings.TrimSuffix(port, "/tcp"))
		}
		require.ElementsMatch(t, strings.Fields(line(t, final, "EXPOSE ")), ports)
		require.Equal(t, line(t, final, "USER "), config.Config.User)
		require.Equal(t, line(t, final, "ENTRYPOINT "), `["`+strings.Join(config.Config.Entrypoint, `", "`)+`"]`)
		require.Equal(t, line(t, final, "CMD "), `["`+strings.Join(config.Config.Cmd, `", "`)+`"]`)
	}
	code, err := os.ReadFile("compile.go")
	require.NoError(t, err)
	flags := regexp.MustCompile(`go build (-trimpath -buildvcs=false) -ldflags "(.*)=v1\.2\.3"`).FindStringSubmatch(dockerfile)
	require.Len(t, flags, 3)
	require.Contains(t, string(code), `"`+strings.ReplaceAll(flags[1], " ", `", "`)+`"`)
	require.Contains(t, string(code), `"`+flags[2]+`="`)
}

// line returns what follows an instruction, of which there is one.
func line(t *testing.T, dockerfile, instruction string) string {
	t.Helper()
	_, rest, found := strings.Cut(dockerfile, "\n"+instruction)
	require.True(t, found, instruction)
	rest, _, _ = strings.Cut(rest, "\n")
	return rest
}

// TestTheProgramNeedsNothingBesideIt runs it where there is no other file: no libc, no
// users, no certificates and no /tmp.
func TestTheProgramNeedsNothingBesideIt(t *testing.T) {
	var images []v1.Image
	for i, platform := range image.Platforms() {
		files := tar.NewReader(mutate.Extract(built(t).Images[i]))
		header, err := files.Next()
		require.NoError(t, err)
		require.Equal(t, "operetta", header.Name)
		require.Equal(t, int64(0o755), header.Mode)
		_, err = files.Next()
		require.ErrorIs(t, err, io.EOF, "one file is all that there is")
		if platform.Architecture == runtime.GOARCH {
			images = append(images, built(t).Images[i])
		}
	}
	if len(images) == 0 || runtime.GOOS != "linux" {
		t.Skip("no image is for this platform")
	}
	if os.Getuid() != 0 {
		t.Skip("only root may chroot")
	}
	root := t.TempDir()
	require.NoError(t, os.Chmod(root, 0o755))
	files := tar.NewReader(mutate.Extract(images[0]))
	_, err := files.Next()
	require.NoError(t, err)
	program, err := io.ReadAll(files)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "operetta"), program, 0o755))
	sample, err := os.ReadFile("../../deploy/samples/podset.yaml")
	require.NoError(t, err)
	for want, args := range map[string][]string{
		"v1.2.3":        {"version"},
		"listen: :8080": {"config"},
	} {
		cmd := exec.CommandContext(t.Context(), "/operetta", args...)
		cmd.Dir, cmd.Env, cmd.Stdin = "/", []string{"PATH=/"}, bytes.NewReader(sample)
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
		require.Contains(t, string(said), want)
	}
}

// TestWhatIsWrittenIsTheImage in the layout, in the archives and in a registry.
func TestWhatIsWrittenIsTheImage(t *testing.T) {
	want, err := built(t).Index.Digest()
	require.NoError(t, err)
	folder := t.TempDir()
	oci := filepath.Join(folder, "image")
	for range 2 { // the second replaces the first
		require.NoError(t, built(t).WriteLayout(oci, "v1.2.3"))
	}
	root, err := layout.ImageIndexFromPath(oci)
	require.NoError(t, err)
	require.NoError(t, validate.Index(root))
	manifest, err := root.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 1)
	require.Equal(t, want, manifest.Manifests[0].Digest)

	tag, err := name.NewTag("registry.example.com/operetta:v1.2.3")
	require.NoError(t, err)
	paths, err := built(t).WriteArchives(folder, tag)
	require.NoError(t, err)
	for i, path := range paths {
		archived, err := tarball.ImageFromPath(path, &tag)
		require.NoError(t, err)
		require.NoError(t, validate.Image(archived))
		requireSameConfig(t, built(t).Images[i], archived)
	}

	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	tag, err = name.NewTag(strings.TrimPrefix(server.URL, "http://") + "/operetta:v1.2.3")
	require.NoError(t, err)
	pushed, err := image.Push(t.Context(), oci, tag, http.DefaultTransport)
	require.NoError(t, err)
	require.Equal(t, want, pushed)
	for i, platform := range image.Platforms() {
		pulled, err := remote.Image(tag, remote.WithPlatform(platform))
		require.NoError(t, err)
		requireSameConfig(t, built(t).Images[i], pulled)
	}
}

func requireSameConfig(t *testing.T, want, got v1.Image) {
	t.Helper()
	wanted, err := want.ConfigName()
	require.NoError(t, err)
	found, err := got.ConfigName()
	require.NoError(t, err)
	require.Equal(t, wanted, found)
}
