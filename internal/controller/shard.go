// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"fmt"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// Several operators share the work by the labels of gateways, in the manner of Flux's controllers: each serves those that its
// selector matches. All of them see all gateways, since a Helm release, a class and a source may be claimed, used and shared
// across shards. What belongs to no gateway alone is done like this: of a class each writes what all would write, and who
// comes second finds it done; a source goes by the operator whose shard it is of, and not while a gateway of another wants it.

// ParseLabelSelector reads the value of --watch-label-selector. All that Flux's controllers take means here what it does
// there. Empty: all gateways.
func ParseLabelSelector(text string) (labels.Selector, error) {
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--watch-label-selector: %q is not a label selector, such as %s=shard1 and, "+
			"for what has no such label, !%[2]s: %w", text, v1alpha1.LabelShard, err)
	}
	return selector, nil
}

// looksAfter tells whether a source of these labels is this operator's to remove. Of a gateway's labels a source has its shard
// alone, so that only what the selector says of that is asked.
func looksAfter(selector labels.Selector, source map[string]string) bool {
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		if r.Key() == v1alpha1.LabelShard && !r.Matches(labels.Set(source)) {
			return false
		}
	}
	return true
}

// serves tells whether the gateway is one of those that this operator serves.
func serves(selector labels.Selector, gateway *v1alpha1.APIGateway) bool {
	return selector.Matches(labels.Set(gateway.Labels))
}

// wantedSourceKeys are the keys under which the index holds a gateway by the source that its plan wants.
func wantedSourceKeys(o client.Object) []string {
	gateway := o.(*v1alpha1.APIGateway)
	if wanted := gateway.Status.Source; wanted != nil && gateway.DeletionTimestamp == nil {
		return []string{cmp.Or(wanted.Namespace, gateway.Namespace) + "/" + wanted.Name}
	}
	return nil
}

// actionMargin is what an action may take beyond its timeouts before it is believed that nobody carries it out any more.
const actionMargin = time.Minute

// handsOver says for how long the HelmRelease still has to stay with the helm-controller of its shard, since that is at a Helm
// action: a second one would take the release for abandoned, unlock it and upgrade it at the same time. That it has said how the
// attempt ended is waited for too, so that it goes on record as what it is. A helm-controller that is gone is not waited for
// longer than its action could have taken.
func handsOver(live, desired *helmv2.HelmRelease, now time.Time) time.Duration {
	if live.Labels[v1alpha1.LabelShard] == desired.Labels[v1alpha1.LabelShard] {
		return 0
	}
	o := fluxstatus.Observe(fluxstatus.Input{Release: live})
	ends := o.Activity == fluxstatus.Unseen && o.Unfinished
	if o.Activity != fluxstatus.Acting && o.Activity != fluxstatus.Correcting && !ends {
		return 0
	}
	// An upgrade, and the rollback after it.
	return max(0, signOfLife(live, o.Latest).Add(2*live.GetTimeout().Duration+actionMargin).Sub(now))
}

// signOfLife is when helm-controller was last at the release for sure.
func signOfLife(hr *helmv2.HelmRelease, latest *helmv2.Snapshot) time.Time {
	var last time.Time
	for _, c := range hr.Status.Conditions {
		if c.LastTransitionTime.After(last) {
			last = c.LastTransitionTime.Time
		}
	}
	if latest != nil && latest.LastDeployed.After(last) {
		last = latest.LastDeployed.Time
	}
	return last
}
