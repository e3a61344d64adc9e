// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// What people and Sluice may have made of a HelmRelease, and the least that changes it.
func TestChangeOfSuspend(t *testing.T) {
	yes, no := true, false
	running, byHand, bySluice := &helmv2.HelmRelease{}, &helmv2.HelmRelease{}, &helmv2.HelmRelease{}
	byHand.Spec.Suspend, bySluice.Spec.Suspend = true, true
	bySluice.Annotations = map[string]string{v1alpha1.AnnotationSuspended: "true"}
	var unread = &helmv2.HelmRelease{} // stands for one that may not be read
	const keeps = "spec.suspend is false now, which keeps it resumed; remove the field to leave suspensions to people"
	for what, c := range map[string]struct {
		set     *bool
		hr      *helmv2.HelmRelease
		suspend bool
		want    change
	}{
		"suspend":                               {nil, running, true, change{true, true, "spec.suspend is true now"}},
		"suspend what is kept resumed":          {&no, running, true, change{true, true, "spec.suspend is true now"}},
		"suspend what is suspended":             {&yes, bySluice, true, change{false, nil, "spec.suspend is true already"}},
		"resume":                                {&yes, bySluice, false, change{true, nil, "spec.suspend is removed"}},
		"resume before there is a release":      {&yes, nil, false, change{true, nil, "spec.suspend is removed"}},
		"resume what is not suspended":          {nil, running, false, change{false, nil, "it is not suspended"}},
		"resume what is kept resumed":           {&no, running, false, change{false, nil, "spec.suspend is false already, which keeps it resumed"}},
		"resume what people suspended":          {nil, byHand, false, change{true, false, keeps}},
		"resume what both suspended":            {&yes, byHand, false, change{true, false, keeps}},
		"resume what has no release":            {nil, nil, false, change{false, nil, "it is not suspended"}},
		"resume what may not be read":           {nil, unread, false, change{true, false, keeps}},
		"resume before the operator has looked": {&yes, running, false, change{true, nil, "spec.suspend is removed"}},
	} {
		t.Run(what, func(t *testing.T) {
			gateway := &v1alpha1.APIGateway{}
			gateway.Spec.Suspend = c.set
			hr := c.hr
			if hr == unread {
				hr = nil
			}
			if got := changeOf(gateway, hr, c.hr == unread, c.suspend); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}
