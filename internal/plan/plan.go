// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package plan is the second stage of the flow: it turns an APIGateway, its class and its ConfigMap into a Plan, validated
// and with every default applied, or says everything that is wrong with them. It is pure: the controller and the generator
// call it with the same input and get the same answer.
package plan

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// Make plans a gateway. The error is ErrOtherController, or an *Error with every fault found.
func Make(in Input) (*Plan, error) {
	var wrong faults
	class := findClass(in, &wrong)
	if class == nil {
		checkGateway(in.Gateway, &wrong)
		return nil, &Error{Faults: wrong}
	}
	if !servedBy(class, in.ControllerName) {
		return nil, ErrOtherController
	}
	if class.DeletionTimestamp != nil && keptClass(in.Gateway) != class.Name {
		wrong.add(v1alpha1.ReasonClassNotFound, "spec.className", "the APIGatewayClass %s is being deleted and takes no new gateways; name another", class.Name)
		checkGateway(in.Gateway, &wrong)
		return nil, &Error{Faults: wrong, ClassName: class.Name}
	}
	r, classWrong := in.Readings.class(class)
	wrong = notAccepted(classWrong)
	checkGateway(in.Gateway, &wrong)
	if len(classWrong) > 0 {
		return nil, &Error{Faults: wrong, ClassName: class.Name}
	}
	p := makePlan(in, class, r, &wrong)
	if len(wrong) > 0 {
		return nil, &Error{Faults: wrong, ClassName: class.Name}
	}
	return p, nil
}

// makePlan lays the gateway over its class, which is sound.
func makePlan(in Input, class *v1alpha1.APIGatewayClass, r rules, wrong *faults) *Plan {
	gateway, spec := in.Gateway, &in.Gateway.Spec
	own, base := deref(spec.Remediation), deref(class.Spec.Remediation)
	p := &Plan{
		Gateway:        types.NamespacedName{Namespace: gateway.Namespace, Name: gateway.Name},
		ClassName:      class.Name,
		Source:         planSource(gateway, class, wrong),
		Release:        planRelease(gateway, class),
		Remediation:    planRemediation(own, base),
		DeletionPolicy: text(v1alpha1.DeletionDelete, spec.DeletionPolicy),
		Shard:          gateway.Labels[v1alpha1.LabelShard],
		Adopt:          adopts(gateway, class),
	}
	if spec.Suspend != nil {
		suspend := *spec.Suspend
		p.Suspend = &suspend
	}
	checkPolicy(gateway, class, p.Release, wrong)
	if deref(class.Spec.Policy).AllowPatches {
		checkPatches(spec.Patches, wrong)
	}
	checkHistory(p.Release.MaxHistory, p.Remediation.Strategy, wrong)
	checkRemediation(spec.Remediation, p.Remediation.Strategy, wrong)
	checkBackoff(p.Remediation, wrong)
	p.Release.Values = planValues(in, p.Release, r, wrong)
	return p
}
