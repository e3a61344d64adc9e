// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// The tests here walk the API's types, so that a field added to them fails until it either acts, is mapped, or is refused.

// effect shows that a field acts: with it the plan is another than without it.
type effect struct {
	// class and gateway are laid over the plain ones in both cases, the field's own document in the second only.
	class, gateway, set string
	// refuses: its effect is that there is no plan.
	refuses bool
}

// honouredOfGateway are the fields of a gateway's spec that act by themselves.
var honouredOfGateway = map[string]effect{
	"spec.className":                          {class: "metadata: {annotations: null}", set: "spec: {className: wso2}"},
	"spec.chart.tag":                          {set: "spec: {chart: {tag: 9.9.9}}"},
	"spec.chart.semver":                       {set: "spec: {chart: {semver: 9.x}}"},
	"spec.chart.digest":                       {set: "spec: {chart: {digest: 'sha256:" + strings.Repeat("0", 64) + "'}}"},
	"spec.infrastructure.images":              {class: "spec: {imageMappings: [{name: gw, paths: [{repository: a}]}]}", set: "spec: {infrastructure: {images: {gw: a}}}"},
	"spec.configRef.name":                     {set: "spec: {configRef: {name: orders-values}}"},
	"spec.values":                             {set: "spec: {values: {a: 1}}"},
	"spec.valuesFrom":                         {set: "spec: {valuesFrom: [{kind: Secret, name: a}]}"},
	"spec.release.name":                       {set: "spec: {release: {name: a}}"},
	"spec.release.targetNamespace":            {set: "spec: {release: {targetNamespace: a}}"},
	"spec.release.storageNamespace":           {set: "spec: {release: {storageNamespace: a}}"},
	"spec.release.createNamespace":            {set: "spec: {release: {createNamespace: true}}"},
	"spec.release.interval":                   {set: "spec: {release: {interval: 1h}}"},
	"spec.release.timeout":                    {set: "spec: {release: {timeout: 1h}}"},
	"spec.release.maxHistory":                 {set: "spec: {release: {maxHistory: 9}}"},
	"spec.release.serviceAccountName":         {set: "spec: {release: {serviceAccountName: a}}"},
	"spec.release.crds":                       {set: "spec: {release: {crds: Skip}}"},
	"spec.release.driftDetection.mode":        {set: "spec: {release: {driftDetection: {mode: warn}}}"},
	"spec.release.driftDetection.ignore":      {set: "spec: {release: {driftDetection: {ignore: [{paths: [/a]}]}}}"},
	"spec.release.test.enable":                {set: "spec: {release: {test: {enable: true}}}"},
	"spec.release.dependsOn[].name":           {set: "spec: {release: {dependsOn: [{name: a}]}}"},
	"spec.remediation.strategy":               {set: "spec: {remediation: {strategy: Retry}}"},
	"spec.remediation.retries":                {set: "spec: {remediation: {retries: 1}}"},
	"spec.remediation.backoff.initial":        {set: "spec: {remediation: {backoff: {initial: 9m}}}"},
	"spec.remediation.backoff.max":            {set: "spec: {remediation: {backoff: {max: 9m}}}"},
	"spec.remediation.backoff.afterThreshold": {set: "spec: {remediation: {backoff: {afterThreshold: 9m}}}"},
	"spec.remediation.failureThreshold":       {set: "spec: {remediation: {failureThreshold: 9}}"},
	"spec.suspend":                            {set: "spec: {suspend: false}"},
	"spec.deletionPolicy":                     {set: "spec: {deletionPolicy: Orphan}"},
}

