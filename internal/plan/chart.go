// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"regexp"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

const (
	defaultChartInterval = 10 * time.Minute
	// defaultChartTimeout is what OCIRepository's CRD fills in.
	defaultChartTimeout = 60 * time.Second
	// defaultVerifier is what OCIRepository's CRD fills in.
	defaultVerifier = "cosign"
	// chartMediaType of a chart's layer. The chart is copied as it is: extracted, it would be packed anew.
	chartMediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// planSource is the class's chart at the gateway's version. Everything that the CRD would default is set, so that what is
// read back equals what was written.
func planSource(gateway *v1alpha1.APIGateway, class *v1alpha1.APIGatewayClass, wrong *faults) Source {
	chart := class.Spec.Chart
	own := allowedVersion(deref(gateway.Spec.Chart).ChartVersion, class, wrong)
	return Source{
		Namespace: text(gateway.Namespace, chart.Namespace),
		Spec: sourcev1.OCIRepositorySpec{
			URL:                chart.URL,
			Reference:          chartReference(chart.Ref, own),
			LayerSelector:      &sourcev1.OCILayerSelector{MediaType: chartMediaType, Operation: sourcev1.OCILayerCopy},
			Provider:           text(sourcev1.GenericOCIProvider, chart.Provider),
			SecretRef:          localRef(chart.SecretRef),
			Verify:             verification(chart.Verify),
			ServiceAccountName: text("", chart.ServiceAccountName),
			CertSecretRef:      localRef(chart.CertSecretRef),
			ProxySecretRef:     localRef(chart.ProxySecretRef),
			Interval:           metav1.Duration{Duration: duration(defaultChartInterval, chart.Interval)},
			Timeout:            &metav1.Duration{Duration: duration(defaultChartTimeout, chart.Timeout)},
			Insecure:           value(false, chart.Insecure),
		},
	}
}

// chartReference is the gateway's version, if it has one, else the class's. The class's filter goes with any range, also
// the gateway's: it tells apart the tags of one repository, which the gateway's range does not change.
func chartReference(class v1alpha1.ChartRef, gateway v1alpha1.ChartVersion) *sourcev1.OCIRepositoryRef {
	version := class.ChartVersion
	if len(chosen(gateway)) > 0 {
		version = gateway
	}
	ref := &sourcev1.OCIRepositoryRef{
		Tag:    text("", version.Tag),
		SemVer: text("", version.Semver),
		Digest: text("", version.Digest),
	}
	if ref.SemVer != "" {
		ref.SemverFilter = text("", class.SemverFilter)
	}
	return ref
}

func localRef(ref *v1alpha1.ObjectRef) *meta.LocalObjectReference {
	if ref == nil {
		return nil
	}
	return named(&meta.LocalObjectReference{Name: ref.Name})
}

// named is the reference, or nil where it names nothing.
func named(ref *meta.LocalObjectReference) *meta.LocalObjectReference {
	if ref == nil || ref.Name == "" {
		return nil
	}
	return ref
}

func verification(verify *sourcev1.OCIRepositoryVerification) *sourcev1.OCIRepositoryVerification {
	if verify == nil {
		return nil
	}
	complete := verify.DeepCopy()
	complete.Provider = text(defaultVerifier, &verify.Provider)
	complete.SecretRef = named(complete.SecretRef)
	complete.TrustedRootSecretRef = named(complete.TrustedRootSecretRef)
	return complete
}

// chosen are the names of the ways in which a version is given.
func chosen(v v1alpha1.ChartVersion) []string {
	var ways []string
	if text("", v.Tag) != "" {
		ways = append(ways, "tag")
	}
	if text("", v.Semver) != "" {
		ways = append(ways, "semver")
	}
	if text("", v.Digest) != "" {
		ways = append(ways, "digest")
	}
	return ways
}

// checkOneVersion refuses more than one way of giving a version; quantity is "at most one" or "exactly one".
func checkOneVersion(field string, v v1alpha1.ChartVersion, quantity string, wrong *faults) {
	ways := chosen(v)
	switch {
	case len(ways) == 0 && quantity == exactlyOne:
		wrong.invalid(field, "no version is set; set %s of tag, semver and digest", quantity)
	case len(ways) == 2:
		wrong.invalid(field, "%s and %s are both set; set %s of tag, semver and digest", ways[0], ways[1], quantity)
	case len(ways) == 3:
		wrong.invalid(field, "tag, semver and digest are all set; set %s of them", quantity)
	}
}

const (
	atMostOne  = "at most one"
	exactlyOne = "exactly one"
)

var (
	tagPattern    = regexp.MustCompile("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$")
	digestPattern = regexp.MustCompile("^sha256:[a-f0-9]{64}$")
)

// checkVersion refuses a version that no registry could have.
func checkVersion(field string, v v1alpha1.ChartVersion, wrong *faults) {
	if tag := text("", v.Tag); tag != "" {
		checkTag(field+".tag", tag, wrong)
	}
	checkRangeOfVersions(field+".semver", v.Semver, wrong)
	if digest := text("", v.Digest); digest != "" && !digestPattern.MatchString(digest) {
		wrong.invalid(field+".digest", "%q is not a digest; write sha256:<64 lowercase hex digits>", digest)
	}
}

func checkRangeOfVersions(field string, given *string, wrong *faults) {
	constraint := text("", given)
	if constraint == "" {
		return
	}
	switch parsed, err := semver.NewConstraint(constraint); {
	case err != nil:
		wrong.invalid(field, "%q is not a semver range, such as \">=1.2.0 <2.0.0\"", constraint)
	case isEmptyRange(constraint, parsed):
		wrong.invalid(field, "%q is a range that no version is within; write one such as \">=1.2.0 <2.0.0\"", constraint)
	}
}

func checkTag(field, tag string, wrong *faults) {
	switch {
	case tagPattern.MatchString(tag):
	case strings.Contains(tag, "+") && tagPattern.MatchString(strings.ReplaceAll(tag, "+", "_")):
		wrong.invalid(field, "%q: a tag has no +; Helm pushes such a version as %q", tag, strings.ReplaceAll(tag, "+", "_"))
	default:
		wrong.invalid(field, "%q is not a tag: letters, digits, _, . and -, at most 128", tag)
	}
}
