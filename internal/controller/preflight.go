// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// needed is a kind that must be served, with the fields that we write: the API server drops a field that it does not know
// without a word.
type needed struct {
	kind   schema.GroupVersionKind
	fields []string
	remedy string
}

const (
	fluxRemedy = "install Flux 2.9 or newer"
	ownRemedy  = "apply the CRDs of this version of Sluice"
)

func everythingNeeded() []needed {
	return []needed{
		{helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind), helmReleaseFields, fluxRemedy},
		{sourcev1.GroupVersion.WithKind(sourcev1.OCIRepositoryKind), ociRepositoryFields, fluxRemedy},
		{v1alpha1.GroupVersion.WithKind(v1alpha1.APIGatewayKind), append(
			jsonFields("spec", v1alpha1.APIGatewaySpec{}), jsonFields("status", v1alpha1.APIGatewayStatus{})...), ownRemedy},
		{v1alpha1.GroupVersion.WithKind(v1alpha1.APIGatewayClassKind), append(
			jsonFields("spec", v1alpha1.APIGatewayClassSpec{}), jsonFields("status", v1alpha1.APIGatewayClassStatus{})...), ownRemedy},
	}
}

// helmReleaseFields are all that internal/fluxobjects sets.
var helmReleaseFields = []string{
	"spec.chartRef.kind", "spec.chartRef.name", "spec.chartRef.namespace",
	"spec.interval", "spec.timeout", "spec.releaseName", "spec.targetNamespace", "spec.storageNamespace", "spec.maxHistory",
	"spec.serviceAccountName", "spec.dependsOn", "spec.suspend", "spec.values", "spec.valuesFrom", "spec.test.enable",
	"spec.driftDetection.mode", "spec.driftDetection.ignore", "spec.postRenderers",
	"spec.kubeConfig.secretRef.name", "spec.kubeConfig.secretRef.key",
	"spec.install.crds", "spec.install.createNamespace", "spec.install.strategy.name", "spec.install.strategy.retryInterval",
	"spec.install.remediation.retries", "spec.install.remediation.remediateLastFailure",
	"spec.upgrade.crds", "spec.upgrade.strategy.name", "spec.upgrade.strategy.retryInterval",
	"spec.upgrade.remediation.retries", "spec.upgrade.remediation.remediateLastFailure", "spec.upgrade.remediation.strategy",
	"spec.upgrade.chartNameChangeStrategy",
}

// ociRepositoryFields are all that a class can set.
var ociRepositoryFields = []string{
	"spec.url", "spec.ref.tag", "spec.ref.semver", "spec.ref.semverFilter", "spec.ref.digest",
	"spec.layerSelector.mediaType", "spec.layerSelector.operation", "spec.interval", "spec.timeout", "spec.provider",
	"spec.insecure", "spec.secretRef", "spec.certSecretRef", "spec.proxySecretRef", "spec.serviceAccountName", "spec.verify",
}

// jsonFields are the fields of a struct, one level deep: whoever forgot to apply new CRDs misses one of those.
func jsonFields(prefix string, of any) []string {
	var fields []string
	t := reflect.TypeOf(of)
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			fields = append(fields, prefix+"."+name)
		}
	}
	return fields
}

// Preflight says everything that the cluster lacks for the operator to work.
func Preflight(client openapi.Client) error {
	paths, err := client.Paths()
	if err != nil {
		return fmt.Errorf("cannot read what the cluster serves (/openapi/v3): %w", err)
	}
	var problems []error
	for _, n := range everythingNeeded() {
		problems = append(problems, n.check(paths))
	}
	return errors.Join(problems...)
}

func (n needed) check(paths map[string]openapi.GroupVersion) error {
	served, ok := paths["apis/"+n.kind.Group+"/"+n.kind.Version]
	if !ok {
		return n.notServed()
	}
	data, err := served.Schema("application/json")
	if err != nil {
		return fmt.Errorf("cannot read the schema of %s: %w", n, err)
	}
	var document openAPI
	if err := json.Unmarshal(data, &document); err != nil {
		return fmt.Errorf("cannot read the schema of %s: %w", n, err)
	}
	root, ok := document.find(n.kind)
	if !ok {
		return n.notServed()
	}
	var missing []string
	for _, field := range n.fields {
		if !root.has(strings.Split(field, ".")) {
			missing = append(missing, field)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s has no field %s: %s", n, strings.Join(missing, ", "), n.remedy)
	}
	return nil
}

func (n needed) notServed() error {
	return fmt.Errorf("%s is not served by this cluster: %s", n, n.remedy)
}

func (n needed) String() string {
	return fmt.Sprintf("%s (%s)", n.kind.Kind, n.kind.GroupVersion())
}

// openAPI is as much of an OpenAPI v3 document as tells which fields a kind has.
type openAPI struct {
	Components struct {
		Schemas map[string]struct {
			fieldSchema
			Kinds []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
		}
	}
}

type fieldSchema struct {
	Properties map[string]fieldSchema
}

func (d *openAPI) find(kind schema.GroupVersionKind) (fieldSchema, bool) {
	for _, s := range d.Components.Schemas {
		if len(s.Kinds) == 1 && s.Kinds[0] == kind {
			return s.fieldSchema, true
		}
	}
	return fieldSchema{}, false
}

func (s fieldSchema) has(path []string) bool {
	if len(path) == 0 {
		return true
	}
	child, ok := s.Properties[path[0]]
	return ok && child.has(path[1:])
}