// honouredOfClass are the fields of a class's spec that act.
var honouredOfClass = map[string]effect{
	"spec.controllerName":                     {set: "spec: {controllerName: example.com/other}", refuses: true},
	"spec.chart.url":                          {set: "spec: {chart: {url: 'oci://other.example.com/gateway'}}"},
	"spec.chart.ref.tag":                      {set: "spec: {chart: {ref: {tag: 9.9.9}}}"},
	"spec.chart.ref.semver":                   {set: "spec: {chart: {ref: {tag: '', semver: 9.x}}}"},
	"spec.chart.ref.digest":                   {set: "spec: {chart: {ref: {tag: '', digest: 'sha256:" + strings.Repeat("0", 64) + "'}}}"},
	"spec.chart.ref.semverFilter":             {class: "spec: {chart: {ref: {tag: '', semver: 9.x}}}", set: "spec: {chart: {ref: {semverFilter: a}}}"},
	"spec.chart.interval":                     {set: "spec: {chart: {interval: 1h}}"},
	"spec.chart.timeout":                      {set: "spec: {chart: {timeout: 1s}}"},
	"spec.chart.provider":                     {set: "spec: {chart: {provider: aws}}"},
	"spec.chart.insecure":                     {set: "spec: {chart: {insecure: true}}"},
	"spec.chart.secretRef.name":               {set: "spec: {chart: {secretRef: {name: a}}}"},
	"spec.chart.certSecretRef.name":           {set: "spec: {chart: {certSecretRef: {name: a}}}"},
	"spec.chart.proxySecretRef.name":          {set: "spec: {chart: {proxySecretRef: {name: a}}}"},
	"spec.chart.serviceAccountName":           {set: "spec: {chart: {serviceAccountName: a}}"},
	"spec.chart.verify":                       {set: "spec: {chart: {verify: {provider: notation}}}"},
	"spec.values":                             {set: "spec: {values: {a: 1}}"},
	"spec.valueMappings[].field":              {set: "spec: {valueMappings: [{field: metadata.name, paths: [a]}]}"},
	"spec.valueMappings[].paths":              {set: "spec: {valueMappings: [{field: metadata.name, paths: [a]}]}"},
	"spec.valueMappings[].allowed":            {set: "spec: {valueMappings: [{field: metadata.name, paths: [a], allowed: [b]}]}", refuses: true},
	"spec.valueMappings[].whenSet":            {set: "spec: {valueMappings: [{field: metadata.name, paths: [a], whenSet: {b: 1}}]}"},
	"spec.imageMappings[].name":               {gateway: "spec: {infrastructure: {images: {gw: 'b.c/a:1@sha256:" + strings.Repeat("0", 64) + "'}}}", set: "spec: {imageMappings: [{name: gw, paths: [{repository: a, tag: b, digest: c}]}]}"},
	"spec.imageMappings[].paths[].registry":   {gateway: "spec: {infrastructure: {images: {gw: b.c/a}}}", class: "spec: {imageMappings: [{name: gw, paths: [{repository: a}]}]}", set: "spec: {imageMappings: [{name: gw, paths: [{registry: b, repository: a}]}]}"},
	"spec.imageMappings[].paths[].repository": {gateway: "spec: {infrastructure: {images: {gw: a}}}", set: "spec: {imageMappings: [{name: gw, paths: [{repository: a}]}]}"},
	"spec.imageMappings[].paths[].tag":        {gateway: "spec: {infrastructure: {images: {gw: 'a:1'}}}", set: "spec: {imageMappings: [{name: gw, paths: [{repository: a, tag: b}]}]}"},
	"spec.imageMappings[].paths[].digest":     {gateway: "spec: {infrastructure: {images: {gw: 'a@sha256:" + strings.Repeat("0", 64) + "'}}}", set: "spec: {imageMappings: [{name: gw, paths: [{repository: a, digest: b}]}]}"},
	"spec.release.interval":                   {set: "spec: {release: {interval: 1h}}"},
	"spec.release.timeout":                    {set: "spec: {release: {timeout: 1h}}"},
	"spec.release.maxHistory":                 {set: "spec: {release: {maxHistory: 9}}"},
	"spec.release.serviceAccountName":         {set: "spec: {release: {serviceAccountName: a}}"},
	"spec.release.crds":                       {set: "spec: {release: {crds: Skip}}"},
	"spec.release.driftDetection.mode":        {set: "spec: {release: {driftDetection: {mode: warn}}}"},
	"spec.release.driftDetection.ignore":      {set: "spec: {release: {driftDetection: {ignore: [{paths: [/a]}]}}}"},
	"spec.release.test.enable":                {set: "spec: {release: {test: {enable: true}}}"},
	"spec.remediation.strategy":               {set: "spec: {remediation: {strategy: Retry}}"},
	"spec.remediation.retries":                {set: "spec: {remediation: {retries: 1}}"},
	"spec.remediation.backoff.initial":        {set: "spec: {remediation: {backoff: {initial: 9m}}}"},
	"spec.remediation.backoff.max":            {set: "spec: {remediation: {backoff: {max: 9m}}}"},
	"spec.remediation.backoff.afterThreshold": {set: "spec: {remediation: {backoff: {afterThreshold: 9m}}}"},
	"spec.remediation.failureThreshold":       {set: "spec: {remediation: {failureThreshold: 9}}"},
	"spec.policy.allowedTargetNamespaces":     {gateway: "spec: {release: {targetNamespace: a}}", set: "spec: {policy: {allowedTargetNamespaces: [a]}}"},
	"spec.policy.allowServiceAccountOverride": {gateway: "spec: {release: {serviceAccountName: a}}", set: "spec: {policy: {allowServiceAccountOverride: true}}"},
}

