// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// state is all that is known of one gateway in one reconcile. Reading fills it; each write replaces what it wrote.
type state struct {
	gateway *v1alpha1.APIGateway
	// operator is the controller name that this operator goes by.
	operator string
	// plan, or fault: why there is none. Both may be nil while the gateway is being deleted.
	plan  *plan.Plan
	fault *plan.Error
	// desired is what the plan asks of Flux, without the operator's marks; empty without a plan.
	desired fluxobjects.Objects
	// release is the gateway's HelmRelease; foreign is the one of that name when it is somebody else's.
	release, foreign *helmv2.HelmRelease
	// wanted is the source that the plan asks for, present the one that the release refers to; nil where it does not exist.
	wanted, present *sourcev1.OCIRepository
	// rivals are the other gateways that claim the same Helm release; taken is a HelmRelease of somebody else that has it.
	rivals []claim
	taken  *helmv2.HelmRelease
	// handsOver is for how long the release still has to stay in its shard.
	handsOver time.Duration
	// wait says what an accepted gateway waits for before anything is written, hold why a deleted one stays.
	wait, hold string
	// gone: the gateway has been let go.
	gone bool
}

// gather reads everything that the gateway's reconcile depends on. The error is plan.ErrOtherController, or the reader's.
func (r *gatewayReconciler) gather(ctx context.Context, gateway *v1alpha1.APIGateway) (*state, error) {
	s := &state{gateway: gateway, operator: r.controllerName}
	if err := r.makePlanOrStay(ctx, s); err != nil {
		return nil, err
	}
	if err := r.readRelease(ctx, s); err != nil {
		return nil, err
	}
	if err := r.readSources(ctx, s); err != nil {
		return nil, err
	}
	if err := r.readForeignClaim(ctx, s); err != nil {
		return nil, err
	}
	if s.release != nil && s.plan != nil {
		s.handsOver = handsOver(s.release, s.desired.Release, r.now())
	}
	return s, r.readRivals(ctx, s)
}

// makePlan plans the gateway by what the cache holds. Before it is told that something is missing the API server is asked:
// a class, a ConfigMap and their gateway are often made at the same moment.
func (r *gatewayReconciler) makePlan(ctx context.Context, s *state) error {
	err := r.planFrom(ctx, s, r.Client)
	if errors.As(err, &s.fault) && s.fault.Reason() == v1alpha1.ReasonClassNotFound {
		s.fault = nil
		err = r.planFrom(ctx, s, r.live)
	}
	if errors.As(err, &s.fault) {
		return nil
	}
	return err
}

func (r *gatewayReconciler) planFrom(ctx context.Context, s *state, reader client.Reader) error {
	classes := &v1alpha1.APIGatewayClassList{}
	if err := reader.List(ctx, classes); err != nil {
		return err
	}
	slices.SortFunc(classes.Items, func(a, b v1alpha1.APIGatewayClass) int { return strings.Compare(a.Name, b.Name) })
	config, err := r.readConfig(ctx, s.gateway)
	if err != nil {
		return err
	}
	s.plan, err = plan.Make(plan.Input{
		Gateway:        s.gateway,
		Classes:        classes.Items,
		Config:         config,
		ControllerName: r.controllerName,
		Environment:    r.environment.current(),
	})
	if err != nil {
		return err
	}
	s.desired = fluxobjects.Make(s.plan, fluxobjects.SharedSources)
	return nil
}

func (r *gatewayReconciler) readConfig(ctx context.Context, gateway *v1alpha1.APIGateway) (*corev1.ConfigMap, error) {
	ref := gateway.Spec.ConfigRef
	if ref == nil || len(validation.IsDNS1123Subdomain(ref.Name)) > 0 {
		return nil, nil // what could be no name is not asked for; the plan says so
	}
	return r.configs.read(ctx, types.NamespacedName{Namespace: gateway.Namespace, Name: ref.Name})
}

// readRelease reads from the cache, and where that lags behind what we wrote from the API server.
func (r *gatewayReconciler) readRelease(ctx context.Context, s *state) error {
	name := client.ObjectKeyFromObject(s.gateway)
	hr, err := getRelease(ctx, r.Client, name)
	if hr != nil && r.written.outdates(hr) {
		if hr, err = getRelease(ctx, r.live, name); hr != nil {
			r.written.know(hr)
		}
	}
	if hr == nil || err != nil {
		return err
	}
	if isOurs(hr, s.gateway) {
		s.release = hr
	} else {
		s.foreign = hr
	}
	return nil
}

