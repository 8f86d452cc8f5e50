// Package kubelet runs the programs of an installation of Operetta outside of a cluster whose
// node is simulated and has no containers: Operetta's server and Metacontrollers, with the
// arguments, environment and volumes of their Pods. It stands in for cert-manager and for the
// cluster's DNS, too.
package kubelet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operetta-dev/operetta/e2e/cluster"
)

const (
	// interval is the pause between two looks at the cluster.
	interval = 500 * time.Millisecond
	// retryPause is the pause after a look that has failed, such as for a flag that a program
	// does not know.
	retryPause = 5 * time.Second
	// serviceName is the name of the server's Service.
	serviceName = "operetta." + Namespace
)

// Kubelet follows what is installed on a cluster: the Deployment operetta in [Namespace], the
// StatefulSets in the namespace metacontroller, Certificates and the Job of self-signed.
type Kubelet struct {
	// Hooks and Metrics are addresses on which connections are passed on to the server, whichever
	// runs.
	Hooks, Metrics string

	cluster                *cluster.Cluster
	objects                *cluster.Reader
	server, metacontroller string // paths of programs
	log                    func(text string)

	names     *Names
	listeners []net.Listener
	issuer    Issuer
	jobs      Jobs

	deployment      appsv1.DeploymentSpec // what the server runs by
	started         int
	running         atomic.Pointer[Server]            // or nil
	metacontrollers map[string]appsv1.StatefulSetSpec // what they run by
	told            string                            // what was logged last
}

// New returns a Kubelet that runs a program as Operetta's server and, if its path is not empty,
// another as Metacontroller.
func New(c *cluster.Cluster, server, metacontroller string, log func(text string)) (*Kubelet, error) {
	objects, err := c.NewReader()
	if err != nil {
		return nil, err
	}
	names, err := NewNames()
	if err != nil {
		return nil, err
	}
	k := &Kubelet{
		cluster: c, objects: objects, server: server, metacontroller: metacontroller, log: log, names: names,
		issuer: Issuer{Cluster: c, Objects: objects}, metacontrollers: map[string]appsv1.StatefulSetSpec{},
	}
	names.Set(serviceName, k.hooks)
	for address, to := range map[*string]func() (string, error){&k.Hooks: k.hooks, &k.Metrics: k.metrics} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("listen for the Service: %w", err)
		}
		k.listeners = append(k.listeners, listener)
		*address = listener.Addr().String()
		go forward(listener, to)
	}
	return k, nil
}

// errNoServer says that Operetta is not installed, or not ready.
var errNoServer = errors.New("no server runs")

func (k *Kubelet) hooks() (string, error) {
	if server := k.running.Load(); server != nil {
		return server.Hooks, nil
	}
	return "", errNoServer
}

func (k *Kubelet) metrics() (string, error) {
	if server := k.running.Load(); server != nil {
		return server.Metrics, nil
	}
	return "", errNoServer
}

