// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package claims_test

import (
	"testing"

	"github.com/sluice-gateway/sluice/internal/claims"
	"github.com/sluice-gateway/sluice/internal/plan"
)

func release(name, target, storage string) *plan.Plan {
	return &plan.Plan{Release: plan.Release{Name: name, TargetNamespace: target, StorageNamespace: storage}}
}

func TestCollide(t *testing.T) {
	for what, c := range map[string]struct {
		a, b *plan.Plan
		want claims.Key
	}{
		"one name in one namespace": {
			release("web", "apis", "apis"), release("web", "apis", "apis"),
			claims.Key{Release: "web", Part: claims.TargetNamespace, Namespace: "apis"},
		},
		"one name, the target namespace alone in common": {
			release("web", "apis", "a"), release("web", "apis", "b"),
			claims.Key{Release: "web", Part: claims.TargetNamespace, Namespace: "apis"},
		},
		"one name, the storage namespace alone in common": {
			release("web", "a", "helm"), release("web", "b", "helm"),
			claims.Key{Release: "web", Part: claims.StorageNamespace, Namespace: "helm"},
		},
		"the target namespace of one is the storage namespace of the other": {
			release("web", "a", "b"), release("web", "c", "a"), claims.Key{},
		},
		"two names":      {release("web", "apis", "apis"), release("api", "apis", "apis"), claims.Key{}},
		"two namespaces": {release("web", "a", "a"), release("web", "b", "b"), claims.Key{}},
	} {
		t.Run(what, func(t *testing.T) {
			for _, pair := range [][2]*plan.Plan{{c.a, c.b}, {c.b, c.a}} {
				got, collide := claims.Collide(pair[0], pair[1])
				if got != c.want || collide != (c.want != claims.Key{}) {
					t.Errorf("Collide = %v, %v; want %v", got, collide, c.want)
				}
			}
		})
	}
}

func TestKeysAreForPeople(t *testing.T) {
	want := `release "web" in storage namespace "helm"`
	if got := claims.Keys(release("web", "apis", "helm"))[1].String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
