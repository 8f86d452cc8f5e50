//go:build unix

package docs

import (
	"fmt"
	"strings"

	"github.com/operetta-dev/operetta/e2e/docs/commands"
)

// page is a page, or the part of it below some headlines, and what it leaves to its reader.
type page struct {
	file     string
	headings []string
	steps    []commands.Step
	// apart says that it begins in an empty folder.
	apart bool
}

// pages are all pages with such commands, in an order in which one finds what it needs: the
// README installs, and docs/install.md uninstalls at the end.
func (s *site) pages() []page {
	return []page{
		{file: "README.md", headings: []string{"Install"}, steps: []commands.Step{
			{After: "kubectl apply -k deploy/", Do: s.startMetacontrollers},
		}},
		{file: "README.md", headings: []string{"Preview without a cluster"}},
		{file: "docs/getting-started.md", steps: []commands.Step{
			{Before: "kubectl apply -f deploy/samples/modelbox.yaml", Do: do("delete modelboxes.model.github.com/sentiment --timeout=1m")},
			{Before: "bin/operetta new", Do: func(string) error { s.sh("make build"); return nil }},
		}},
		{file: "docs/modelbox.md"},
		{file: "docs/diff.md"},
		{file: "docs/why.md"},
		{file: "docs/cli.md", steps: []commands.Step{{Before: "operetta render box.yaml", Do: func(string) error {
			s.write("box.yaml", strings.Replace(s.read("deploy/samples/modelbox.yaml"), "replicas: 3", "replicas: 2", 1))
			return nil
		}}}},
		{file: "docs/install.md", headings: []string{"Check the installation"}},
		{file: "docs/upgrade.md", steps: []commands.Step{
			{Before: "kubectl apply -f dist/install.yaml -l", Do: func(string) error { s.sh("make dist"); return nil }},
			{Before: "kubectl annotate --overwrite --namespace default", Do: func(string) error {
				return run("apply --namespace=default --filename=" + s.dir + "/deploy/samples/modelbox.yaml")
			}},
		}},
		{file: "docs/podset.md", steps: []commands.Step{
			{After: "kubectl wait", Do: func(string) error { return until("5/5", "get", "podsets.apps.jicki.cn/cache") }},
		}},
		{file: "docs/build.md", steps: []commands.Step{
			{Before: "kubectl get", Do: func(string) error {
				if err := run("apply --filename=" + s.dir + "/deploy/samples/build.yaml"); err != nil {
					return err
				}
				return until("Succeeded", "get", "builds.ci.zt.vapi.cc/hello")
			}},
			{Before: "kubectl create secret", Do: func(string) error {
				s.write("id_ed25519", "a key\n")
				s.write("known_hosts", "a host\n")
				return nil
			}},
		}},
		{file: "docs/myjob.md", steps: []commands.Step{{Before: "kubectl get", Do: func(string) error {
			if err := run("apply --filename=" + s.dir + "/deploy/samples/myjob.yaml"); err != nil {
				return err
			}
			return until("Succeeded", "get", "myjobs.myjob.github.com/hello")
		}}}},
		{file: "docs/dataservice.md", steps: []commands.Step{
			{Before: "kubectl get", Do: func(string) error { return until("11/11", "get", "dataservices.d3os-product.com.d3os") }},
			{After: "kubectl get dataservices.d3os-product.com.d3os dataservice-sample -o", Do: has("gateway-web 1/1")},
			// Its node ports are wanted again.
			{After: "kubectl get dataservices.d3os-product.com.d3os dataservice-sample -o", Do: do("delete dataservices.d3os-product.com.d3os --all --timeout=2m")},
		}},
		{file: "docs/podbuggertool.md", steps: []commands.Step{{Before: "kubectl get", Do: s.debugShop}}},
		{file: "docs/metrics.md", steps: []commands.Step{{Before: "kubectl label namespace monitoring", Do: do("create namespace monitoring")}}},
		{file: "docs/install.md", headings: []string{"An existing Metacontroller", "Some of the kinds, one file", "Without internet", "The Helm chart"}, steps: []commands.Step{
			{After: "make dist KINDS", Do: func(string) error {
				if text := s.read("dist/install.yaml"); strings.Contains(text, "modelbox") || !strings.Contains(text, "image: registry.example.com/operetta:v0.2.0") {
					return fmt.Errorf("dist/install.yaml has other kinds or another image")
				}
				return nil
			}},
		}},
		{file: "docs/troubleshooting.md", headings: []string{
			"A child is blocked", "A custom resource has no status", "A deletion does not end", "A CRD cannot be applied",
			"Restore from a backup",
		}, steps: s.troubles()},
		{file: "docs/operations.md", steps: []commands.Step{
			{Before: "kubectl label --overwrite", Do: s.startMetacontrollers},
			{After: "kubectl --namespace metacontroller delete statefulsets.apps", Do: s.startMetacontrollers},
		}},
		{file: "docs/authors.md", headings: []string{"From an empty folder to a cluster"}, steps: s.newModule()},
		{file: "docs/authors.md", headings: []string{"A worked example", "Try it without a cluster", "Test it", "Run it"}, apart: true, steps: s.workedExample()},
		{file: "docs/tls.md", steps: []commands.Step{
			{Before: "kubectl apply -k my-operetta/", Do: addCertManagerKinds},
		}},
		{file: "docs/install.md", headings: []string{"Uninstall"}, steps: []commands.Step{
			// Without the component of docs/tls.md, of which deploy/ knows nothing.
			{Before: "kubectl delete --all", Do: do("apply -k " + s.dir + "/deploy\ndelete clusterrolebinding,clusterrole operetta-metacontroller-secrets")},
			{After: "kubectl delete --ignore-not-found -k deploy/metacontroller/", Do: s.requireNothing},
		}},
	}
}

