// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects_test

import (
	"reflect"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
)

const sourceName = "wso2-52d625fa"

func TestMakeSource(t *testing.T) {
	want := &sourcev1.OCIRepository{
		TypeMeta: metav1.TypeMeta{APIVersion: "source.toolkit.fluxcd.io/v1", Kind: "OCIRepository"},
		ObjectMeta: metav1.ObjectMeta{
			Name: sourceName, Namespace: "team-a",
			Labels: map[string]string{"app.kubernetes.io/managed-by": "sluice", "gateway.sluice.dev/class": "wso2"},
		},
		Spec: fullPlan().Source.Spec,
	}
	if got := fluxobjects.Make(fullPlan(), fluxobjects.SharedSources).Source; !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", text(t, got), text(t, want))
	}
}

// fullRelease is the HelmRelease of fullPlan, but for what depends on the strategy.
func fullRelease(install *helmv2.Install, upgrade *helmv2.Upgrade) *helmv2.HelmRelease {
	return &helmv2.HelmRelease{
		TypeMeta: metav1.TypeMeta{APIVersion: "helm.toolkit.fluxcd.io/v2", Kind: "HelmRelease"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "orders", Namespace: "team-a",
			Labels: map[string]string{
				"app.kubernetes.io/managed-by": "sluice",
				"gateway.sluice.dev/class":     "wso2",
				"gateway.sluice.dev/gateway":   "orders",
			},
		},
		Spec: helmv2.HelmReleaseSpec{
			ChartRef:           &helmv2.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: sourceName, Namespace: "team-a"},
			Interval:           metav1.Duration{Duration: 5 * time.Minute},
			Timeout:            &metav1.Duration{Duration: 3 * time.Minute},
			ReleaseName:        "orders",
			TargetNamespace:    "apis",
			StorageNamespace:   "helm",
			MaxHistory:         ptr(4),
			ServiceAccountName: "deployer",
			DriftDetection: &helmv2.DriftDetection{
				Mode:   helmv2.DriftDetectionEnabled,
				Ignore: []helmv2.IgnoreRule{{Paths: []string{"/spec/replicas"}}},
			},
			DependsOn:  []helmv2.DependencyReference{{Name: "users"}},
			Install:    install,
			Upgrade:    upgrade,
			Test:       &helmv2.Test{Enable: true},
			Values:     &apiextensionsv1.JSON{Raw: []byte(`{"image":{"tag":null},"replicas":3}`)},
			ValuesFrom: []meta.ValuesReference{{Kind: "Secret", Name: "extra", ValuesKey: "values.yaml"}},
			Suspend:    true,
		},
	}
}

func remediating(remediation helmv2.RemediationStrategy) *helmv2.Upgrade {
	return &helmv2.Upgrade{
		CRDs:                    "CreateReplace",
		ChartNameChangeStrategy: "InPlaceUpdate",
		Strategy:                &helmv2.UpgradeStrategy{Name: "RemediateOnFailure"},
		Remediation:             &helmv2.UpgradeRemediation{Retries: 2, RemediateLastFailure: ptr(true), Strategy: ptr(remediation)},
	}
}

func TestMakeRelease(t *testing.T) {
	cleanInstall := &helmv2.Install{
		CRDs:            "CreateReplace",
		CreateNamespace: true,
		Strategy:        &helmv2.InstallStrategy{Name: "RemediateOnFailure"},
		Remediation:     &helmv2.InstallRemediation{Retries: 2, RemediateLastFailure: ptr(true)},
	}
	retried := metav1.Duration{Duration: time.Minute}
	for what, c := range map[string]struct {
		strategy v1alpha1.RemediationStrategy
		want     *helmv2.HelmRelease
	}{
		"Rollback uninstalls a failed install and rolls a failed upgrade back": {
			v1alpha1.StrategyRollback, fullRelease(cleanInstall, remediating("rollback")),
		},
		"Uninstall uninstalls both": {
			v1alpha1.StrategyUninstall, fullRelease(cleanInstall, remediating("uninstall")),
		},
		"Retry keeps both, and tries again after backoff.initial": {
			v1alpha1.StrategyRetry, fullRelease(
				&helmv2.Install{
					CRDs:            "CreateReplace",
					CreateNamespace: true,
					Strategy:        &helmv2.InstallStrategy{Name: "RetryOnFailure", RetryInterval: &retried},
				},
				&helmv2.Upgrade{
					CRDs:                    "CreateReplace",
					ChartNameChangeStrategy: "InPlaceUpdate",
					Strategy:                &helmv2.UpgradeStrategy{Name: "RetryOnFailure", RetryInterval: &retried},
				}),
		},
	} {
		t.Run(what, func(t *testing.T) {
			got := fluxobjects.Make(withStrategy(fullPlan(), c.strategy), fluxobjects.SharedSources).Release
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", text(t, got), text(t, c.want))
			}
		})
	}
}

func TestMakeOfTheLeastPlanSetsNoMore(t *testing.T) {
	got := fluxobjects.Make(barePlan(), fluxobjects.OwnSources).Release.Spec
	want := helmv2.HelmReleaseSpec{
		ChartRef:         &helmv2.CrossNamespaceSourceReference{Kind: "OCIRepository", Name: "orders-8b3b9569", Namespace: "team-a"},
		Interval:         metav1.Duration{Duration: 5 * time.Minute},
		Timeout:          &metav1.Duration{Duration: 3 * time.Minute},
		ReleaseName:      "orders",
		TargetNamespace:  "apis",
		StorageNamespace: "helm",
		MaxHistory:       ptr(0),
		DriftDetection:   &helmv2.DriftDetection{Mode: "disabled"},
		Install: &helmv2.Install{
			CRDs:        "CreateReplace",
			Strategy:    &helmv2.InstallStrategy{Name: "RemediateOnFailure"},
			Remediation: &helmv2.InstallRemediation{RemediateLastFailure: ptr(true)},
		},
		Upgrade: &helmv2.Upgrade{
			CRDs:                    "CreateReplace",
			ChartNameChangeStrategy: "InPlaceUpdate",
			Strategy:                &helmv2.UpgradeStrategy{Name: "RemediateOnFailure"},
			Remediation:             &helmv2.UpgradeRemediation{RemediateLastFailure: ptr(true), Strategy: ptr(helmv2.RollbackRemediationStrategy)},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", text(t, got), text(t, want))
	}
}

func TestMakeSharesNothingWithThePlan(t *testing.T) {
	p := fullPlan()
	objects := fluxobjects.Make(p, fluxobjects.SharedSources)
	scribble(reflect.ValueOf(objects))
	if !reflect.DeepEqual(p, fullPlan()) {
		t.Errorf("changing the objects changed the plan:\n%s", text(t, p))
	}
}

// scribble overwrites everything that can be reached from v without replacing it.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribble(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			scribble(v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			v.SetMapIndex(key, reflect.Zero(v.Type().Elem()))
		}
	default:
		if v.CanSet() {
			v.SetZero()
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
