// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects

import (
	"encoding/json"
	"reflect"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// DesiredHash is 64 hex digits over all that an attempt depends on: the chart's digest and the spec less suspend, interval
// and chartRef (another source with the same digest is the same chart). It tells rounds of attempts apart. Empty while the
// digest is unknown.
func DesiredHash(spec helmv2.HelmReleaseSpec, chartDigest string) string {
	spec.Suspend = false
	spec.Interval = metav1.Duration{}
	spec.ChartRef = nil
	return hashWithDigest(spec, chartDigest)
}

// ContentHash is 64 hex digits over what ends up in the cluster: the chart's digest, the values, the patches and the target.
// Timeouts, remediation and other settings of how it gets there are left out, so that a release which was rolled back to
// these contents counts as deployed though a timeout changed meanwhile. Empty while the digest is unknown.
func ContentHash(spec helmv2.HelmReleaseSpec, chartDigest string) string {
	return hashWithDigest(helmv2.HelmReleaseSpec{
		ReleaseName:        spec.ReleaseName,
		TargetNamespace:    spec.TargetNamespace,
		StorageNamespace:   spec.StorageNamespace,
		KubeConfig:         spec.KubeConfig,
		Values:             spec.Values,
		ValuesFrom:         spec.ValuesFrom,
		CommonMetadata:     spec.CommonMetadata,
		PostRenderers:      spec.PostRenderers,
		PostRenderStrategy: spec.PostRenderStrategy,
	}, chartDigest)
}

func hashWithDigest(spec helmv2.HelmReleaseSpec, chartDigest string) string {
	if chartDigest == "" {
		return ""
	}
	return fullHash([]string{chartDigest, canonical(spec)})
}

// SpecEqual tells whether two specs mean the same: values are compared as JSON, so that key order and spacing do not count.
// Mostly they are the same to the letter, which is cheaper to see.
func SpecEqual(a, b helmv2.HelmReleaseSpec) bool {
	return reflect.DeepEqual(a, b) || canonical(a) == canonical(b)
}

func canonical(spec helmv2.HelmReleaseSpec) string {
	spec.Values = canonicalValues(spec.Values)
	data, _ := json.Marshal(spec)
	return string(data)
}

// canonicalValues sorts the keys. What is not JSON stays as it is: the API server would not have taken it, so it equals
// nothing that was read from there.
func canonicalValues(values *apiextensionsv1.JSON) *apiextensionsv1.JSON {
	if values == nil || len(values.Raw) == 0 {
		return nil
	}
	var decoded any
	if err := utiljson.Unmarshal(values.Raw, &decoded); err != nil {
		return values
	}
	raw, err := json.Marshal(decoded)
	if err != nil {
		return values
	}
	return &apiextensionsv1.JSON{Raw: raw}
}
