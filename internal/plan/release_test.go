// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestAGatewaysSettingsOverrideItsClassesLeafByLeaf(t *testing.T) {
	const class = `
spec:
  release: {interval: 1m, timeout: 2m, maxHistory: 10, crds: Skip, serviceAccountName: flux,
    driftDetection: {mode: warn, ignore: [{paths: [/a]}, {paths: [/b]}]}, test: {enable: true}}
`
	inherited := made(t, input(t, class, "{}"))
	for name, c := range map[string]struct {
		set  string
		want func(*Release)
	}{
		"nothing":            {"{}", func(*Release) {}},
		"interval":           {"{interval: 1h}", func(r *Release) { r.Interval = time.Hour }},
		"timeout":            {"{timeout: 90s}", func(r *Release) { r.Timeout = 90 * time.Second }},
		"maxHistory, also 0": {"{maxHistory: 0}", func(r *Release) { r.MaxHistory = 0 }},
		"crds":               {"{crds: Create}", func(r *Release) { r.CRDs = "Create" }},
		"drift's mode alone": {"{driftDetection: {mode: disabled}}", func(r *Release) { r.DriftDetection.Mode = "disabled" }},
		"an empty list":      {"{driftDetection: {ignore: []}}", func(*Release) {}},
		"test, also false":   {"{test: {enable: false}}", func(r *Release) { r.TestEnabled = false }},
		"createNamespace":    {"{createNamespace: true}", func(r *Release) { r.CreateNamespace = true }},
		"the same account":   {"{serviceAccountName: flux}", func(*Release) {}},
		"a list, which replaces": {"{driftDetection: {ignore: [{paths: [/c]}]}}", func(r *Release) {
			r.DriftDetection.Ignore = r.DriftDetection.Ignore[:1]
			r.DriftDetection.Ignore[0].Paths = []string{"/c"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			want := *inherited
			want.Release.DriftDetection = *inherited.Release.DriftDetection.DeepCopy()
			c.want(&want.Release)
			require.Equal(t, &want, made(t, input(t, class, "spec: {release: "+c.set+"}")))
		})
	}
}

func TestWhereAReleaseGoes(t *testing.T) {
	for name, c := range map[string]struct{ policy, release, target, storage string }{
		"its own namespace":                {"{}", "{}", "team", "team"},
		"its own namespace, named":         {"{}", "{targetNamespace: team, storageNamespace: team}", "team", "team"},
		"an allowed one, with its storage": {"{allowedTargetNamespaces: [edge]}", "{targetNamespace: edge}", "edge", "edge"},
		"an allowed one, its storage at home": {
			"{allowedTargetNamespaces: [edge]}", "{targetNamespace: edge, storageNamespace: team}", "edge", "team"},
		"any": {"{allowedTargetNamespaces: ['*']}", "{targetNamespace: a, storageNamespace: b}", "a", "b"},
	} {
		t.Run(name, func(t *testing.T) {
			r := made(t, input(t, "spec: {policy: "+c.policy+"}", "spec: {release: "+c.release+"}")).Release
			require.Equal(t, []string{c.target, c.storage}, []string{r.TargetNamespace, r.StorageNamespace})
		})
	}
}

func TestWhatTheClassDoesNotAllow(t *testing.T) {
	for name, c := range map[string]struct {
		class, release string
		want           []string
	}{
		"another namespace, where none is": {
			"{}", "{targetNamespace: edge}",
			[]string{"spec.release.targetNamespace: class wso2 does not allow namespace edge; it allows: team"},
		},
		"another namespace than those": {
			"{policy: {allowedTargetNamespaces: [edge, dmz]}}", "{targetNamespace: edge-2}",
			[]string{"spec.release.targetNamespace: class wso2 does not allow namespace edge-2; it allows: team, edge, dmz"},
		},
		"another namespace for the storage": {
			"{policy: {allowedTargetNamespaces: [edge]}}", "{targetNamespace: edge, storageNamespace: kube-system}",
			[]string{"spec.release.storageNamespace: class wso2 does not allow namespace kube-system; it allows: team, edge"},
		},
		"two others": {
			"{}", "{targetNamespace: a, storageNamespace: b}",
			[]string{
				"spec.release.targetNamespace: class wso2 does not allow namespace a; it allows: team",
				"spec.release.storageNamespace: class wso2 does not allow namespace b; it allows: team",
			},
		},
		"a ServiceAccount, where the class has none": {
			"{}", "{serviceAccountName: admin}",
			[]string{"spec.release.serviceAccountName: class wso2 does not let gateways choose a ServiceAccount (policy.allowServiceAccountOverride); remove it"},
		},
		"another ServiceAccount than the class's": {
			"{release: {serviceAccountName: flux}}", "{serviceAccountName: admin}",
			[]string{"spec.release.serviceAccountName: class wso2 does not let gateways choose a ServiceAccount (policy.allowServiceAccountOverride); remove it"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.want {
				c.want[i] = "NotAllowed " + c.want[i]
			}
			require.Equal(t, c.want, refusal(t, input(t, "spec: "+c.class, "spec: {release: "+c.release+"}")))
		})
	}
}

func TestAServiceAccountOfTheGatewaysChoice(t *testing.T) {
	in := input(t, "spec: {release: {serviceAccountName: flux}, policy: {allowServiceAccountOverride: true}}", "spec: {release: {serviceAccountName: mine}}")
	require.Equal(t, "mine", made(t, in).Release.ServiceAccountName)
}

