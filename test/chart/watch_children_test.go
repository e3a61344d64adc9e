// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// operatorRules are the rights that the values grant.
func operatorRules(t *testing.T, values string) []rbacv1.PolicyRule {
	t.Helper()
	text, stderr, err := helm(t, values, "template", "shop", operatorChart(t), "--values", "-", "--show-only", "templates/clusterrole.yaml")
	require.NoError(t, err, stderr)
	var role rbacv1.ClusterRole
	require.NoError(t, yaml.Unmarshal([]byte(regexp.MustCompile(`(?m)^---$`).Split(text, -1)[1]), &role))
	return role.Rules
}

func TestTheOperatorMayWatchJustTheKindsThatItIsTold(t *testing.T) {
	const values = `watchChildren:
- {apiVersion: apps/v1, kind: Deployment}
- {apiVersion: v1, kind: Service}
- {apiVersion: networking.k8s.io/v1, kind: Ingress}
- {apiVersion: networking.k8s.io/v1, kind: NetworkPolicy}
- {apiVersion: gateway.networking.k8s.io/v1, kind: Gateway}
- {apiVersion: v1, kind: Endpoints, resource: endpoints}
`
	before := operatorRules(t, "{}")
	rule := func(group, resource string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{"list", "watch"}}
	}
	assert.Equal(t, append(slices.Clone(before),
		rule("apps", "deployments"), rule("", "services"), rule("networking.k8s.io", "ingresses"), rule("networking.k8s.io", "networkpolicies"),
		rule("gateway.networking.k8s.io", "gateways"), rule("", "endpoints"),
	), operatorRules(t, values))
	flag := "- --watch-children=apps/v1/Deployment,v1/Service,networking.k8s.io/v1/Ingress,networking.k8s.io/v1/NetworkPolicy," +
		"gateway.networking.k8s.io/v1/Gateway,v1/Endpoints\n"
	assert.Contains(t, renderChart(t, operatorChart(t), values), flag)
	assert.NotContains(t, renderChart(t, operatorChart(t), "{}"), "--watch-children")
}

func TestTheOperatorIsNotGrantedSecretsOrEverything(t *testing.T) {
	for value, want := range map[string]string{
		"{apiVersion: v1, kind: Secret}":                   "watchChildren[0]: Secrets are never watched, leave it out: Flux corrects them at its interval",
		"{apiVersion: v1, kind: Thing, resource: secrets}": "watchChildren[0]: Secrets are never watched, leave it out: Flux corrects them at its interval",
		`{apiVersion: v1, kind: Thing, resource: "*"}`:     "watchChildren[0]: * of v1 is no resource: wildcards are not granted",
		`{apiVersion: "*/v1", kind: Thing}`:                "watchChildren[0]: things of */v1 is no resource: wildcards are not granted",
		"{kind: Deployment}":                               "watchChildren[0] needs apiVersion and kind, as in {apiVersion: apps/v1, kind: Deployment}",
	} {
		_, stderr, err := template(t, operatorChart(t), "watchChildren: ["+value+"]")
		require.Error(t, err)
		assert.Contains(t, stderr, want)
	}
}

func TestAKindToWatchIsGivenOnce(t *testing.T) {
	const once = "{apiVersion: apps/v1, kind: Deployment}"
	_, stderr, err := template(t, operatorChart(t), "watchChildren: ["+once+", {apiVersion: v1, kind: Service}, "+once+"]")
	require.Error(t, err)
	assert.Contains(t, stderr, "watchChildren[2]: apps/v1/Deployment is in the list twice; remove one")
}
