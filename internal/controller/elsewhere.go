// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// A gateway can come to be of another operator: its class gets another controllerName, or it names another class. Its
// HelmRelease carries the name of the operator that wrote it last. While that is this one, the other has not taken the gateway
// over, and perhaps does not run at all: this one then says so instead of leaving a status that nobody keeps true, and still
// uninstalls when the gateway is deleted. Once the other has written the HelmRelease, this one is out of it.

// makePlanOrStay plans the gateway. Of one that another operator is to serve, and has not taken over, the state says so; of
// any other the error is plan.ErrOtherController.
func (r *gatewayReconciler) makePlanOrStay(ctx context.Context, s *state) error {
	err := r.makePlan(ctx, s)
	if !errors.Is(err, plan.ErrOtherController) {
		return err
	}
	left, lookErr := r.leftToUs(ctx, s.gateway)
	switch {
	case lookErr != nil:
		return lookErr
	case !left:
		return err
	case s.gateway.DeletionTimestamp == nil:
		s.fault = r.servedByNobody(ctx, s.gateway)
	}
	return nil
}

// leftToUs asks the API server itself before it says yes, since another operator may just have written.
func (r *gatewayReconciler) leftToUs(ctx context.Context, gateway *v1alpha1.APIGateway) (bool, error) {
	if !controllerutil.ContainsFinalizer(gateway, v1alpha1.Finalizer) {
		return false, nil
	}
	for _, reader := range []client.Reader{r.Client, r.live} {
		hr, err := getRelease(ctx, reader, client.ObjectKeyFromObject(gateway))
		if err != nil || !leftTo(r.controllerName, gateway, hr) {
			return false, err
		}
	}
	return true, nil
}

// leftTo: a gateway that is deleted and has no HelmRelease is anybody's to let go.
func leftTo(controllerName string, gateway *v1alpha1.APIGateway, hr *helmv2.HelmRelease) bool {
	if hr == nil || !isOurs(hr, gateway) {
		return gateway.DeletionTimestamp != nil
	}
	return hr.Annotations[v1alpha1.AnnotationMadeBy] == controllerName
}

func (r *gatewayReconciler) servedByNobody(ctx context.Context, gateway *v1alpha1.APIGateway) *plan.Error {
	name, served := orDefault(gateway.Spec.ClassName, gateway.Status.ClassName), "another controller"
	class := &v1alpha1.APIGatewayClass{}
	if err := r.Get(ctx, client.ObjectKey{Name: name}, class); err == nil {
		served = "controller " + orDefault(class.Spec.ControllerName, v1alpha1.DefaultControllerName)
	}
	return &plan.Error{Faults: []plan.Fault{{
		Reason: v1alpha1.ReasonOtherController,
		Field:  "spec.className",
		Message: fmt.Sprintf("APIGatewayClass %s is served by %s, which has not taken this gateway over from controller %s: run an operator"+
			" with that --controller-name, or name a class of this one; until then what runs stays as it is", name, served, r.controllerName),
	}}}
}
