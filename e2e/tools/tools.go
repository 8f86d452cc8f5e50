// Package tools builds the programs that the end-to-end tests run.
//
// The tests need a real control plane at an exact version, on machines that may
// have nothing but Go and a module proxy. So the programs are not downloaded:
// they are tools of this module's go.mod, and are built once from source into a
// cache directory.
package tools

import (
	"fmt"
	"strings"
)

// kubernetesModule holds the main packages of all Kubernetes programs.
const kubernetesModule = "k8s.io/kubernetes"

// Tool is a program that a `tool` line in go.mod pins to a version.
type Tool struct {
	// Name is what people call the program; the binary is named after it.
	Name string
	// Package is the import path of its main package.
	Package string
	// Module is the module of Package; its version is the version of the tool.
	Module string
	// Dir is the folder of the go.mod with the tool line, below the one of this
	// package's module.
	Dir string
}

// The programs of a control plane.
var (
	Etcd          = Tool{Name: "etcd", Package: "go.etcd.io/etcd/server/v3", Module: "go.etcd.io/etcd/server/v3", Dir: "kubernetes"}
	KubeAPIServer = kubernetes("kube-apiserver")
	Kubectl       = kubernetes("kubectl")

	KubeControllerManager = kubernetes("kube-controller-manager")
	KubeScheduler         = kubernetes("kube-scheduler")
	// Kwok plays the kubelet. It has a go.mod of its own: in the one of
	// Kubernetes it would raise versions that Kubernetes is built from.
	Kwok = Tool{Name: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok", Module: "sigs.k8s.io/kwok", Dir: "kwok"}
)

// ControlPlane lists what has to be built before a cluster without nodes can
// start.
func ControlPlane() []Tool {
	return []Tool{Etcd, KubeAPIServer, Kubectl}
}

// Nodes lists what a cluster in which Pods run needs in addition.
func Nodes() []Tool {
	return []Tool{KubeControllerManager, KubeScheduler, Kwok}
}

func kubernetes(name string) Tool {
	return Tool{Name: name, Package: kubernetesModule + "/cmd/" + name, Module: kubernetesModule, Dir: "kubernetes"}
}

// linkerFlags returns the -ldflags to build version of the tool with.
//
// Symbol tables are stripped, because the binaries are large and nobody debugs
// them. Kubernetes programs are told their version as in an official
// release, because a plain `go build` leaves them with a placeholder, and the
// version decides which API versions and features they serve.
func (t Tool) linkerFlags(version string) string {
	flags := []string{"-s", "-w"}
	if t.Module != kubernetesModule {
		return strings.Join(flags, " ")
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		flags = append(flags,
			fmt.Sprintf("-X %s.gitVersion=%s", pkg, version),
			fmt.Sprintf("-X %s.gitMajor=%s", pkg, major),
			fmt.Sprintf("-X %s.gitMinor=%s", pkg, minor),
			fmt.Sprintf("-X %s.gitCommit=unknown", pkg),
			fmt.Sprintf("-X %s.gitTreeState=clean", pkg))
	}
	return strings.Join(flags, " ")
}
