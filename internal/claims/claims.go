// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package claims stands beside the flow, after plan: it says which plans want the same Helm release, so that the operator
// and the generator refuse such a pair by one rule. Flux would let both overwrite each other for ever, each Ready. It is
// pure.
package claims

import (
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/sluice-gateway/sluice/internal/plan"
)

// Part is the use that a release makes of a namespace.
type Part string

// Parts of a claim.
const (
	// TargetNamespace holds the chart's objects, which are named after the release.
	TargetNamespace Part = "target namespace"
	// StorageNamespace holds Helm's record of the release.
	StorageNamespace Part = "storage namespace"
)

// Key is one place that a release has for itself. It is comparable, and its String can serve as the key of an index.
type Key struct {
	Release   string
	Part      Part
	Namespace string
	// Cluster is the Secret of the remote cluster's kubeconfig, namespace/name with #key if one is named; empty for Flux's
	// own. That two Secrets lead to one cluster is not seen.
	Cluster string
}

// String is for messages: release "web" in target namespace "apis".
func (k Key) String() string {
	text := fmt.Sprintf("release %q in %s %q", k.Release, k.Part, k.Namespace)
	if k.Cluster != "" {
		text += fmt.Sprintf(" of the cluster of Secret %s", k.Cluster)
	}
	return text
}

// Keys are the places that the plan's release takes: two, the target namespace first.
func Keys(p *plan.Plan) []Key {
	r := p.Release
	cluster := clusterOf(p)
	return []Key{
		{Release: r.Name, Part: TargetNamespace, Namespace: r.TargetNamespace, Cluster: cluster},
		{Release: r.Name, Part: StorageNamespace, Namespace: r.StorageNamespace, Cluster: cluster},
	}
}

func clusterOf(p *plan.Plan) string {
	if p.Release.Cluster == nil {
		return ""
	}
	return ClusterOf(p.Gateway.Namespace, p.Release.Cluster.KubeConfig)
}

// defaultKey is the key of a kubeconfig's Secret that Flux reads first, unless another is named.
const defaultKey = "value"

// ClusterOf is how a Key names the cluster of a kubeconfig's Secret.
func ClusterOf(namespace string, secret meta.SecretKeyReference) string {
	if secret.Key == "" || secret.Key == defaultKey {
		return namespace + "/" + secret.Name
	}
	return namespace + "/" + secret.Name + "#" + secret.Key
}

// Collide says whether the plans cannot both have their release: one name, and the same target or storage namespace.
// The first place in which they meet is returned with it.
func Collide(a, b *plan.Plan) (Key, bool) {
	theirs := Keys(b)
	for i, key := range Keys(a) {
		if key == theirs[i] {
			return key, true
		}
	}
	return Key{}, false
}
