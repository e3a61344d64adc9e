// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

const (
	// maxReleaseName is Helm's limit. A gateway's name is its release's by default, and its HelmRelease's, which Flux makes
	// a label value.
	maxReleaseName = 53
	// maxClassName leaves room for the hash in the source's name, <class>-<8 hex digits>.
	maxClassName = 54
)

// checkGateway refuses what is wrong with a gateway whatever its class says.
func checkGateway(gateway *v1alpha1.APIGateway, wrong *faults) {
	spec := &gateway.Spec
	checkNames(gateway, wrong)
	chart := deref(spec.Chart).ChartVersion
	checkOneVersion("spec.chart", chart, atMostOne, wrong)
	checkVersion("spec.chart", chart, wrong)
	checkTyped(spec, wrong)
	checkValuesFrom(gateway, wrong)
	checkSettings("spec.release", deref(spec.Release).ReleaseSettings, wrong)
	checkDependencies(gateway, wrong)
	checkOneOf("spec.deletionPolicy", spec.DeletionPolicy, wrong, v1alpha1.DeletionDelete, v1alpha1.DeletionOrphan)
	refuseUnhonoured(unhonouredOfGateway, gateway, wrong)
}

func checkNames(gateway *v1alpha1.APIGateway, wrong *faults) {
	release := deref(gateway.Spec.Release)
	checkName("metadata.name", gateway.Name, validation.IsDNS1123Subdomain, wrong)
	checkLength("metadata.name", gateway.Name, maxReleaseName, "since Helm allows a release name no more", wrong)
	checkName("metadata.namespace", gateway.Namespace, validation.IsDNS1123Label, wrong)
	switch name := text("", release.Name); {
	case name != "":
		checkName("spec.release.name", name, validation.IsDNS1123Label, wrong)
		checkLength("spec.release.name", name, maxReleaseName, "since Helm allows no more", wrong)
	case strings.Contains(gateway.Name, "."):
		wrong.invalid("spec.release.name", "the gateway's name has a dot, which charts put into names that allow none; name the release")
	}
	checkNamespace("spec.release.targetNamespace", release.TargetNamespace, wrong)
	checkNamespace("spec.release.storageNamespace", release.StorageNamespace, wrong)
}

func checkNamespace(field string, namespace *string, wrong *faults) {
	if name := text("", namespace); name != "" {
		checkName(field, name, validation.IsDNS1123Label, wrong)
	}
}

func checkName(field, name string, rule func(string) []string, wrong *faults) {
	if name == "" {
		wrong.invalid(field, "is empty")
		return
	}
	if complaints := rule(name); len(complaints) > 0 {
		wrong.invalid(field, "%q is not a name: %s", name, strings.Join(complaints, "; "))
	}
}

func checkLength(field, name string, most int, why string, wrong *faults) {
	if len(name) > most {
		wrong.invalid(field, "%d characters are too many: at most %d, %s", len(name), most, why)
	}
}

// checkTyped refuses references that name nothing, and numbers that count nothing.
func checkTyped(spec *v1alpha1.APIGatewaySpec, wrong *faults) {
}

var _ = regexp.MustCompile

func checkDependencies(gateway *v1alpha1.APIGateway, wrong *faults) {
	seen := map[string]bool{}
	for i, ref := range deref(gateway.Spec.Release).DependsOn {
		field := at("spec.release.dependsOn", i) + ".name"
		switch {
		case ref.Name == "":
			wrong.invalid(field, "is empty; name an APIGateway of this namespace")
		case ref.Name == gateway.Name:
			wrong.invalid(field, "%s is this gateway itself, which would wait for ever", ref.Name)
		case seen[ref.Name]:
			wrong.invalid(field, "%s is named twice", ref.Name)
		}
		seen[ref.Name] = true
	}
}

func checkValuesFrom(gateway *v1alpha1.APIGateway, wrong *faults) {
}
