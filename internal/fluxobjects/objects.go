// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package fluxobjects is the third stage of the flow: it says a Plan in Flux's terms, as the OCIRepository and the
// HelmRelease that Flux is to have. It is pure; ownership and the operator's own marks are added by internal/controller,
// so that the generator's objects carry none.
package fluxobjects

import (
	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// Objects are what one gateway needs of Flux.
type Objects struct {
	Source  *sourcev1.OCIRepository
	Release *helmv2.HelmRelease
}

// Make says the plan in Flux's terms. Every field that Flux's CRDs would default is set, so that what is read back from
// the API server equals what was written.
func Make(p *plan.Plan, naming Naming) Objects {
	source := makeSource(p, naming)
	return Objects{Source: source, Release: makeRelease(p, source)}
}

func makeSource(p *plan.Plan, naming Naming) *sourcev1.OCIRepository {
	name := SourceName(p, naming)
	return &sourcev1.OCIRepository{
		TypeMeta: metav1.TypeMeta{APIVersion: sourcev1.GroupVersion.String(), Kind: sourcev1.OCIRepositoryKind},
		ObjectMeta: metav1.ObjectMeta{
			Name:      name.Name,
			Namespace: name.Namespace,
			Labels:    labels(p),
		},
		Spec: *p.Source.Spec.DeepCopy(),
	}
}

func makeRelease(p *plan.Plan, source *sourcev1.OCIRepository) *helmv2.HelmRelease {
	objectLabels := labels(p)
	objectLabels[v1alpha1.LabelGateway] = p.Gateway.Name
	return &helmv2.HelmRelease{
		TypeMeta: metav1.TypeMeta{APIVersion: helmv2.GroupVersion.String(), Kind: helmv2.HelmReleaseKind},
		ObjectMeta: metav1.ObjectMeta{
			Name:      p.Gateway.Name,
			Namespace: p.Gateway.Namespace,
			Labels:    objectLabels,
		},
		Spec: releaseSpec(p, source),
	}
}

func releaseSpec(p *plan.Plan, source *sourcev1.OCIRepository) helmv2.HelmReleaseSpec {
	r := p.Release
	maxHistory := r.MaxHistory
	spec := helmv2.HelmReleaseSpec{
		ChartRef: &helmv2.CrossNamespaceSourceReference{
			Kind:      sourcev1.OCIRepositoryKind,
			Name:      source.Name,
			Namespace: source.Namespace,
		},
		Interval:           metav1.Duration{Duration: r.Interval},
		Timeout:            &metav1.Duration{Duration: r.Timeout},
		ReleaseName:        r.Name,
		TargetNamespace:    r.TargetNamespace,
		StorageNamespace:   r.StorageNamespace,
		MaxHistory:         &maxHistory,
		ServiceAccountName: r.ServiceAccountName,
		DriftDetection:     r.DriftDetection.DeepCopy(),
		DependsOn:          dependencies(r.DependsOn),
		Install:            install(p),
		Upgrade:            upgrade(p),
		ValuesFrom:         append([]meta.ValuesReference(nil), r.ValuesFrom...),
		Suspend:            p.Suspend != nil && *p.Suspend,
	}
	if r.Cluster != nil {
		ref := r.Cluster.KubeConfig
		spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &ref}
	}
	if len(r.Patches) > 0 {
		spec.PostRenderers = []helmv2.PostRenderer{{Kustomize: (&helmv2.Kustomize{Patches: r.Patches}).DeepCopy()}}
	}
	if r.TestEnabled {
		spec.Test = &helmv2.Test{Enable: true}
	}
	if r.Values != nil {
		spec.Values = &apiextensionsv1.JSON{Raw: append([]byte(nil), r.Values...)}
	}
	return spec
}

func dependencies(names []string) []helmv2.DependencyReference {
	var refs []helmv2.DependencyReference
	for _, name := range names {
		refs = append(refs, helmv2.DependencyReference{Name: name})
	}
	return refs
}

func labels(p *plan.Plan) map[string]string {
	all := map[string]string{
		v1alpha1.LabelManagedBy: v1alpha1.ManagedBy,
		v1alpha1.LabelClass:     p.ClassName,
	}
	if p.Shard != "" {
		all[v1alpha1.LabelShard] = p.Shard
	}
	return all
}
