package main

import (
	"archive/tar"
	"context"
	"io"
	"log"
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

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

// mostBytes is the size that an image has for each platform at most, compressed.
const mostBytes = 12 << 20

func sourceOf(root string) source {
	return source{root: root, goCommand: "go", version: "v1.2.3", revision: "0123abcd", created: 1767323045}
}

var build = sync.OnceValues(func() ([]v1.Image, error) {
	images, _, err := sourceOf("..").build(context.Background())
	return images, err
})

func built(t *testing.T) []v1.Image {
	t.Helper()
	images, err := build()
	require.NoError(t, err)
	return images
}

func digests(t *testing.T, images []v1.Image) (all []string) {
	t.Helper()
	for _, image := range images {
		digest, err := image.Digest()
		require.NoError(t, err)
		all = append(all, digest.String())
	}
	return all
}

// From another folder, at another time, with another environment.
func TestTheSameSourceGivesTheSameDigest(t *testing.T) {
	elsewhere := t.TempDir()
	for _, part := range []string{"cmd", "deploy", "hooks", "internal", "metacontroller", "operator", "serve"} {
		require.NoError(t, os.CopyFS(filepath.Join(elsewhere, part), os.DirFS(filepath.Join("..", part))))
	}
	for _, file := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join("..", file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(elsewhere, file), content, 0o600))
	}
	want := digests(t, built(t))
	t.Setenv("GOFLAGS", "-tags=another")
	t.Setenv("GOAMD64", "v3")
	t.Setenv("TZ", "Asia/Tokyo")
	again, _, err := sourceOf(elsewhere).build(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, digests(t, again))
}

// TestTheImageIsWhatTheDockerfileSays but for the base.
func TestTheImageIsWhatTheDockerfileSays(t *testing.T) {
	content, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	dockerfile := strings.NewReplacer("$VERSION", "v1.2.3", "$REVISION", "0123abcd").Replace(string(content))
	_, final, found := strings.Cut(dockerfile, "\nFROM gcr.io/distroless/")
	require.True(t, found)
	labels := map[string]string{}
	for _, label := range regexp.MustCompile(`(org\.opencontainers\.image\.[a-z]+)="([^"]*)"`).FindAllStringSubmatch(final, -1) {
		labels[label[1]] = label[2]
	}
	for i, platform := range platforms {
		file, err := built(t)[i].ConfigFile()
		require.NoError(t, err)
		require.Equal(t, platform.OS+"/"+platform.Architecture, file.OS+"/"+file.Architecture)
		config := file.Config
		require.Equal(t, labels, config.Labels)
		for port := range config.ExposedPorts {
			require.Regexp(t, `(?m)^EXPOSE .*\b`+strings.TrimSuffix(port, "/tcp")+`\b`, final)
		}
		require.Contains(t, final, "\nUSER "+config.User+"\n")
		require.Contains(t, final, "\nENTRYPOINT [\""+strings.Join(config.Entrypoint, `", "`)+"\"]\n")
		require.Contains(t, final, "\nCMD [\""+strings.Join(config.Cmd, `", "`)+"\"]\n")
	}
	code, err := os.ReadFile("image.go")
	require.NoError(t, err)
	flags := regexp.MustCompile(`go build (-trimpath -buildvcs=false) -ldflags "(.*)=v1\.2\.3"`).FindStringSubmatch(dockerfile)
	require.Len(t, flags, 3)
	require.Contains(t, string(code), `"`+strings.ReplaceAll(flags[1], " ", `", "`)+`"`)
	require.Contains(t, string(code), `"`+flags[2]+`="`)
}

// TestTheProgramNeedsNothingBesideIt runs it where there is no other file: no libc, no
// users, no certificates and no /tmp.
func TestTheProgramNeedsNothingBesideIt(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Chmod(root, 0o755))
	for i, platform := range platforms {
		layers, err := built(t)[i].Layers()
		require.NoError(t, err)
		require.Len(t, layers, 1)
		size, err := layers[0].Size()
		require.NoError(t, err)
		require.Less(t, size, int64(mostBytes))
		files := tar.NewReader(mutate.Extract(built(t)[i]))
		header, err := files.Next()
		require.NoError(t, err)
		require.Equal(t, "operetta", header.Name)
		require.Equal(t, int64(0o755), header.Mode)
		program, err := io.ReadAll(files)
		require.NoError(t, err)
		_, err = files.Next()
		require.ErrorIs(t, err, io.EOF, "one file is all that there is")
		if platform.Architecture == runtime.GOARCH {
			require.NoError(t, os.WriteFile(filepath.Join(root, "operetta"), program, 0o755))
		}
	}
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("only root may chroot")
	}
	for want, command := range map[string]string{"v1.2.3": "version", "listen: :8080": "config"} {
		cmd := exec.CommandContext(t.Context(), "/operetta", command)
		cmd.Dir, cmd.Env = "/", []string{"PATH=/"}
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
		require.Contains(t, string(said), want)
	}
}

// TestWhatIsWrittenIsTheImage in the layout, in the archives and in a registry.
func TestWhatIsWrittenIsTheImage(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	repository := strings.TrimPrefix(server.URL, "http://") + "/operetta"
	folder := t.TempDir()
	require.NoError(t, run(t.Context(), []string{"image", "--root=..", "--out=" + folder, "--name=" + repository, "--version=v1.2.3", "--revision=0123abcd", "--created=1767323045"}))
	require.NoError(t, run(t.Context(), []string{"push", "--out=" + folder, "--name=" + repository, "--version=v1.2.3"}))
	written, err := layout.ImageIndexFromPath(filepath.Join(folder, "image"))
	require.NoError(t, err)
	require.NoError(t, validate.Index(written))
	tag, err := name.NewTag(repository + ":v1.2.3")
	require.NoError(t, err)
	for i, platform := range platforms {
		want, err := built(t)[i].ConfigName()
		require.NoError(t, err)
		archived, err := tarball.ImageFromPath(filepath.Join(folder, "image-linux-"+platform.Architecture+".tar"), &tag)
		require.NoError(t, err)
		pulled, err := remote.Image(tag, remote.WithPlatform(platform))
		require.NoError(t, err)
		for _, image := range []v1.Image{archived, pulled} {
			got, err := image.ConfigName()
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	}
}
