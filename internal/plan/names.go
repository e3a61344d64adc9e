// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

const (
	// maxReleaseName is Helm's limit. A gateway's name is by default its release's, and always its HelmRelease's, which
	// Flux makes a label value.
	maxReleaseName = 53
	// maxClassName leaves room for the hash in the source's name, <class>-<8 hex digits>.
	maxClassName = 54
	// maxNamespace is Kubernetes' limit.
	maxNamespace = 63
)

// nameRule is what the characters of a name must be.
type nameRule struct {
	pattern *regexp.Regexp
	inWords string
}

var (
	// label is RFC 1123's, which namespaces and Services keep to.
	label = nameRule{
		regexp.MustCompile("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"),
		"lowercase letters, digits and -, with a letter or digit at both ends",
	}
	// subdomain is RFC 1123's, which the names of most objects keep to.
	subdomain = nameRule{
		regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`),
		"lowercase letters, digits, - and ., with a letter or digit at both ends and beside each dot",
	}
)

func checkName(field, name string, rule nameRule, wrong *faults) {
	switch {
	case name == "":
		wrong.invalid(field, "is empty")
	case !rule.pattern.MatchString(name):
		wrong.invalid(field, "%q is not a name: %s", name, rule.inWords)
	}
}

// checkNameIfSet checks the name of an object that may be left out.
func checkNameIfSet(field, name string, wrong *faults) {
	if name != "" {
		checkName(field, name, subdomain, wrong)
	}
}

func checkLength(field, name string, most int, why string, wrong *faults) {
	if len(name) > most {
		wrong.invalid(field, "%d characters are too many: at most %d, %s", len(name), most, why)
	}
}

// checkShard refuses a shard that no label could have, so that no selector of Flux's controllers would find it.
func checkShard(gateway *v1alpha1.APIGateway, wrong *faults) {
	shard := gateway.Labels[v1alpha1.LabelShard]
	if problems := validation.IsValidLabelValue(shard); len(problems) > 0 {
		wrong.invalid("metadata.labels["+v1alpha1.LabelShard+"]", "%q is not a label's value: letters, digits, -, _ and ., at most 63", shard)
	}
}

func checkNamespace(field, name string, wrong *faults) {
	checkName(field, name, label, wrong)
	checkLength(field, name, maxNamespace, "as for every namespace", wrong)
}
