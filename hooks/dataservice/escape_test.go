package dataservice

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"
)

// TestCredentialsAreEscaped runs the script of the init container, and reads the
// URL that Spring makes of what it writes.
func TestCredentialsAreEscaped(t *testing.T) {
	ds := &DataService{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(elsewhere), &ds.Spec))
	p, err := DefaultPolicy().resolve(ds)
	require.NoError(t, err)
	workload, _, err := p.objects(p.unit("auth"))
	require.NoError(t, err)
	pod := workload.(*appsv1.Deployment).Spec.Template.Spec
	require.Len(t, pod.InitContainers, 1)
	require.Contains(t, fmt.Sprint(pod.Containers[0].Env), "file:/etc/dataservice/,file:/etc/dataservice-credentials/")
	dir := t.TempDir()
	script := strings.ReplaceAll(pod.InitContainers[0].Command[2], escapedDir, dir)
	const user, password = "a@b c", `p/ss:"$(id)ä%` + "\n"
	command := exec.Command("sh", "-ec", script)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "EUREKA_USERNAME=" + user, "EUREKA_PASSWORD=" + password}
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	written, err := os.ReadFile(filepath.Join(dir, "application.yml"))
	require.NoError(t, err)
	var properties map[string]string
	require.NoError(t, yaml.UnmarshalStrict(written, &properties))
	app := parsed(t, generated(t, elsewhere)["login/application.yml"])
	read, err := url.Parse(strings.ReplaceAll(app.Eureka.Client.ServiceURL.DefaultZone, "${eureka-user}", properties["eureka-user"]))
	require.NoError(t, err)
	require.Equal(t, "eureka.example.com", read.Host)
	require.Equal(t, user, read.User.Username())
	secret, _ := read.User.Password()
	require.Equal(t, password, secret)
}
