// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestAGatewayWithNothingSetGetsEveryDefault(t *testing.T) {
	require.Equal(t, &Plan{
		Gateway:   types.NamespacedName{Namespace: "team", Name: "orders"},
		ClassName: "wso2",
		Source: Source{
			Namespace: "team",
			Spec: sourcev1.OCIRepositorySpec{
				URL:       "oci://registry.example.com/charts/gateway",
				Reference: &sourcev1.OCIRepositoryRef{Tag: "1.2.0"},
				LayerSelector: &sourcev1.OCILayerSelector{
					MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
					Operation: "copy",
				},
				Provider: "generic",
				Interval: metav1.Duration{Duration: 10 * time.Minute},
				Timeout:  &metav1.Duration{Duration: time.Minute},
			},
		},
		Release: Release{
			Name:             "orders",
			TargetNamespace:  "team",
			StorageNamespace: "team",
			Interval:         5 * time.Minute,
			Timeout:          5 * time.Minute,
			MaxHistory:       5,
			CRDs:             helmv2.CreateReplace,
			DriftDetection:   helmv2.DriftDetection{Mode: helmv2.DriftDetectionEnabled},
		},
		Remediation: Remediation{
			Strategy:         v1alpha1.StrategyRollback,
			FailureThreshold: 5,
			Backoff:          Backoff{Initial: time.Minute, Max: 15 * time.Minute, AfterThreshold: time.Hour},
		},
		DeletionPolicy: v1alpha1.DeletionDelete,
	}, made(t, input(t, "{}", "{}")))
}

func TestWhatAGatewaySetsReachesItsPlan(t *testing.T) {
	in := input(t, `
spec:
  chart:
    url: oci://localhost:5000/charts/gateway
    ref: {tag: "", semver: ">=1.2.0 <2.0.0", semverFilter: "^1\\..*"}
    interval: 1h
    timeout: 30s
    provider: aws
    insecure: true
    secretRef: {name: login}
    certSecretRef: {name: ca}
    proxySecretRef: {name: proxy}
    serviceAccountName: puller
    verify:
      provider: ""
      trustedRootSecretRef: {name: ""}
      matchOIDCIdentity: [{issuer: "^https://example.com$", subject: "^charts$"}]
  values: {replicas: 1, keep: true}
  release: {interval: 1m, timeout: 2m, maxHistory: 10, crds: Skip, serviceAccountName: flux,
    driftDetection: {mode: warn, ignore: [{paths: [/spec/replicas]}]}, test: {enable: true}}
  remediation: {strategy: Uninstall, retries: 1}
  policy: {allowedTargetNamespaces: [edge], allowServiceAccountOverride: true}
`, `
spec:
  className: wso2
  chart: {semver: ~1.3}
  values: {replicas: 2}
  valuesFrom: [{kind: Secret, name: tokens, valuesKey: token, targetPath: auth.token, optional: true, literal: true}]
  release:
    name: orders-gw
    targetNamespace: edge
    storageNamespace: team
    createNamespace: true
    interval: 3m
    timeout: 4m
    maxHistory: 0
    serviceAccountName: deployer
    crds: Create
    driftDetection: {mode: disabled, ignore: [{paths: ["", /a~1b/~0], target: {kind: Deployment}}]}
    test: {enable: false}
    dependsOn: [{name: users}, {name: billing}]
  remediation: {strategy: Rollback, retries: 2}
  suspend: false
  deletionPolicy: Orphan
`)
	require.Equal(t, &Plan{
		Gateway:   types.NamespacedName{Namespace: "team", Name: "orders"},
		ClassName: "wso2",
		Source: Source{
			Namespace: "team",
			Spec: sourcev1.OCIRepositorySpec{
				URL:       "oci://localhost:5000/charts/gateway",
				Reference: &sourcev1.OCIRepositoryRef{SemVer: "~1.3", SemverFilter: "^1\\..*"},
				LayerSelector: &sourcev1.OCILayerSelector{
					MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
					Operation: "copy",
				},
				Provider:           "aws",
				Insecure:           true,
				Interval:           metav1.Duration{Duration: time.Hour},
				Timeout:            &metav1.Duration{Duration: 30 * time.Second},
				SecretRef:          &meta.LocalObjectReference{Name: "login"},
				CertSecretRef:      &meta.LocalObjectReference{Name: "ca"},
				ProxySecretRef:     &meta.LocalObjectReference{Name: "proxy"},
				ServiceAccountName: "puller",
				Verify: &sourcev1.OCIRepositoryVerification{
					Provider:          "cosign",
					MatchOIDCIdentity: []sourcev1.OIDCIdentityMatch{{Issuer: "^https://example.com$", Subject: "^charts$"}},
				},
			},
		},
		Release: Release{
			Name:               "orders-gw",
			TargetNamespace:    "edge",
			StorageNamespace:   "team",
			CreateNamespace:    true,
			Interval:           3 * time.Minute,
			Timeout:            4 * time.Minute,
			MaxHistory:         0,
			ServiceAccountName: "deployer",
			CRDs:               helmv2.Create,
			DriftDetection: helmv2.DriftDetection{
				Mode: helmv2.DriftDetectionDisabled,
				Ignore: []helmv2.IgnoreRule{{
					Paths:  []string{"", "/a~1b/~0"},
					Target: &kustomize.Selector{Kind: "Deployment"},
				}},
			},
			DependsOn: []string{"users", "billing"},
			Values:    []byte(`{"keep":true,"replicas":2}`),
			ValuesFrom: []meta.ValuesReference{{
				Kind: "Secret", Name: "tokens", ValuesKey: "token", TargetPath: "auth.token", Optional: true, Literal: true,
			}},
		},
		Remediation: Remediation{
			Strategy:         v1alpha1.StrategyRollback,
			Retries:          2,
			FailureThreshold: 5,
			Backoff:          Backoff{Initial: time.Minute, Max: 15 * time.Minute, AfterThreshold: time.Hour},
		},
		Suspend:        new(bool),
		DeletionPolicy: v1alpha1.DeletionOrphan,
	}, made(t, in))
}

