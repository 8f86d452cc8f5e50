package pin_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/require"

	"github.com/operetta-dev/operetta/release/pin"
)

// folder returns a deploy/ with images of a registry.
func folder(t *testing.T, host string) string {
	t.Helper()
	deploy := t.TempDir()
	for path, text := range map[string]string{
		"images/images.yaml":                   "# Why.\nmetacontroller: HOST/meta/controller:v4.17.2\n\n# A default.\npodset-default: HOST/busybox:1.37\nother: HOST/busybox:1.37.0\n",
		"metacontroller/statefulset.yaml":      "containers:\n- name: metacontroller\n  image: HOST/meta/controller:v4.17.2\n  args: [HOST/busybox:1.37]\n",
		"components/self-signed/certgen.yaml":  "- image: HOST/busybox:1.37\n",
		"samples/podset.yaml":                  "image: HOST/busybox:1.37\n",
		"components/self-signed/unrelated.txt": "image: HOST/busybox:1.37\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(deploy, filepath.Dir(path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(deploy, path), []byte(strings.ReplaceAll(text, "HOST", host)), 0o600))
	}
	return deploy
}

// contents returns the files below a folder.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		relative, _ := filepath.Rel(folder, path)
		texts[relative] = string(text)
		return err
	}))
	return texts
}

// upload puts another image under a version, and returns its digest.
func upload(t *testing.T, version string) string {
	t.Helper()
	tag, err := name.NewTag(version)
	require.NoError(t, err)
	index, err := random.Index(64, 1, 2)
	require.NoError(t, err)
	require.NoError(t, remote.WriteIndex(tag, index))
	digest, err := index.Digest()
	require.NoError(t, err)
	return digest.String()
}

func TestDigestsAreWrittenWhereImagesAreListed(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	meta, box, other := upload(t, host+"/meta/controller:v4.17.2"), upload(t, host+"/busybox:1.37"), upload(t, host+"/busybox:1.37.0")
	deploy := folder(t, host)
	for range 2 { // the second changes nothing
		references, err := pin.Files(t.Context(), deploy, http.DefaultTransport)
		require.NoError(t, err)
		require.Equal(t, []string{host + "/meta/controller:v4.17.2@" + meta, host + "/busybox:1.37@" + box, host + "/busybox:1.37.0@" + other}, references)
		require.Equal(t, map[string]string{
			"images/images.yaml":                   "# Why.\nmetacontroller: " + references[0] + "\n\n# A default.\npodset-default: " + references[1] + "\nother: " + references[2] + "\n",
			"metacontroller/statefulset.yaml":      "containers:\n- name: metacontroller\n  image: " + references[0] + "\n  args: [" + host + "/busybox:1.37]\n",
			"components/self-signed/certgen.yaml":  "- image: " + references[1] + "\n",
			"samples/podset.yaml":                  "image: " + host + "/busybox:1.37\n",
			"components/self-signed/unrelated.txt": "image: " + host + "/busybox:1.37\n",
		}, contents(t, deploy))
	}

	box = upload(t, host+"/busybox:1.37") // what a version means can change
	references, err := pin.Files(t.Context(), deploy, http.DefaultTransport)
	require.NoError(t, err)
	require.Equal(t, host+"/busybox:1.37@"+box, references[1])
	require.Equal(t, "- image: "+references[1]+"\n", contents(t, deploy)["components/self-signed/certgen.yaml"])
}

// TestNothingIsWrittenWithoutAllDigests: not those that are known either.
func TestNothingIsWrittenWithoutAllDigests(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	host := strings.TrimPrefix(server.URL, "http://")
	upload(t, host+"/meta/controller:v4.17.2")
	deploy := folder(t, host)
	before := contents(t, deploy)
	_, err := pin.Files(t.Context(), deploy, http.DefaultTransport)
	require.ErrorContains(t, err, "nothing is changed: "+host+"/busybox:1.37: ")
	require.NotContains(t, err.Error(), "meta/controller")
	require.Equal(t, before, contents(t, deploy))

	server.Close() // no registry
	_, err = pin.Files(t.Context(), deploy, http.DefaultTransport)
	require.ErrorContains(t, err, "nothing is changed: "+host+"/meta/controller:v4.17.2: ")
	require.Equal(t, before, contents(t, deploy))

	require.NoError(t, os.WriteFile(filepath.Join(deploy, "images/images.yaml"), []byte("a: {b: c}\n"), 0o600))
	_, err = pin.Files(t.Context(), deploy, http.DefaultTransport)
	require.ErrorContains(t, err, "nothing is changed: ")
}
