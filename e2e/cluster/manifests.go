package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// standInBase has what a kustomization here needs of the one that Metacontroller's authors
// ship, which is fetched from the network.
const standInBase = metacontrollerAccount + `---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: metacontroller}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: aggregate-metacontroller-edit}
rules: []
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: metacontroller, namespace: metacontroller, labels: {app.kubernetes.io/name: metacontroller}}
spec:
  replicas: 1
  selector: {matchLabels: {app.kubernetes.io/name: metacontroller}}
  serviceName: ""
  template:
    metadata: {labels: {app.kubernetes.io/name: metacontroller}}
    spec:
      serviceAccountName: metacontroller
      containers:
      - {name: metacontroller, image: metacontroller, command: [/usr/bin/metacontroller]}
`

// remoteBase is a line that names something on the network.
var remoteBase = regexp.MustCompile(`(?m)^- https://.*$`)

// CopyWithoutNetwork copies deploy/ to a folder. Its Metacontroller is rendered there with
// a stand-in for the base that is fetched from the network otherwise.
func CopyWithoutNetwork(deploy, to string) error {
	if err := os.CopyFS(to, os.DirFS(deploy)); err != nil {
		return fmt.Errorf("copy the manifests: %w", err)
	}
	path := filepath.Join(to, "metacontroller/kustomization.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read how Metacontroller is installed: %w", err)
	}
	if !remoteBase.Match(text) {
		return errors.New("the installation of Metacontroller has no remote base")
	}
	base := filepath.Join(to, "metacontroller/base")
	if err := os.Mkdir(base, 0o755); err != nil {
		return fmt.Errorf("make a base: %w", err)
	}
	for path, text := range map[string]string{
		path:                             string(remoteBase.ReplaceAll(text, []byte("- base"))),
		filepath.Join(base, "base.yaml"): standInBase,
		filepath.Join(base, "kustomization.yaml"): "resources: [base.yaml]\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write a base: %w", err)
		}
	}
	return nil
}
