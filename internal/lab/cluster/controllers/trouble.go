package controllers

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Trouble is what keeps a Pod from being ready or done, in the words of Kubernetes 1.36: its scheduler, its
// kubelet, and containerd. It happens to one container, the first to which it can; the others run.
type Trouble struct {
	// Name is the word for it, and Does says what happens.
	Name, Does string
	// Words are what everybody who knows says of it, somewhere in a sentence.
	Words string
	// OnlyEvents is set where nobody else says it.
	OnlyEvents bool

	at stage
	// reason and message are those of the condition, of the Pod, or of the waiting container.
	reason  string
	message func(pod *corev1.Pod, c *corev1.Container) string
	event   string // the reason of the kubelet's event, where only that tells
	probe   func(*corev1.Container) *corev1.Probe
	ends    corev1.ContainerStateTerminated
	runs    time.Duration // how long the container runs before it ends
}

// stage is where in a Pod's life something happens.
type stage int

const (
	scheduling stage = iota // the scheduler finds no node
	admission               // the kubelet rejects the Pod
	mounting                // a volume cannot be mounted
	creating                // a container cannot be created
	preparing               // an init container ends
	attending               // a native sidecar ends
	running                 // a container ends
	probing                 // a container runs, and is not ready
)

// Exit is the trouble that is meant where none is named.
const Exit = "exit"

