// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// ClassFaults says everything that is wrong with a class by itself, in a stable order; nil when it is accepted. Fields
// begin with the class, as in APIGatewayClass/wso2 spec.valueMappings[2].paths[0].
func ClassFaults(class *v1alpha1.APIGatewayClass) []Fault {
	_, wrong := readClass(class)
	return wrong
}

// readClass reads a class's rules, and says what is wrong with the class. The rules are of use only if nothing is.
func readClass(class *v1alpha1.APIGatewayClass) (rules, faults) {
	var wrong faults
	spec := &class.Spec
	checkName("metadata.name", class.Name, subdomain, &wrong)
	checkLength("metadata.name", class.Name, maxClassName, "since sources are named <class>-<8 hex digits>", &wrong)
	checkClassChart(spec.Chart, &wrong)
	r := readRules(class, &wrong)
	settings, remediation := deref(spec.Release), deref(spec.Remediation)
	strategy := strategyOf(v1alpha1.Remediation{}, remediation)
	checkSettings("spec.release", settings, &wrong)
	checkHistory(int(value(defaultMaxHistory, settings.MaxHistory)), strategy, &wrong)
	checkRemediation(spec.Remediation, strategy, &wrong)
	checkBackoff(planRemediation(v1alpha1.Remediation{}, remediation), &wrong)
	checkClassPolicy(spec, &wrong)
	checkClassLimits(*spec, &wrong)
	for i := range wrong {
		wrong[i].Field = "APIGatewayClass/" + class.Name + " " + wrong[i].Field
	}
	return r, wrong
}

// notAccepted are a class's faults as a gateway's.
func notAccepted(wrong faults) faults {
	all := slices.Clone(wrong)
	for i := range all {
		all[i].Reason = v1alpha1.ReasonClassNotAccepted
	}
	return all
}

func checkClassChart(chart v1alpha1.ClassChart, wrong *faults) {
	checkURL(chart.URL, wrong)
	checkOneVersion("spec.chart.ref", chart.Ref.ChartVersion, exactlyOne, wrong)
	checkVersion("spec.chart.ref", chart.Ref.ChartVersion, wrong)
	checkFilter(chart.Ref, wrong)
	checkRangeOfVersions("spec.chart.allowedVersions", chart.AllowedVersions, wrong)
	if namespace := text("", chart.Namespace); namespace != "" {
		checkNamespace("spec.chart.namespace", namespace, wrong)
	}
	checkDuration("spec.chart.interval", chart.Interval, wrong)
	checkDuration("spec.chart.timeout", chart.Timeout, wrong)
	if chart.Timeout != nil && chart.Timeout.Duration >= time.Hour {
		wrong.invalid("spec.chart.timeout", "%s is an hour or more, which OCIRepository does not take", chart.Timeout.Duration)
	}
	for _, ref := range []struct {
		field string
		ref   *v1alpha1.ObjectRef
	}{
		{"spec.chart.secretRef", chart.SecretRef},
		{"spec.chart.certSecretRef", chart.CertSecretRef},
		{"spec.chart.proxySecretRef", chart.ProxySecretRef},
	} {
		if ref.ref != nil {
			checkReference(ref.field, true, ref.ref.Name, wrong)
			checkNameIfSet(ref.field+".name", ref.ref.Name, wrong)
		}
	}
	checkNameIfSet("spec.chart.serviceAccountName", text("", chart.ServiceAccountName), wrong)
	checkOneOf("spec.chart.provider", chart.Provider, wrong, sourcev1.GenericOCIProvider,
		sourcev1.AmazonOCIProvider, sourcev1.AzureOCIProvider, sourcev1.GoogleOCIProvider)
	if chart.Verify != nil {
		checkOneOf("spec.chart.verify.provider", &chart.Verify.Provider, wrong, "cosign", "notation")
		checkVerification(chart.Verify, wrong)
		if ref := chart.Verify.SecretRef; ref != nil && ref.Name == "" {
			wrong.invalid("spec.chart.verify.secretRef.name", "is empty; name the Secret with the keys, or remove secretRef to verify without keys")
		}
	}
}

// checkVerification refuses what would not act: identities are cosign's, without keys, and notation needs its certificates.
func checkVerification(verify *sourcev1.OCIRepositoryVerification, wrong *faults) {
	const field = "spec.chart.verify"
	if verify.Provider == "notation" && verify.SecretRef == nil {
		wrong.invalid(field+".secretRef", "is missing; notation needs the Secret with the trust policy and the certificates")
	}
	if len(verify.MatchOIDCIdentity) > 0 && (verify.Provider == "notation" || verify.SecretRef != nil) {
		wrong.invalid(field+".matchOIDCIdentity", "acts only with cosign without keys; remove it, or remove secretRef")
	}
	for i, identity := range verify.MatchOIDCIdentity {
		here := at(field+".matchOIDCIdentity", i)
		checkExpression(here+".issuer", identity.Issuer, wrong)
		checkExpression(here+".subject", identity.Subject, wrong)
	}
}

func checkURL(url string, wrong *faults) {
	const field = "spec.chart.url"
	if url == "" {
		wrong.invalid(field, "is missing; write oci://host/path/chart")
		return
	}
	address, ok := strings.CutPrefix(url, sourcev1.OCIRepositoryPrefix)
	if !ok {
		wrong.invalid(field, "%q does not begin with oci://; write oci://host/path/chart, since charts are taken of OCI registries alone", url)
		return
	}
	img, err := parseImage(address)
	host, path, _ := strings.Cut(address, "/")
	port, wrongPort := errors.AsType[portError](err)
	switch {
	case host != "" && strings.Trim(path, "/") == "":
		wrong.invalid(field, "%q has no path; write oci://host/path/chart", url)
	case wrongPort:
		wrong.invalid(field, "%q is not a chart's address: %s", url, port)
	case err != nil:
		wrong.invalid(field, "%q is not a chart's address; write oci://host/path/chart in lowercase, without a tag", url)
	case img.tag != "" || img.digest != "":
		wrong.invalid(field, "%q has a tag or digest; set it in spec.chart.ref", url)
	case img.registry == "":
		wrong.invalid(field, "%q names no registry: its host must have a dot or a port, or be localhost, or else Flux asks Docker Hub", url)
	}
}

func checkFilter(ref v1alpha1.ChartRef, wrong *faults) {
	filter := text("", ref.SemverFilter)
	if filter == "" {
		return
	}
	if text("", ref.Semver) == "" {
		wrong.invalid("spec.chart.ref.semverFilter", "goes with semver alone; remove it")
	}
	checkExpression("spec.chart.ref.semverFilter", filter, wrong)
}

func checkExpression(field, expression string, wrong *faults) {
	if _, err := regexp.Compile(expression); err != nil {
		wrong.invalid(field, "%q is not a regular expression: %s", expression, err)
	}
}
