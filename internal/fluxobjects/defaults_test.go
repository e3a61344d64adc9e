// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// TestTheAPIServerFillsInNothing: what is written equals what is read back, so that nothing is written in steady state.
func TestTheAPIServerFillsInNothing(t *testing.T) {
	source := schemaOf(t, "source-controller", "source.toolkit.fluxcd.io_ocirepositories.yaml", "v1")
	release := schemaOf(t, "helm-controller", "helm.toolkit.fluxcd.io_helmreleases.yaml", "v2")
	plans := map[string]*plan.Plan{"bare": barePlan(), "full": fullPlan()}
	for _, strategy := range []v1alpha1.RemediationStrategy{v1alpha1.StrategyRollback, v1alpha1.StrategyRetry, v1alpha1.StrategyUninstall} {
		plans[string(strategy)] = withStrategy(fullPlan(), strategy)
	}
	for what, p := range plans {
		objects := fluxobjects.Make(p, fluxobjects.SharedSources)
		checkDefaults(t, what+" OCIRepository", objects.Source.Spec, source)
		checkDefaults(t, what+" HelmRelease", objects.Release.Spec, release)
	}
}

// TestDefaultsAreFound guards the test above: it would pass on a CRD whose defaults it does not find.
func TestDefaultsAreFound(t *testing.T) {
	got := map[string]any{"verify": map[string]any{}}
	fillIn(got, schemaOf(t, "source-controller", "source.toolkit.fluxcd.io_ocirepositories.yaml", "v1"))
	want := map[string]any{"provider": "generic", "timeout": "60s", "verify": map[string]any{"provider": "cosign"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func checkDefaults(t *testing.T, what string, spec any, schema *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	written, stored := jsonOf(t, spec), jsonOf(t, spec)
	fillIn(stored, schema)
	if !reflect.DeepEqual(stored, written) {
		t.Errorf("%s: written\n%s\nstored\n%s", what, text(t, written), text(t, stored))
	}
}

// fillIn sets the schema's defaults where value has nothing, as the API server does.
func fillIn(value any, schema *apiextensionsv1.JSONSchemaProps) {
	switch v := value.(type) {
	case map[string]any:
		for name, property := range schema.Properties {
			if _, set := v[name]; !set && property.Default != nil {
				v[name] = decoded(property.Default.Raw)
			}
			if child, set := v[name]; set {
				fillIn(child, &property)
			}
		}
	case []any:
		for _, element := range v {
			fillIn(element, schema.Items.Schema)
		}
	}
}

// schemaOf is the schema of spec in a Flux controller's CRD, of the version that the tests run.
func schemaOf(t *testing.T, controller, file, version string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(moduleDir(t, controller), "config", "crd", "bases", file))
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, crd); err != nil {
		t.Fatal(err)
	}
	for _, v := range crd.Spec.Versions {
		if v.Name == version {
			spec := v.Schema.OpenAPIV3Schema.Properties["spec"]
			return &spec
		}
	}
	t.Fatalf("%s has no version %s", file, version)
	return nil
}

func moduleDir(t *testing.T, controller string) string {
	t.Helper()
	command := exec.Command("go", "mod", "download", "-json", "-modfile="+controller+".mod", "github.com/fluxcd/"+controller)
	command.Dir = filepath.Join("..", "..", "test", "tools")
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	return module.Dir
}

func jsonOf(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return decoded(data)
}

func decoded(data []byte) any {
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		panic(fmt.Sprintf("%s: %v", data, err))
	}
	return out
}