// unhonouredExamples set each field that is refused until it acts.
var unhonouredExamples = map[string]string{
	"metadata.labels[sharding.fluxcd.io/key]":        "metadata: {labels: {sharding.fluxcd.io/key: a}}",
	"metadata.annotations[gateway.sluice.dev/adopt]": "metadata: {annotations: {gateway.sluice.dev/adopt: 'true'}}",
	"spec.patches":                            "spec: {patches: [{patch: a}]}",
	"spec.cluster.name":                       "spec: {cluster: {name: a}}",
	"spec.cluster.kubeConfig":                 "spec: {cluster: {kubeConfig: {secretRef: {name: a}}}}",
	"spec.cluster.apiVersions":                "spec: {cluster: {apiVersions: [a/v1]}}",
	"spec.cluster.exposureMode":               "spec: {cluster: {exposureMode: none}}",
	"spec.cluster.externalCAIssuerName":       "spec: {cluster: {externalCAIssuerName: a}}",
	"spec.chart.allowedVersions":              "spec: {chart: {allowedVersions: 1.x}}",
	"spec.chart.namespace":                    "spec: {chart: {namespace: a}}",
	"spec.capabilityValues":                   "spec: {capabilityValues: [{apiVersion: a/v1}]}",
	"spec.exposure.gatewayAPIValues":          "spec: {exposure: {gatewayAPIValues: {a: 1}}}",
	"spec.exposure.routeValues":               "spec: {exposure: {routeValues: {a: 1}}}",
	"spec.exposure.externalCAIssuerNamePaths": "spec: {exposure: {externalCAIssuerNamePaths: [a]}}",
	"spec.policy.allowRemoteClusters":         "spec: {policy: {allowRemoteClusters: true}}",
	"spec.policy.allowAdoption":               "spec: {policy: {allowAdoption: true}}",
	"spec.policy.allowPatches":                "spec: {release: {serviceAccountName: a}, policy: {allowPatches: true}}",
}

func TestEveryFieldOfAGatewayActsIsMappedOrIsRefused(t *testing.T) {
	known := fieldNames(unhonouredOfGateway)
	for _, f := range mappableFields {
		known = append(known, f.inGateway())
	}
	for field := range honouredOfGateway {
		known = append(known, field)
	}
	for _, leaf := range leaves(reflect.TypeFor[v1alpha1.APIGatewaySpec](), "spec") {
		require.True(t, covered(leaf, known), "%s neither acts, nor is mapped, nor is refused", leaf)
	}
}

func TestEveryFieldOfAClassActsOrIsRefused(t *testing.T) {
	known := fieldNames(unhonouredOfClass)
	for field := range honouredOfClass {
		known = append(known, field)
	}
	for _, leaf := range leaves(reflect.TypeFor[v1alpha1.APIGatewayClassSpec](), "spec") {
		require.True(t, covered(leaf, known), "%s neither acts nor is refused", leaf)
	}
}

func TestEveryHonouredFieldActs(t *testing.T) {
	const anything = "spec: {policy: {allowedTargetNamespaces: ['*'], allowServiceAccountOverride: true}}"
	for field, e := range honouredOfGateway {
		t.Run("of a gateway: "+field, func(t *testing.T) {
			without, with := input(t, anything, e.gateway), input(t, anything, e.gateway)
			fill(t, e.class, &without.Classes[0])
			fill(t, e.class, &with.Classes[0])
			fill(t, e.set, with.Gateway)
			requireEffect(t, e, without, with)
		})
	}
	for field, e := range honouredOfClass {
		t.Run("of a class: "+field, func(t *testing.T) {
			without, with := input(t, e.class, e.gateway), input(t, e.class, e.gateway)
			fill(t, e.set, &with.Classes[0])
			requireEffect(t, e, without, with)
		})
	}
}

