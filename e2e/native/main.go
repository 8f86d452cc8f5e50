// Command native is what Operetta is measured with: an operator for ModelBoxes as one writes it
// with controller-runtime. It creates the same Deployment and Service, repairs them, and has the
// same conditions in the status. It is no part of Operetta.
package main

import (
	"context"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: native ADDRESS, where it says that it is ready")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(health string) error {
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	scheme.AddKnownTypes(groupVersion, &ModelBox{}, &ModelBoxList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 200, 400 // as Metacontroller has them in deploy/
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, HealthProbeBindAddress: health, Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(manager).For(&ModelBox{}).Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 10}).Complete(&reconciler{manager.GetClient()})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

type reconciler struct{ client.Client }

// Reconcile brings the children of a ModelBox about, and reports on them.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var box ModelBox
	if err := r.Get(ctx, request.NamespacedName, &box); err != nil || !box.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var observed appsv1.Deployment
	wanted := deployment(&box)
	err := r.apply(ctx, &box, wanted, &observed, func() bool {
		same := equality.Semantic.DeepDerivative(wanted.Spec, observed.Spec) && equality.Semantic.DeepDerivative(wanted.Labels, observed.Labels)
		observed.Spec, observed.Labels = wanted.Spec, wanted.Labels
		return same
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	var reached corev1.Service
	reach := service(&box)
	err = r.apply(ctx, &box, reach, &reached, func() bool {
		same := equality.Semantic.DeepDerivative(reach.Spec, reached.Spec) && equality.Semantic.DeepDerivative(reach.Labels, reached.Labels)
		reach.Spec.ClusterIP, reach.Spec.ClusterIPs = reached.Spec.ClusterIP, reached.Spec.ClusterIPs // immutable
		reached.Spec, reached.Labels = reach.Spec, reach.Labels
		return same
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	status := *box.Status.DeepCopy()
	report(&box, &observed)
	if equality.Semantic.DeepEqual(status, box.Status) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Status().Update(ctx, &box)
}

// apply creates a child, or updates the observed one unless a function, which makes it what it
// is to be, says that it is that already.
func (r *reconciler) apply(ctx context.Context, box *ModelBox, wanted, observed client.Object, isSame func() bool) error {
	err := r.Get(ctx, client.ObjectKeyFromObject(wanted), observed)
	switch {
	case apierrors.IsNotFound(err):
		if err := ctrl.SetControllerReference(box, wanted, r.Scheme()); err != nil {
			return err
		}
		return r.Create(ctx, wanted)
	case err != nil:
		return err
	case isSame():
		return nil
	}
	return r.Update(ctx, observed)
}

// report writes into the status what is observed of the Deployment.
func report(box *ModelBox, observed *appsv1.Deployment) {
	wanted, is, status := *box.Spec.Replicas, &observed.Status, &box.Status
	status.ObservedGeneration = box.Generation
	status.Replicas, status.ReadyReplicas = is.Replicas, is.ReadyReplicas
	status.UpdatedReplicas, status.AvailableReplicas = is.UpdatedReplicas, is.AvailableReplicas
	status.Ready = fmt.Sprintf("%d/%d", is.ReadyReplicas, wanted)
	isReady := is.ObservedGeneration == observed.Generation && observed.Generation > 0 &&
		is.UpdatedReplicas == wanted && is.AvailableReplicas == wanted && is.Replicas == wanted
	set := func(kind string, is bool, reason string) {
		value := metav1.ConditionFalse
		if is {
			value = metav1.ConditionTrue
		}
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: kind, Status: value, Reason: reason, ObservedGeneration: box.Generation,
		})
	}
	if isReady {
		set("Ready", true, "Available")
		set("Progressing", false, "Complete")
		return
	}
	set("Ready", false, "Updating")
	set("Progressing", true, "Updating")
}
