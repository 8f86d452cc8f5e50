package commands

// Why no test runs a command.
const (
	needsRegistry  = "it needs a registry that can be written to"
	needsPods      = "it needs Pods that really run, and those of the live test have no containers"
	needsRelease   = "it needs a published module or branch, on the network"
	needsTime      = "it is made to run for long"
	needsCommit    = "it needs a checkout without changes, and compiles for two platforms: the tests in release/ do what it does"
	followsRelease = "it is about what the command before it has written"
	isOwnTest      = "it runs this test"
	hasACluster    = "the live test has a cluster of its own"
)

// rotation is why no test runs the procedures of docs/tls.md.
const rotation = "they need cert-manager, and Pods that really run; TestRotation replaces the same files in that order"

// Rules are those for the documentation of this project.
var Rules = []Rule{
	{File: "README.md", Command: "make test", Place: Nowhere, Reason: isOwnTest},
	{File: "README.md", Command: "make image-oci", Place: Nowhere, Reason: needsCommit},
	{File: "README.md", Command: "make push", Place: Nowhere, Reason: needsRegistry},
	{File: "README.md", Command: "operetta render deploy/samples/modelbox.yaml --children-only | kubectl diff", Exit: 1},

	{File: "docs/authors.md", Command: "kubectl apply -k 'https://", Place: Nowhere, Reason: needsRelease},
	{File: "docs/authors.md", Command: "make push", Place: Nowhere, Reason: needsRegistry},
	{File: "docs/authors.md", Command: "go run . serve", Place: Nowhere, Reason: "it takes the ports 8080 and 9090 of the machine; `./acme serve` below is the same"},
	{File: "docs/authors.md", Command: "go get", Place: Nowhere, Reason: needsRelease},
	{File: "docs/authors.md", Command: "./acme serve", Serves: true},

	{File: "docs/build.md", Command: "kubectl logs", Place: Nowhere, Reason: needsPods},

	{File: "docs/cli.md", Command: "source <(operetta completion bash)", Place: Nowhere, Reason: "it changes the shell that it runs in; TestCompletion asks for the same"},
	{File: "docs/cli.md", Command: "make explore", Place: Nowhere, Reason: needsTime},

	{File: "docs/getting-started.md", Command: "make build", Place: Nowhere, Reason: "the README has the same command, which is run before"},
	{File: "docs/getting-started.md", Command: "make cluster", Place: Nowhere, Reason: hasACluster},
	{File: "docs/getting-started.md", Command: "export KUBECONFIG", Place: Nowhere, Reason: hasACluster},
	{File: "docs/getting-started.md", Heading: "Write an operator", Place: Live},

	{File: "docs/install.md", Command: "helm upgrade", Place: Elsewhere, Reason: "TestHelmChart"},
	{File: "docs/install.md", Command: "make image-oci", Place: Nowhere, Reason: needsCommit},
	{File: "docs/install.md", Command: "make push", Times: 2, Place: Nowhere, Reason: needsRegistry},
	{File: "docs/install.md", Command: "make release", Place: Nowhere, Reason: needsCommit},
	{File: "docs/install.md", Command: "(cd dist && sha256sum", Place: Nowhere, Reason: followsRelease},

	{File: "docs/metrics.md", Command: "kubectl --namespace=operetta-system port-forward", Place: Nowhere, Reason: needsPods},
	{File: "docs/metrics.md", Command: "go tool pprof", Times: 2, Place: Nowhere, Reason: needsPods},

	{File: "docs/myjob.md", Command: "kubectl logs", Place: Nowhere, Reason: needsPods},

	{File: "docs/play.md", Command: "operetta play", Times: 2, Place: Nowhere, Reason: "it serves a page until it is interrupted; TestPlayServesUntilItIsInterrupted starts it"},

	{File: "docs/podbuggertool.md", Command: "kubectl exec", Place: Nowhere, Reason: needsPods},

	{File: "docs/podset.md", Command: "kubectl get podsets.apps.jicki.cn cache -o jsonpath", Varies: "it is shown while 5000 Pods are made"},

	{File: "docs/cli.md", Command: "operetta render box.yaml --children-only | kubectl diff", Exit: 1},
	{File: "docs/cli.md", Command: "operetta simulate cache.yaml", Exit: 1},

	{File: "docs/cli.md", Command: "operetta serve --record", Serves: true},
	{File: "docs/cli.md", Heading: "Record on a cluster", Place: Nowhere, Reason: needsPods + "; TestRecordingsCanBeRead has an API server take the ephemeral container"},
	{File: "docs/cli.md", Heading: "Record and replay", Command: "operetta replay recordings", Times: 2, Exit: 3, Varies: "the recordings are those of a test"},

	{File: "docs/diff.md", Command: "operetta diff dump.json --with", Exit: 3},

	{File: "docs/troubleshooting.md", Command: "kubectl get operetta --all-namespaces -o custom-columns", Among: "there are other custom resources"},
	{File: "docs/troubleshooting.md", Command: "kubectl apply -k deploy/crds", Times: 2, Among: "the other CRDs are told too"},
	{File: "docs/troubleshooting.md", Command: "kubectl create -f backup.yaml", Exit: 1, Among: "there are other custom resources"},

	{File: "docs/operations.md", Command: "kubectl get operetta --all-namespaces --output=jsonpath='{.items[*].metadata.finalizers}' | grep", Exit: 1},

	{File: "docs/why.md", Command: "kubectl operetta why", Times: 3, Place: Elsewhere, Reason: "TestModes"},

	{File: "docs/tls.md", Heading: "Rotation", Place: Nowhere, Reason: rotation},
	{File: "docs/tls.md", Heading: "A token", Place: Nowhere, Reason: rotation},
	{File: "docs/tls.md", Heading: "cert-manager's CA", Place: Nowhere, Reason: rotation},
	{File: "docs/tls.md", Heading: "The certificate of self-signed", Place: Nowhere, Reason: rotation},
}
