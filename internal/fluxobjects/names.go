// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/internal/plan"
)

// Naming says who shares an OCIRepository.
type Naming int

const (
	// SharedSources names a source <class>-<hash>: all gateways of a namespace with the same class and chart share it.
	SharedSources Naming = iota
	// OwnSources names a source <gateway>-<hash>, since two Kustomizations must not own one object.
	OwnSources
)

// SourceName is the name of the plan's OCIRepository, at most 63 characters. It ends in 8 hex digits of a hash of its
// whole spec, so that a source is never edited: another spec is another source. So is another shard, and of sources that are
// not shared, though they lie in one namespace, another gateway's.
func SourceName(p *plan.Plan, naming Naming) types.NamespacedName {
	prefix, home := p.ClassName, ""
	if naming == OwnSources {
		prefix = p.Gateway.Name
		if p.Source.Namespace != p.Gateway.Namespace {
			home = p.Gateway.Namespace
		}
	}
	return types.NamespacedName{
		Namespace: p.Source.Namespace,
		Name:      fmt.Sprintf("%s-%s", prefix, shortHash(p.Source.Spec, p.Shard, home)),
	}
}

// shortHash is 8 hex digits of the SHA-256 of the spec's JSON and of what else there is. A plan's types always marshal; if
// one did not, the same nothing would be hashed for all, which the golden names would show.
func shortHash(spec sourcev1.OCIRepositorySpec, shard, home string) string {
	if shard == "" && home == "" {
		return fullHash(spec)[:8]
	}
	return fullHash([]any{spec, shard, home})[:8]
}

func fullHash(v any) string {
	data, _ := json.Marshal(v)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