func TestSettingsThatFluxCouldNotTakeAreRefused(t *testing.T) {
	long := strings.Repeat("a", 54)
	for name, c := range map[string]struct {
		gateway string
		want    []string
	}{
		"a gateway's name that is too long": {
			"metadata: {name: " + long + "}",
			[]string{"metadata.name: 54 characters are too many: at most 53, since Helm allows a release name no more"},
		},
		"the same, where the release has a name of its own": {
			"{metadata: {name: " + long + "}, spec: {release: {name: gw}}}",
			[]string{"metadata.name: 54 characters are too many: at most 53, since Helm allows a release name no more"},
		},
		"no name and no namespace": {
			"metadata: {name: '', namespace: ''}",
			[]string{"metadata.name: is empty", "metadata.namespace: is empty"},
		},
		"a gateway's name with a dot": {
			"metadata: {name: orders.v1}",
			[]string{"spec.release.name: the gateway's name has a dot, which a chart's names cannot have; name the release here"},
		},
		"names that are none": {
			"spec: {release: {name: Orders, targetNamespace: a.b, storageNamespace: '" + strings.Repeat("a", 64) + "'}}",
			[]string{
				`spec.release.name: "Orders" is not a name: lowercase letters, digits and -, with a letter or digit at both ends`,
				`spec.release.targetNamespace: "a.b" is not a name: lowercase letters, digits and -, with a letter or digit at both ends`,
				"spec.release.storageNamespace: 64 characters are too many: at most 63, as for every namespace",
			},
		},
		"a release's name that is too long": {
			"spec: {release: {name: " + long + "}}",
			[]string{"spec.release.name: 54 characters are too many: at most 53, since Helm allows no more"},
		},
		"durations that are none": {
			"spec: {release: {interval: 0s, timeout: -5m}}",
			[]string{"spec.release.interval: 0s is not greater than 0", "spec.release.timeout: -5m0s is not greater than 0"},
		},
		"words and numbers out of range": {
			"spec: {release: {maxHistory: -1, crds: Replace, driftDetection: {mode: never, ignore: [{paths: [a]}]}}, deletionPolicy: Keep}",
			[]string{
				"spec.release.maxHistory: -1 is less than 0; 0 keeps all revisions",
				`spec.release.crds: "Replace" is not one of "Skip", "Create", "CreateReplace"`,
				`spec.release.driftDetection.mode: "never" is not one of "enabled", "warn", "disabled"`,
				`spec.release.driftDetection.ignore[0].paths[0]: "a" is not a JSON pointer, such as /spec/replicas: it begins with /, and a ~ or / inside a key is written ~0 or ~1`,
				`spec.deletionPolicy: "Keep" is not one of "Delete", "Orphan"`,
			},
		},
		"a history that cannot be rolled back": {
			"spec: {release: {maxHistory: 1}}",
			[]string{"spec.release.maxHistory: 1 leaves Helm no revision to roll back to; with remediation.strategy Rollback keep at least 2, or 0 for all"},
		},
		"dependencies": {
			"spec: {release: {dependsOn: [{name: users}, {name: orders}, {name: users}, {name: ''}]}}",
			[]string{
				"spec.release.dependsOn[1].name: orders is this gateway itself, which would wait for itself",
				"spec.release.dependsOn[2].name: users is named twice",
				"spec.release.dependsOn[3].name: is empty; name an APIGateway of this namespace",
			},
		},
		"valuesFrom": {
			"spec: {valuesFrom: [{kind: ConfigMap, name: a}, {kind: Secret, name: b, valuesKey: a/b}, {kind: '', name: ''}, " +
				"{kind: ConfigMap, name: a, targetPath: 'a b'}, {kind: ConfigMap, name: a, targetPath: 'a.b[0]\\.c'}, {kind: Secret, name: a, literal: true}]}",
			[]string{
				`spec.valuesFrom[1].valuesKey: "a/b" is not a key: letters, digits, -, _ and .`,
				`spec.valuesFrom[2].kind: "" is not one of "ConfigMap", "Secret"`,
				"spec.valuesFrom[2].name: is empty",
				`spec.valuesFrom[3].targetPath: "a b" is not a path that Flux takes: keys of letters, digits, _, - and /, joined by dots, and [0] for an element`,
				"spec.valuesFrom[5].literal: acts only with targetPath; remove it, or set targetPath",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.want {
				c.want[i] = "InvalidSpec " + c.want[i]
			}
			require.Equal(t, c.want, refusal(t, input(t, "spec: {policy: {allowedTargetNamespaces: ['*']}}", c.gateway)))
		})
	}
}

func TestNamesAtTheirLimits(t *testing.T) {
	longest := strings.Repeat("a", 53)
	require.Equal(t, longest, made(t, input(t, "{}", "metadata: {name: "+longest+"}")).Release.Name)
	require.Equal(t, "gw", made(t, input(t, "{}", "{metadata: {name: orders.v1}, spec: {release: {name: gw}}}")).Release.Name)
}

func TestSuspend(t *testing.T) {
	for set, want := range map[string]*bool{"{}": nil, "{suspend: true}": ptr(true), "{suspend: false}": ptr(false)} {
		require.Equal(t, want, made(t, input(t, "{}", "spec: "+set)).Suspend, set)
	}
}

func TestDeletionPolicy(t *testing.T) {
	for set, want := range map[string]v1alpha1.DeletionPolicy{"{}": "Delete", "{deletionPolicy: Delete}": "Delete", "{deletionPolicy: Orphan}": "Orphan"} {
		require.Equal(t, want, made(t, input(t, "{}", "spec: "+set)).DeletionPolicy, set)
	}
}

func ptr[T any](v T) *T { return &v }