// Troubles returns all of them. They are not to be modified.
//
// The sentences are those of pkg/scheduler/framework/plugins, pkg/kubelet (images/image_manager.go,
// lifecycle/predicate.go, kuberuntime, prober) and pkg/volume in Kubernetes 1.36.3, and of containerd 2.
var Troubles = sync.OnceValue(func() []Trouble {
	failed := func(code int32, reason string) corev1.ContainerStateTerminated {
		return corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}
	}
	killed := failed(137, "Error")
	return []Trouble{
		{Name: Exit, Does: "a container ends at once with exit code 1", Words: "exit code 1", at: running, ends: failed(1, "Error")},
		{Name: "oom", Does: "a container is killed for its memory, after half a minute", Words: "OOMKilled", at: running, ends: failed(137, "OOMKilled"), runs: 30 * time.Second},
		{Name: "completes", Does: "a container that should run on ends with exit code 0", Words: "Completed, exit code 0", at: running, ends: failed(0, "Completed"), runs: 5 * time.Second},
		{Name: "no-command", Does: "there is no such program in the image", Words: "executable file not found in $PATH", at: running, ends: failed(128, "StartError"), reason: "RunContainerError", message: noCommand},
		{Name: "init", Does: "an init container ends with exit code 1", Words: "exit code 1", at: preparing, ends: failed(1, "Error"), runs: 2 * time.Second},
		{Name: "sidecar", Does: "a native sidecar ends with exit code 1", Words: "exit code 1", at: attending, ends: failed(1, "Error"), runs: 2 * time.Second},
		{Name: "startup-probe", Does: "a startup probe fails", Words: "probe", at: probing, probe: startupProbe, ends: killed},
		{Name: "liveness-probe", Does: "a liveness probe fails", Words: "probe", at: probing, probe: livenessProbe, ends: killed},
		{Name: "readiness-probe", Does: "a readiness probe fails", Words: "readiness probe", at: probing, probe: readinessProbe},
		{Name: "pull", Does: "there is no such image", Words: ": not found", at: creating, reason: "ErrImagePull", message: resolve(notFound, "%[1]s: not found")},
		{Name: "pull-denied", Does: "an image needs credentials", Words: "403 Forbidden", at: creating, reason: "ErrImagePull", message: resolve("",
			"failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://auth.example.com/token?scope=repository%%3Aserving%%3Apull&service=registry.example.com: 403 Forbidden")},
		{Name: "pull-platform", Does: "an image is not for the node's processor", Words: "no match for platform in manifest", at: creating, reason: "ErrImagePull", message: func(_ *corev1.Pod, c *corev1.Container) string {
			return fmt.Sprintf(notFound+"failed to pull and unpack image %q: no match for platform in manifest: not found", c.Image)
		}},
		{Name: "config", Does: "a Secret of a variable is missing", Words: `secret "token" not found`, at: creating, reason: "CreateContainerConfigError", message: says(`secret "token" not found`)},
		{Name: "root", Does: "an image runs as root, and may not", Words: "image will run as root", at: creating, reason: "CreateContainerConfigError", message: func(pod *corev1.Pod, c *corev1.Container) string {
			return fmt.Sprintf("container has runAsNonRoot and image will run as root (pod: %q, container: %s)", named(pod), c.Name)
		}},
		{Name: "volume", Does: "a ConfigMap of a volume is missing", Words: `configmap "settings" not found`, OnlyEvents: true, at: mounting, event: "FailedMount", message: says(`MountVolume.SetUp failed for volume "settings" : configmap "settings" not found`)},
		{Name: "no-room", Does: "no node has room", Words: "Insufficient nvidia.com/gpu", at: scheduling, message: says(unschedulable("4 Insufficient nvidia.com/gpu", "No preemption victims found for incoming pod"))},
		{Name: "selector", Does: "no node has the labels", Words: "node affinity/selector", at: scheduling, message: says(unschedulable("4 node(s) didn't match Pod's node affinity/selector", "Preemption is not helpful for scheduling"))},
		{Name: "taint", Does: "all nodes have taints, in a cluster of several pools", Words: "6 Insufficient nvidia.com/gpu", at: scheduling, message: says("0/48 nodes are available: 12 node(s) didn't match Pod's node affinity/selector, " +
			"14 node(s) had untolerated taint(s), 4 node(s) were unschedulable, 12 Insufficient cpu, 12 Insufficient memory, 6 Insufficient nvidia.com/gpu. " +
			"no new claims to deallocate, preemption: 0/48 nodes are available: 30 Preemption is not helpful for scheduling, 18 No preemption victims found for incoming pod.")},
		{Name: "unbound", Does: "a volume is not bound", Words: "unbound immediate PersistentVolumeClaims", at: scheduling, message: says(unschedulable("pod has unbound immediate PersistentVolumeClaims", ""))},
		{Name: "affinity", Does: "no node has the Pods that it wants beside it", Words: "anti-affinity rules", at: scheduling, message: says(unschedulable("4 node(s) didn't match pod anti-affinity rules", "No preemption victims found for incoming pod"))},
		{Name: "rejected", Does: "the kubelet rejects each Pod: a device is gone", Words: "Requested: 1, Available: 0", at: admission, reason: "UnexpectedAdmissionError", message: says("Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected")},
		{Name: "no-cpu", Does: "the kubelet rejects each Pod: the node is full", Words: "Node didn't have enough resource: cpu", at: admission, reason: "OutOfcpu", message: says("Node didn't have enough resource: cpu, requested: 2000, used: 7120, capacity: 7910")},
		{Name: "wrong-node", Does: "the kubelet rejects each Pod: the node's labels have changed", Words: "Predicate NodeAffinity failed", at: admission, reason: "NodeAffinity", message: says("Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector")},
	}
})

// TroubleNamed returns the trouble of a name, [Exit] for none, or nil.
func TroubleNamed(name string) *Trouble {
	if name == "" {
		name = Exit
	}
	list := Troubles()
	at := slices.IndexFunc(list, func(t Trouble) bool { return t.Name == name })
	if at < 0 {
		return nil
	}
	return &list[at]
}

// Misses says why it cannot happen to a Pod, or nothing.
func (t *Trouble) Misses(pod *corev1.Pod) string {
	started := pod.Status.Phase != corev1.PodPending && pod.Status.Phase != ""
	if isOver(pod) && t.at != admission {
		return "it has ended"
	}
	switch t.at {
	case scheduling:
		if pod.Spec.NodeName != "" {
			return "it is on a node"
		}
	case admission, mounting, creating:
		if started {
			return "its containers have started"
		}
	case preparing:
		if t.of(pod) == nil {
			return "it has no init container"
		}
		if started {
			return "its init containers have ended"
		}
	case attending:
		if t.of(pod) == nil {
			return "it has no native sidecar"
		}
	case running:
		if t.ends.ExitCode == 0 && pod.Spec.RestartPolicy != corev1.RestartPolicyAlways {
			return "its containers should end"
		}
	case probing:
		if t.of(pod) == nil {
			return "no container has a " + strings.TrimSuffix(t.Name, "-probe") + " probe"
		}
	}
	return ""
}

