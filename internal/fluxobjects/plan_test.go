// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxobjects_test

import (
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// fullPlan is a plan with everything set.
func fullPlan() *plan.Plan {
	return &plan.Plan{
		Gateway:   types.NamespacedName{Namespace: "team-a", Name: "orders"},
		ClassName: "wso2",
		Source: plan.Source{
			Namespace: "team-a",
			Spec: sourcev1.OCIRepositorySpec{
				URL:           "oci://registry.example.com/charts/gateway",
				Reference:     &sourcev1.OCIRepositoryRef{Tag: "1.2.0"},
				LayerSelector: &sourcev1.OCILayerSelector{MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Operation: "copy"},
				Provider:      "generic",
				SecretRef:     &meta.LocalObjectReference{Name: "pull"},
				Interval:      metav1.Duration{Duration: 10 * time.Minute},
				Timeout:       &metav1.Duration{Duration: time.Minute},
				Verify:        &sourcev1.OCIRepositoryVerification{Provider: "cosign"},
			},
		},
		Release: plan.Release{
			Name:               "orders",
			TargetNamespace:    "apis",
			StorageNamespace:   "helm",
			CreateNamespace:    true,
			Interval:           5 * time.Minute,
			Timeout:            3 * time.Minute,
			MaxHistory:         4,
			ServiceAccountName: "deployer",
			CRDs:               helmv2.CreateReplace,
			DriftDetection: helmv2.DriftDetection{
				Mode:   helmv2.DriftDetectionEnabled,
				Ignore: []helmv2.IgnoreRule{{Paths: []string{"/spec/replicas"}}},
			},
			TestEnabled: true,
			DependsOn:   []string{"users"},
			Values:      []byte(`{"image":{"tag":null},"replicas":3}`),
			ValuesFrom:  []meta.ValuesReference{{Kind: "Secret", Name: "extra", ValuesKey: "values.yaml"}},
		},
		Remediation: plan.Remediation{
			Strategy:         v1alpha1.StrategyRollback,
			Retries:          2,
			FailureThreshold: 5,
			Backoff:          plan.Backoff{Initial: time.Minute, Max: 15 * time.Minute, AfterThreshold: time.Hour},
		},
		Suspend:        ptr(true),
		DeletionPolicy: v1alpha1.DeletionDelete,
	}
}

// barePlan is the least that a plan can hold.
func barePlan() *plan.Plan {
	p := fullPlan()
	p.Release.CreateNamespace, p.Release.TestEnabled, p.Suspend = false, false, nil
	p.Release.ServiceAccountName, p.Release.DependsOn, p.Release.Values, p.Release.ValuesFrom = "", nil, nil, nil
	p.Release.DriftDetection = helmv2.DriftDetection{Mode: helmv2.DriftDetectionDisabled}
	p.Release.MaxHistory, p.Remediation.Retries = 0, 0
	p.Source.Spec.SecretRef, p.Source.Spec.Verify = nil, nil
	return p
}

func withStrategy(p *plan.Plan, strategy v1alpha1.RemediationStrategy) *plan.Plan {
	p.Remediation.Strategy = strategy
	return p
}

func ptr[T any](v T) *T { return &v }