// readSources enters the gateway's demand before it reads, so that no later event of these sources is missed.
func (r *gatewayReconciler) readSources(ctx context.Context, s *state) error {
	n, wanted := need{present: chartSource(s.release)}, types.NamespacedName{}
	if s.plan != nil {
		wanted = client.ObjectKeyFromObject(s.desired.Source)
	}
	if s.gateway.DeletionTimestamp == nil { // on its way out it needs no other source any more
		n.wanted = wanted
	}
	r.demand.enter(client.ObjectKeyFromObject(s.gateway), n)
	var err error
	if s.wanted, err = r.getSource(ctx, wanted); err != nil {
		return err
	}
	s.present, err = r.getSource(ctx, n.present)
	return err
}

// getSource returns nil when there is no such source, or when it lies where this operator does not look.
func (r *gatewayReconciler) getSource(ctx context.Context, name types.NamespacedName) (*sourcev1.OCIRepository, error) {
	if name.Name == "" || !r.watches(name.Namespace) {
		return nil, nil
	}
	source := &sourcev1.OCIRepository{}
	found, err := exists(r.Get(ctx, name, source))
	if !found || err != nil {
		return nil, err
	}
	if source.DeletionTimestamp == nil && r.demand.isDoomed(name, source.UID) {
		now := metav1.NewTime(r.now())
		source.DeletionTimestamp = &now
	}
	return source, nil
}

func (r *gatewayReconciler) watches(namespace string) bool {
	return len(r.watchNamespaces) == 0 || slices.Contains(r.watchNamespaces, namespace)
}

// chartSource is the OCIRepository that the HelmRelease refers to; empty if it refers to something else.
func chartSource(hr *helmv2.HelmRelease) types.NamespacedName {
	if hr == nil || hr.Spec.ChartRef == nil || hr.Spec.ChartRef.Kind != sourcev1.OCIRepositoryKind {
		return types.NamespacedName{}
	}
	namespace := hr.Spec.ChartRef.Namespace
	if namespace == "" {
		namespace = hr.Namespace
	}
	return types.NamespacedName{Namespace: namespace, Name: hr.Spec.ChartRef.Name}
}

func getRelease(ctx context.Context, reader client.Reader, name types.NamespacedName) (*helmv2.HelmRelease, error) {
	hr := &helmv2.HelmRelease{}
	if found, err := exists(reader.Get(ctx, name, hr)); !found || err != nil {
		return nil, err
	}
	return hr, nil
}

// exists reads the answer to a Get.
func exists(err error) (bool, error) {
	return err == nil, client.IgnoreNotFound(err)
}

func (s *state) statusInput(now metav1.Time, writeError error) gatewaystatus.Input {
	source := s.wanted
	if s.plan == nil {
		source = s.present
	}
	return gatewaystatus.Input{
		Gateway:       s.gateway,
		Plan:          s.plan,
		Fault:         s.fault,
		Desired:       s.desired.Release,
		Release:       s.release,
		Source:        source,
		RunningSource: s.runningSource(),
		WriteError:    writeError,
		Wait:          s.wait,
		Hold:          s.hold,
		Now:           now,
	}
}

// runningSource is the source that the HelmRelease refers to by now.
func (s *state) runningSource() *sourcev1.OCIRepository {
	for _, source := range []*sourcev1.OCIRepository{s.present, s.wanted} {
		if source != nil && client.ObjectKeyFromObject(source) == chartSource(s.release) {
			return source
		}
	}
	return nil
}

// refuse gives up the plan: the gateway is not accepted.
func (s *state) refuse(reason, field, message string) {
	class := ""
	if s.plan != nil {
		class = s.plan.ClassName
	}
	s.plan, s.desired, s.wanted = nil, fluxobjects.Objects{}, nil
	s.fault = &plan.Error{Faults: []plan.Fault{{Reason: reason, Field: field, Message: message}}, ClassName: class}
}

var errOutdated = errors.New("the cache lags behind")

// isConflict: what we read was out of date. The cache will catch up.
func isConflict(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || errors.Is(err, errOutdated)
}