// blockMyJob brings about what takes half a minute to show: a Pod that is in the way. The longer it
// is, the longer it takes after it has gone.
func (s *site) blockMyJob() error {
	if err := run("create namespace r1\nwait --for=create serviceaccount/default --namespace=r1 --timeout=60s"); err != nil {
		return err
	}
	if err := apply(`{apiVersion: v1, kind: Pod, metadata: {name: hello}, spec: {containers: [{name: a, image: a}]}}`, "--namespace=r1"); err != nil {
		return err
	}
	return run("apply --namespace=r1 --filename=" + s.dir + "/deploy/samples/podset.yaml --filename=" + s.dir + "/deploy/samples/myjob.yaml")
}

const (
	oneDataService = "dataservices.d3os-product.com.d3os/dataservice-sample"
	dataServiceCRD = "crd/dataservices.d3os-product.com.d3os"
)

// troubles has the faults that docs/troubleshooting.md is about.
func (s *site) troubles() []commands.Step {
	isReady := `-o=jsonpath={.status.conditions[?(@.type=="Ready")].message}`
	return []commands.Step{
		{Before: "kubectl --namespace r1 get myjobs", Do: func(string) error {
			if err := s.blockMyJob(); err != nil {
				return err
			}
			return until("not created after 30s", "--namespace=r1", "get", "myjobs.myjob.github.com/hello", isReady)
		}},
		{After: "kubectl --namespace r1 wait --for=condition=ChildrenObserved", Do: do("delete --namespace=r1 myjobs.myjob.github.com/hello")},
		{Before: "kubectl events --namespace r1 --for podsets.apps.jicki.cn/big", Do: func(string) error {
			big := `{apiVersion: apps.jicki.cn/v1alpha1, kind: PodSet, metadata: {name: big}, spec: {size: 1, template: {metadata: {annotations: {note: ` +
				strings.Repeat("x", 150_000) + `}}, spec: {containers: [{name: memcached, image: "nginx:1.27-alpine"}]}}}}`
			if _, _, err := controlPlane.KubectlWithInput(big, "create", "--namespace=r1", "--filename=-"); err != nil {
				return err
			}
			return until("SyncError", "events", "--namespace=r1", "--for=podsets.apps.jicki.cn/big")
		}},
		{After: "kubectl events --namespace r1 --for podsets.apps.jicki.cn/big", Do: do("delete --namespace=r1 podsets.apps.jicki.cn/big")},
		{Before: "kubectl get operetta --all-namespaces -o custom-columns", Do: func(string) error {
			if err := run("create namespace r4\nwait --for=create serviceaccount/default --namespace=r4 --timeout=60s\n" +
				"apply --namespace=r4 --filename=" + s.dir + "/deploy/samples/dataservice.yaml"); err != nil {
				return err
			}
			if err := until("metacontroller.io", "--namespace=r4", "get", oneDataService, "-o=jsonpath={.metadata.finalizers}"); err != nil {
				return err
			}
			if err := s.endMetacontrollers(""); err != nil {
				return err
			}
			return run("--namespace=r4 delete --wait=false " + oneDataService)
		}},
		// Another one holds the CRD.
		{Before: "kubectl apply -k deploy/crds", Do: func(string) error {
			err := apply(`{apiVersion: d3os-product.com.d3os/v1, kind: DataService, metadata: {name: held, finalizers: [example.com/held]}, spec: {eureka: {image: a}}}`)
			if err == nil {
				err = run("delete --wait=false " + dataServiceCRD)
			}
			if err == nil {
				err = until("Terminating", "get", dataServiceCRD, "-o=jsonpath={.status.conditions[?(@.status==\"True\")].type}")
			}
			return err
		}},
		{After: "kubectl get crd", Do: func(string) error {
			_, _, err := controlPlane.Kubectl("patch", "dataservices.d3os-product.com.d3os/held", "--type=merge", `--patch={"metadata":{"finalizers":null}}`)
			if err == nil {
				err = run("wait --for=delete --timeout=60s " + dataServiceCRD)
			}
			return err
		}},
		{After: "kubectl apply -k deploy/crds", Do: s.startMetacontrollers},
		{Before: "kubectl get operetta --all-namespaces -o yaml", Do: do("--namespace=r1 apply --filename=" + s.dir + "/deploy/samples/modelbox.yaml")},
		{After: "kubectl get operetta --all-namespaces -o yaml", Do: do("--namespace=r1 delete podsets.apps.jicki.cn/cache modelboxes.model.github.com/sentiment --timeout=60s")},
		{After: "kubectl create -f backup.yaml", Do: do("--namespace=r1 wait --for=condition=Ready --timeout=2m podsets.apps.jicki.cn/cache modelboxes.model.github.com/sentiment")},
	}
}