func requireEffect(t *testing.T, e effect, without, with Input) {
	t.Helper()
	without.Config, with.Config = aConfig("a: 1"), aConfig("a: 1")
	before, beforeErr := Make(without)
	after, afterErr := Make(with)
	require.NotEqual(t, []any{before, beforeErr}, []any{after, afterErr})
	require.Equal(t, e.refuses, afterErr != nil, "%v", afterErr)
}

func TestEveryUnhonouredFieldIsRefusedByName(t *testing.T) {
	const notYet = ": this version of Sluice does not act on it yet; remove it"
	for _, field := range fieldNames(unhonouredOfGateway) {
		require.Contains(t, unhonouredExamples, field)
		require.Equal(t, []string{"NotHonoured " + field + notYet}, refusal(t, input(t, "{}", unhonouredExamples[field])))
	}
	for _, field := range fieldNames(unhonouredOfClass) {
		require.Contains(t, unhonouredExamples, field)
		in := input(t, unhonouredExamples[field], "{}")
		require.Equal(t, []string{"ClassNotAccepted APIGatewayClass/wso2 " + field + notYet}, refusal(t, in))
		require.Equal(t, []string{"NotHonoured APIGatewayClass/wso2 " + field + notYet}, inWords(ClassFaults(&in.Classes[0])))
	}
}

// fieldNames are the fields of tables of any document.
func fieldNames(tables ...any) []string {
	var names []string
	for _, table := range tables {
		rows := reflect.ValueOf(table)
		for i := range rows.Len() {
			names = append(names, rows.Index(i).FieldByName("field").String())
		}
	}
	return names
}

// covered: a leaf is known by itself, or as part of a field that is known as a whole.
func covered(leaf string, known []string) bool {
	return slices.ContainsFunc(known, func(field string) bool {
		return leaf == field || strings.HasPrefix(leaf, field+".") || strings.HasPrefix(leaf, field+"[]")
	})
}

// leaves are the dotted names of a type's leaves: scalars, maps, lists of anything but our own structures, and structures
// of others.
func leaves(typ reflect.Type, name string) []string {
	for typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.Slice && ours(typ.Elem()) {
		return leaves(typ.Elem(), name+"[]")
	}
	if !ours(typ) {
		return []string{name}
	}
	var all []string
	for i := range typ.NumField() {
		field := typ.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if strings.Contains(options, "inline") {
			all = append(all, leaves(field.Type, name)...)
			continue
		}
		all = append(all, leaves(field.Type, name+"."+tag)...)
	}
	return all
}

func ours(typ reflect.Type) bool {
	return typ.Kind() == reflect.Struct && typ.PkgPath() == reflect.TypeFor[v1alpha1.APIGateway]().PkgPath()
}

func TestTheWalkSeesTheAPI(t *testing.T) {
	require.Equal(t, []string{
		"spec.infrastructure.replicas", "spec.infrastructure.images", "spec.infrastructure.resources", "spec.infrastructure.nodeSelector",
		"spec.infrastructure.tolerations", "spec.infrastructure.affinity", "spec.infrastructure.labels", "spec.infrastructure.annotations",
	}, leaves(reflect.TypeFor[v1alpha1.Infrastructure](), "spec.infrastructure"))
	require.Equal(t, []string{"x[].name", "x[].paths[].registry", "x[].paths[].repository", "x[].paths[].tag", "x[].paths[].digest"},
		leaves(reflect.TypeFor[[]v1alpha1.ImageMapping](), "x"))
	for _, foreign := range []reflect.Type{
		reflect.TypeFor[metav1.Duration](), reflect.TypeFor[apiextensionsv1.JSON](), reflect.TypeFor[corev1.Affinity](),
	} {
		require.Equal(t, []string{"x"}, leaves(foreign, "x"))
	}
}