// of returns the container to which it happens, or nil.
func (t *Trouble) of(pod *corev1.Pod) *corev1.Container {
	list := pod.Spec.Containers
	if t.at == preparing || t.at == attending {
		list = pod.Spec.InitContainers
	}
	for i := range list {
		switch c := &list[i]; {
		case (t.at == preparing && isSidecar(c)) || (t.at == attending && !isSidecar(c)):
		case t.probe != nil && t.probe(c) == nil:
		default:
			return c
		}
	}
	return nil
}

// lasts returns how long its container runs.
func (t *Trouble) lasts(c *corev1.Container) time.Duration {
	if t.probe == nil {
		return t.runs
	}
	probe := t.probe(c)
	delay, period, tries := probe.InitialDelaySeconds, max(probe.PeriodSeconds, 1), max(probe.FailureThreshold, 1)
	return time.Duration(delay+period*tries) * time.Second
}

// unhealthy returns what the kubelet's event says of its probe.
func (t *Trouble) unhealthy() string {
	name := strings.TrimSuffix(t.Name, "-probe")
	return strings.ToUpper(name[:1]) + name[1:] + " probe failed: HTTP probe failed with statuscode: 503"
}

// IsLoop reports whether its container runs and waits in turn.
func (t *Trouble) IsLoop() bool { return t.ends.Reason != "" }

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func startupProbe(c *corev1.Container) *corev1.Probe   { return c.StartupProbe }
func livenessProbe(c *corev1.Container) *corev1.Probe  { return c.LivenessProbe }
func readinessProbe(c *corev1.Container) *corev1.Probe { return c.ReadinessProbe }

func says(text string) func(*corev1.Pod, *corev1.Container) string {
	return func(*corev1.Pod, *corev1.Container) string { return text }
}

// notFound stands before a sentence of containerd; the code Unknown does not, see pkg/remote_image.go of cri-client.
const notFound = "rpc error: code = NotFound desc = "

func resolve(code, cause string) func(*corev1.Pod, *corev1.Container) string {
	return func(_ *corev1.Pod, c *corev1.Container) string {
		return code + fmt.Sprintf("failed to pull and unpack image %q: failed to resolve reference %q: ", c.Image, c.Image) + fmt.Sprintf(cause+"%[2]s", c.Image, "")
	}
}

func noCommand(_ *corev1.Pod, c *corev1.Container) string {
	command := "serve"
	if len(c.Command) > 0 {
		command = c.Command[0]
	}
	return fmt.Sprintf("failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "+
		"unable to start container process: error during container init: exec: %q: executable file not found in $PATH", command)
}

func unschedulable(why, preemption string) string {
	const none = "0/4 nodes are available: "
	text := none + why + ". no new claims to deallocate, preemption: " + none
	if preemption == "" {
		return text + "4 Preemption is not helpful for scheduling."
	}
	return text + "4 " + preemption + "."
}

// named returns a Pod as the kubelet names it, see pkg/kubelet/util/format.
func named(pod *corev1.Pod) string { return fmt.Sprintf("%s_%s(%s)", pod.Name, pod.Namespace, pod.UID) }

// Shows reports whether a Pod shows it.
func (t *Trouble) Shows(pod *corev1.Pod) bool {
	c := t.of(pod)
	if c == nil {
		return false
	}
	s := statusOf(pod, c)
	switch {
	case t.at == scheduling:
		scheduled := podCondition(pod, corev1.PodScheduled)
		return scheduled != nil && scheduled.Reason == corev1.PodReasonUnschedulable
	case t.at == admission:
		return pod.Status.Reason == t.reason
	case s == nil:
		return false
	case t.at == mounting:
		return s.State.Waiting != nil
	case t.at == creating:
		return s.State.Waiting != nil && s.State.Waiting.Message != ""
	case t.IsLoop():
		ended := s.LastTerminationState.Terminated
		if s.State.Terminated != nil {
			ended = s.State.Terminated
		}
		return ended != nil && ended.Reason == t.ends.Reason && ended.ExitCode == t.ends.ExitCode
	}
	return s.State.Running != nil && !s.Ready && s.Started != nil && *s.Started
}
