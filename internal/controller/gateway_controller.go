// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// Times after which a gateway is looked at again where no watch would wake it up.
const (
	// afterConflict: the cache lags behind what somebody, mostly we, wrote.
	afterConflict = 100 * time.Millisecond
	// whileSourceGoes: the wanted source is being removed; this covers that its removal fails.
	whileSourceGoes = 2 * time.Second
	// whileHeld: ServiceAccounts are not watched.
	whileHeld = 10 * time.Second
)

// gatewayReconciler brings Flux's objects in line with APIGateways, and their status in line with Flux's.
type gatewayReconciler struct {
	client.Client               // reads from the cache
	live          client.Reader // reads from the API server
	configs       *configs
	demand        *demand
	environment   *environment
	children      *children
	written       *written
	events        events.EventRecorder
	now           func() time.Time

	controllerName  string
	watchNamespaces []string
	selector        labels.Selector
}

// Reconcile gathers what there is, judges it, writes what differs, asks of Flux what is due, and reports.
func (r *gatewayReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	gateway := &v1alpha1.APIGateway{}
	if err := r.Get(ctx, req.NamespacedName, gateway); err != nil {
		r.forget(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !serves(r.selector, gateway) {
		r.forget(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	s, err := r.gather(ctx, gateway)
	if errors.Is(err, plan.ErrOtherController) {
		r.forget(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	return r.report(ctx, s, r.act(ctx, s))
}

// forget drops what is remembered of a gateway that is gone, or not ours.
func (r *gatewayReconciler) forget(gateway types.NamespacedName) {
	r.demand.forget(gateway)
	r.children.forget(gateway)
	r.written.forget(gateway)
}

// act writes the objects.
func (r *gatewayReconciler) act(ctx context.Context, s *state) error {
	if s.gateway.DeletionTimestamp != nil {
		return r.tearDown(ctx, s)
	}
	r.judge(s)
	if s.fault != nil || s.wait != "" {
		return nil // the last accepted objects stay as they are
	}
	return r.apply(ctx, s)
}

// report writes the status, also after a failed write, and says when to look again.
func (r *gatewayReconciler) report(ctx context.Context, s *state, err error) (ctrl.Result, error) {
	if isConflict(err) {
		return ctrl.Result{RequeueAfter: afterConflict}, nil
	}
	if s.gone {
		r.forget(client.ObjectKeyFromObject(s.gateway))
		return ctrl.Result{}, err
	}
	status := r.computeStatus(s, refusal(err))
	after, askErr := r.ask(ctx, s, &status)
	statusErr := errors.Join(client.IgnoreNotFound(askErr), client.IgnoreNotFound(r.writeStatus(ctx, s, status)))
	if isConflict(statusErr) && err == nil {
		return ctrl.Result{RequeueAfter: afterConflict}, nil
	}
	return ctrl.Result{RequeueAfter: sooner(after, s.lookAgain())}, errors.Join(err, statusErr)
}

func (r *gatewayReconciler) computeStatus(s *state, writeError error) v1alpha1.APIGatewayStatus {
	return gatewaystatus.Compute(s.statusInput(metav1.NewTime(r.now()), writeError))
}

// writeStatus writes the status if it differs from what the gateway has, and announces what changed.
func (r *gatewayReconciler) writeStatus(ctx context.Context, s *state, status v1alpha1.APIGatewayStatus) error {
	before := s.gateway.Status
	if apiequality.Semantic.DeepEqual(before, status) {
		return nil
	}
	gateway := s.gateway.DeepCopy()
	gateway.Status = status
	if err := r.Status().Update(ctx, gateway); err != nil {
		return err
	}
	s.gateway = gateway
	r.announce(ctx, gateway, before, status)
	return nil
}

func (s *state) lookAgain() time.Duration {
	switch {
	case s.hold != "":
		return whileHeld
	case s.wanted != nil && s.wanted.DeletionTimestamp != nil:
		return whileSourceGoes
	}
	return s.handsOver
}

// sooner is the earlier of two times to look again, of which zero means never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// refusal is the API server's answer to a write, if it is one that people should see: not what passes by itself.
func refusal(err error) error {
	switch {
	case !errors.As(err, new(apierrors.APIStatus)),
		apierrors.IsTooManyRequests(err), apierrors.IsServiceUnavailable(err),
		apierrors.IsTimeout(err), apierrors.IsServerTimeout(err):
		return nil
	}
	return err
}