// Run follows the cluster until ctx is done. The programs go on then, until the cluster stops.
func (k *Kubelet) Run(ctx context.Context) {
	defer func() {
		for _, listener := range k.listeners {
			_ = listener.Close()
		}
		_ = k.names.Close()
	}()
	for ctx.Err() == nil {
		pause := interval
		if err := k.look(ctx); err != nil && ctx.Err() == nil {
			k.tell(err.Error())
			pause = retryPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// tell logs something, unless it was logged last.
func (k *Kubelet) tell(text string) {
	if text != k.told {
		k.told = text
		k.log(text)
	}
}

// look brings the programs in line with the cluster.
func (k *Kubelet) look(ctx context.Context) error {
	if _, err := k.issuer.Issue(ctx); err != nil {
		return err
	}
	return errors.Join(k.runJobs(ctx), k.runServer(ctx), k.runMetacontrollers(ctx))
}

func (k *Kubelet) runJobs(ctx context.Context) error {
	return k.jobs.Run(ctx, k.objects, func(job batchv1.Job) error {
		k.tell("running the Job " + job.Name)
		return RunJob(k.cluster, job.Spec.Template.Spec)
	})
}

// Jobs remembers which Jobs of [Namespace] it has run.
type Jobs struct{ run map[types.UID]bool }

// Run runs those that it has not run before, and ends at the first error.
func (j *Jobs) Run(ctx context.Context, objects *cluster.Reader, run func(batchv1.Job) error) error {
	list, err := objects.List(ctx, "jobs.batch", Namespace, "")
	if err != nil {
		return err
	}
	if j.run == nil {
		j.run = map[types.UID]bool{}
	}
	for _, object := range list {
		var job batchv1.Job
		if err := convert(object, &job); err != nil {
			return err
		}
		if j.run[job.UID] {
			continue
		}
		j.run[job.UID] = true
		if err := run(job); err != nil {
			return fmt.Errorf("run the Job %s: %w", job.Name, err)
		}
	}
	return nil
}

// runServer runs one of the Deployment's Pods. Where that has changed, the former one ends when
// the new one is ready.
func (k *Kubelet) runServer(ctx context.Context) error {
	object, err := k.objects.Get(ctx, "deployments.apps", Namespace, "operetta")
	if err != nil {
		return err
	}
	var wanted appsv1.Deployment
	if object != nil {
		if err := convert(object, &wanted); err != nil {
			return err
		}
	}
	former := k.running.Load()
	if object == nil || wanted.Spec.Replicas != nil && *wanted.Spec.Replicas == 0 {
		k.running.Store(nil)
		return k.end(former)
	}
	pod := wanted.Spec.Template.Spec
	if former != nil && reflect.DeepEqual(wanted.Spec.Template, k.deployment.Template) {
		return former.Mount(ctx, k.objects)
	}
	for _, volume := range pod.Volumes {
		missing, _, err := contents(ctx, k.objects, volume)
		if err != nil {
			return err
		}
		if missing != "" {
			k.tell("the server waits for " + missing)
			return nil
		}
	}
	k.started++
	server, err := StartServer(ctx, k.cluster, k.objects, k.server, fmt.Sprintf("operetta-%d", k.started), pod)
	if err != nil {
		return err
	}
	k.tellStarted(server.Name)
	k.running.Store(server)
	k.deployment = wanted.Spec
	return k.end(former)
}

// end ends a server, if there is one.
func (k *Kubelet) end(server *Server) error {
	if server == nil {
		return nil
	}
	k.tell("ending " + server.Name)
	return k.cluster.End(server.Name)
}

func (k *Kubelet) tellStarted(name string) {
	k.tell("started " + name + ", whose log is " + filepath.Join(k.cluster.Dir, name+".log"))
}

// runMetacontrollers ends those whose StatefulSets have changed or gone, and starts the others.
func (k *Kubelet) runMetacontrollers(ctx context.Context) error {
	if k.metacontroller == "" {
		return nil
	}
	list, err := k.objects.List(ctx, "statefulsets.apps", "metacontroller", "")
	if err != nil {
		return err
	}
	wanted := map[string]appsv1.StatefulSetSpec{}
	for _, object := range list {
		var set appsv1.StatefulSet
		if err := convert(object, &set); err != nil {
			return err
		}
		if set.Spec.Replicas == nil || *set.Spec.Replicas > 0 { // of several, one acts
			wanted[set.Name] = set.Spec
		}
	}
	for name, spec := range k.metacontrollers {
		if !reflect.DeepEqual(spec.Template, wanted[name].Template) {
			k.tell("ending " + name)
			delete(k.metacontrollers, name)
			if err := k.cluster.End(name); err != nil {
				return err
			}
		}
	}
	for name, spec := range wanted {
		if _, runs := k.metacontrollers[name]; runs {
			continue
		}
		container := spec.Template.Spec.Containers[0]
		args := append(slices.Clone(container.Args), "--leader-election-namespace=metacontroller")
		if err := k.cluster.StartMetacontrollerAs(ctx, name, k.metacontroller, append(k.names.Env(), cluster.Environment(container)...), args...); err != nil {
			_ = k.cluster.Kill(name) // which may have ended
			return err
		}
		k.metacontrollers[name] = spec
		k.tellStarted(name)
	}
	return nil
}
