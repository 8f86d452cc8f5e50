package kubelet

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

// Server is a server that runs as a Pod of a Deployment would.
type Server struct {
	// Name is that of its log.
	Name string
	// Hooks and Metrics are its addresses.
	Hooks, Metrics string

	mounts map[string]corev1.Volume // by the folder
}

// StartServer runs a program as a Pod does: its own arguments and
// environment, and its volumes as folders below the cluster's.
func StartServer(ctx context.Context, c *cluster.Cluster, objects *cluster.Reader, path, name string, pod corev1.PodSpec) (*Server, error) {
	s := &Server{Name: name, mounts: map[string]corev1.Volume{}}
	for _, address := range []*string{&s.Hooks, &s.Metrics} {
		free, err := cluster.FreeAddress()
		if err != nil {
			return nil, err
		}
		*address = free
	}
	container := pod.Containers[0]
	args := slices.Clone(container.Args)
	for _, mount := range container.VolumeMounts {
		volume := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		if volume < 0 {
			return nil, fmt.Errorf("the container mounts %s, which is no volume of the Pod", mount.Name)
		}
		folder := filepath.Join(c.Dir, name, mount.Name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		s.mounts[folder] = pod.Volumes[volume]
		for i := range args {
			flag, file, _ := strings.Cut(args[i], "=")
			if rest, isBelow := strings.CutPrefix(file, mount.MountPath); isBelow && (rest == "" || rest[0] == '/') {
				args[i] = flag + "=" + folder + rest
			}
		}
	}
	if err := s.Mount(ctx, objects); err != nil {
		return nil, err
	}
	program := cluster.Program{
		Name: name, Path: path, Env: cluster.Environment(container),
		Args:  append(args, "--listen="+s.Hooks, "--metrics-listen="+s.Metrics),
		Ready: cluster.Healthy("http://" + s.Metrics + "/readyz"),
	}
	if err := c.Run(ctx, program); err != nil {
		_ = c.Kill(name) // which may have ended
		return nil, err
	}
	return s, nil
}

// Mount writes what Secrets and ConfigMaps have to the folders: a file is replaced at once, and
// stays as it is while its object does not exist.
func (s *Server) Mount(ctx context.Context, objects *cluster.Reader) error {
	for folder, volume := range s.mounts {
		_, files, err := contents(ctx, objects, volume)
		if err != nil {
			return err
		}
		for name, content := range files {
			file := filepath.Join(folder, name)
			if former, err := os.ReadFile(file); err == nil && bytes.Equal(former, content) {
				continue
			}
			if err := os.WriteFile(file+".new", content, 0o600); err != nil {
				return err
			}
			if err := os.Rename(file+".new", file); err != nil {
				return err
			}
		}
	}
	return nil
}

// contents returns the files of a volume, or the object that is missing, such as
// secret/operetta-tls.
func contents(ctx context.Context, objects *cluster.Reader, volume corev1.Volume) (missing string, files map[string][]byte, err error) {
	var of string
	var items []corev1.KeyToPath
	var data map[string][]byte
	switch {
	case volume.EmptyDir != nil:
		return "", nil, nil
	case volume.Secret != nil:
		of, items = "secret/"+volume.Secret.SecretName, volume.Secret.Items
		data, err = Secret(ctx, objects, volume.Secret.SecretName)
	case volume.ConfigMap != nil:
		of, items = "configmap/"+volume.ConfigMap.Name, volume.ConfigMap.Items
		data, err = configMap(ctx, objects, volume.ConfigMap.Name)
	default:
		return "", nil, fmt.Errorf("the volume %s is of no Secret, ConfigMap or emptyDir, which are all that is known here", volume.Name)
	}
	if err != nil {
		return "", nil, err
	}
	if data == nil {
		return of, nil, nil
	}
	if items == nil {
		return "", data, nil
	}
	files = map[string][]byte{}
	for _, item := range items {
		content, found := data[item.Key]
		if !found {
			return "", nil, fmt.Errorf("%s has no key %s", of, item.Key)
		}
		files[item.Path] = content
	}
	return "", files, nil
}

// configMap returns the data of a ConfigMap of [Namespace], or nil if it does not exist.
func configMap(ctx context.Context, objects *cluster.Reader, name string) (map[string][]byte, error) {
	object, err := objects.Get(ctx, "configmap", Namespace, name)
	if err != nil || object == nil {
		return nil, err
	}
	var c struct{ Data map[string]string }
	if err := convert(object, &c); err != nil {
		return nil, fmt.Errorf("read the ConfigMap %s: %w", name, err)
	}
	data := map[string][]byte{}
	for key, text := range c.Data {
		data[key] = []byte(text)
	}
	return data, nil
}
