// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import "github.com/sluice-gateway/sluice/api/v1alpha1"

// Rules that are not reasons of the condition Accepted.
const (
	RuleInvalidInput      = "InvalidInput"
	RuleUnknownPath       = "UnknownPath"
	RuleUnknownValue      = "UnknownValue"
	RuleInvalidValues     = "InvalidValues"
	RuleChartVersion      = "ChartVersion"
	RuleNotChecked        = "NotChecked"
	RuleSkipped           = "Skipped"
	RuleNothingRead       = "NothingRead"
	RuleUnknownMark       = "UnknownMark"
	RuleDependencyCycle   = "DependencyCycle"
	RuleDependencyMissing = "DependencyMissing"
	RuleReleaseMoved      = "ReleaseMoved"
	RuleReleaseRemoved    = "ReleaseRemoved"
	RuleChartReplaced     = "ChartReplaced"
	RuleRestsAfterFailure = "RestsAfterFailure"
	RuleOperatorOnly      = "OperatorOnly"
)

// Rule is what a finding may be about.
type Rule struct {
	ID, Description string
}

// Rules are all rules, those of rendering first.
var Rules = []Rule{
	{RuleInvalidInput, "A document or an object cannot be read, or is not what Sluice knows."},
	{v1alpha1.ReasonInvalidSpec, "A field has a value that no class could make valid."},
	{v1alpha1.ReasonUnmappedField, "A field is set that the class does not map."},
	{v1alpha1.ReasonFieldConflict, "A mapped field and configRef or values set one path differently."},
	{v1alpha1.ReasonNotAllowed, "The class's policy forbids what the gateway asks for."},
	{v1alpha1.ReasonClassNotFound, "The class is not in the input, or none is named and there is not one default."},
	{v1alpha1.ReasonClassNotAccepted, "The gateway's class is faulty."},
	{v1alpha1.ReasonConfigNotFound, "The ConfigMap of configRef, or its key, is not in the input."},
	{v1alpha1.ReasonInvalidConfig, "The ConfigMap's values cannot be read as a map."},
	{v1alpha1.ReasonCapabilityUnknown, "The class asks what the cluster serves, and nothing tells."},
	{v1alpha1.ReasonIssuerRequired, "Gateways are exposed by routes, and nobody names the issuer of their certificates."},
	{v1alpha1.ReasonConflict, "Two gateways want one Helm release."},
	{RuleUnknownPath, "A class maps a field to a path that its chart does not have."},
	{RuleUnknownValue, "The chart has no value of that name, and would ignore it."},
	{RuleInvalidValues, "The merged values are not as the chart's schema wants them."},
	{RuleChartVersion, "The chart that was checked is not one that the class would take."},
	{RuleNotChecked, "Something was not checked, for want of the right chart."},
	{RuleSkipped, "An object is somebody else's, and was not judged."},
	{RuleNothingRead, "Of a directory that was named no file is read."},
	{RuleUnknownMark, "An annotation or label of Sluice's own group is none that it reads."},
	{RuleDependencyCycle, "Gateways wait for one another, and none is ever installed."},
	{RuleDependencyMissing, "A gateway waits for one that is not in the input."},
	{RuleReleaseMoved, "The change would move a release, which is refused, or reinstalls it."},
	{RuleReleaseRemoved, "The change uninstalls a release."},
	{RuleChartReplaced, "The change upgrades a release to a chart of another name."},
	{RuleRestsAfterFailure, "Without the operator the release rests after its last retry."},
	{RuleOperatorOnly, "What is asked for is done by the operator alone."},
}