func TestAnEmptyStringCountsAsAbsent(t *testing.T) {
	plain := made(t, input(t, "{}", "{}"))
	require.Equal(t, plain, made(t, input(t, `
spec:
  controllerName: ""
  chart:
    ref: {semver: "", digest: "", semverFilter: ""}
    allowedVersions: ""
    namespace: ""
    provider: ""
    serviceAccountName: ""
  values: null
  release: {serviceAccountName: "", crds: "", driftDetection: {mode: "", ignore: []}, test: {}}
  remediation: {strategy: "", backoff: {}}
  policy: {allowedTargetNamespaces: []}
  exposure: {gatewayAPIValues: {}, routeValues: null, externalCAIssuerNamePaths: []}
  capabilityValues: []
`, `
metadata: {labels: {sharding.fluxcd.io/key: ""}, annotations: {gateway.sluice.dev/adopt: "false"}}
spec:
  className: ""
  chart: {tag: "", semver: "", digest: ""}
  infrastructure: {images: {gateway: ""}, resources: {}, nodeSelector: {}, tolerations: [], labels: {}, annotations: {}}
  controlPlane: {host: "", tls: {}}
  storage: {type: "", sqlitePath: ""}
  exposure: {hostnames: [], serviceType: ""}
  values: {}
  valuesFrom: []
  patches: []
  release: {name: "", targetNamespace: "", storageNamespace: "", serviceAccountName: "", crds: "", dependsOn: []}
  cluster: {name: "", apiVersions: [], exposureMode: "", externalCAIssuerName: ""}
  remediation: {strategy: ""}
  deletionPolicy: ""
`)))
}

func TestAClassOfAnotherControllerIsLeftAlone(t *testing.T) {
	for name, c := range map[string]struct{ class, operator string }{
		"another's class":                      {class: "spec: {controllerName: example.com/other}"},
		"ours, where the operator has a name":  {class: "{}", operator: "example.com/other"},
		"another's class, faulty as it may be": {class: "spec: {controllerName: example.com/other, chart: {url: nonsense}}"},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, c.class, "spec: {chart: {tag: a, digest: b}}")
			in.ControllerName = c.operator
			p, err := Make(in)
			require.Nil(t, p)
			require.Equal(t, ErrOtherController, err)
		})
	}
	in := input(t, "spec: {controllerName: example.com/other}", "{}")
	in.ControllerName = "example.com/other"
	made(t, in)
}

func TestAllFaultsAreListedAndTheFirstGivesTheReason(t *testing.T) {
	in := input(t, "spec: {valueMappings: [{field: storage.type, paths: [storage.type], allowed: [sqlite]}]}", `
metadata: {name: Orders}
spec:
  chart: {tag: 1.0.0, digest: sha256:abc}
  infrastructure: {replicas: 0, images: {gateway: "a:b"}}
  storage: {type: postgres}
  configRef: {name: orders-values}
  values: {storage: {type: sqlite}, n: 9223372036854775808}
  release: {timeout: 0s, targetNamespace: other}
  patches: [{patch: "x"}]
  remediation: {strategy: Never}
`)
	in.Gateway.Spec.Values.Raw = []byte(`{"storage":{"type":"sqlite"},"n":9223372036854775808}`)
	_, err := Make(in)
	var refused *Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "InvalidSpec", refused.Reason())
	require.Equal(t, []string{
		`InvalidSpec metadata.name: "Orders" is not a name: lowercase letters, digits, - and ., with a letter or digit at both ends and beside each dot`,
		`InvalidSpec spec.chart: tag and digest are both set; set at most one of tag, semver and digest`,
		`InvalidSpec spec.chart.digest: "sha256:abc" is not a digest; write sha256:<64 lowercase hex digits>`,
		`InvalidSpec spec.release.timeout: 0s is not greater than 0`,
		`NotAllowed spec.release.targetNamespace: class wso2 does not allow namespace other; it allows: team`,
		`NotAllowed spec.patches: class wso2 does not let gateways patch the chart (policy.allowPatches); remove it`,
		`InvalidSpec spec.remediation.strategy: "Never" is not one of "Rollback", "Retry", "Uninstall"`,
		`InvalidSpec spec.storage.type: class wso2 does not allow "postgres"; it allows: sqlite`,
		`UnmappedField spec.infrastructure.replicas: class wso2 does not map this field; remove it, or set the chart's own key in spec.values`,
		`UnmappedField spec.infrastructure.images.gateway: class wso2 knows no image "gateway"; it knows: none`,
		`ConfigNotFound spec.configRef.name: ConfigMap team/orders-values does not exist`,
		`InvalidSpec spec.values.n: the API server would round this integer, which does not fit 64 bits; put it in quotes`,
	}, inWords(refused.Faults))
	require.Equal(t, refused.Faults[0].String()+"; "+refused.Faults[1].String(),
		(&Error{Faults: refused.Faults[:2]}).Error())
}