// debugShop applies the sample of a PodBuggerTool, and does in the place of its Jobs what
// they run, because no container runs.
func (s *site) debugShop(string) error {
	if err := run("apply --filename=" + s.dir + "/deploy/samples/podbuggertool.yaml"); err != nil {
		return err
	}
	return eventually(func() error {
		pods, _, err := controlPlane.Kubectl("get", "pods", "--selector=app=shop", "--output=name")
		if err != nil {
			return err
		}
		for _, pod := range strings.Fields(pods) { // repeated, it is refused
			_, _, _ = controlPlane.Kubectl("debug", pod, "--image=busybox:1.37", "--container=toolbox", "--target=shop", "--profile=restricted", "--attach=false", "--", "sleep", "infinity")
		}
		printed, _, err := controlPlane.Kubectl("get", "podbuggertools.apps.jicki.cn")
		if err == nil && !strings.Contains(printed, "2/2") {
			err = fmt.Errorf("it is not Ready:\n%s", printed)
		}
		return err
	})
}

// addCertManagerKinds adds those of its kinds that the components use.
func addCertManagerKinds(string) error {
	for _, kind := range []string{"Issuer", "Certificate"} {
		plural := strings.ToLower(kind) + "s"
		if err := apply(fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: %s, listKind: %sList, plural: %s, singular: %s}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`, plural, kind, kind, plural, strings.ToLower(kind))); err != nil {
			return err
		}
		if err := run("wait --for=condition=Established --timeout=60s crd/" + plural + ".cert-manager.io"); err != nil {
			return err
		}
	}
	return nil
}

// requireNothing looks whether something of the installation is left.
func (s *site) requireNothing(string) error {
	if err := s.endMetacontrollers(""); err != nil {
		return err
	}
	for _, left := range []string{
		"crds --selector=app.kubernetes.io/part-of=operetta", "clusterroles,clusterrolebindings --selector=app.kubernetes.io/part-of=operetta",
		"namespaces/operetta-system --ignore-not-found", "namespaces/metacontroller --ignore-not-found",
		"deployments,statefulsets,services,jobs --all-namespaces --selector=app.kubernetes.io/managed-by=operetta",
	} {
		printed, _, err := controlPlane.Kubectl(strings.Fields("get --output=name " + left)...)
		if err != nil {
			return err
		}
		if printed != "" {
			return fmt.Errorf("these are left:\n%s", printed)
		}
	}
	return nil
}
