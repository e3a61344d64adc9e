// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestInstallWritesOneSourceAndOneHelmReleaseAtOnce(t *testing.T) {
	w := newWorld(t)
	w.gateway("web", "infrastructure: {replicas: 3}\nvalues: {extra: {keep: true, drop: null}}")
	gateway := w.settled("web")
	equal(t, "finalizers", strings.Join(gateway.Finalizers, ","), v1alpha1.Finalizer)

	if n, m := len(w.sources()), len(w.releases()); n != 1 || m != 1 {
		t.Fatalf("there are %d sources and %d HelmReleases", n, m)
	}
	source, hr := w.sources()[0], w.releases()[0]
	equal(t, "source", inYAML(source.Spec), `interval: 10m0s
layerSelector:
  mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip
  operation: copy
provider: generic
ref:
  tag: 1.0.0
timeout: 1m0s
url: oci://registry.example.com/charts/gateway
`)
	equal(t, "made by", source.Annotations[v1alpha1.AnnotationMadeBy], v1alpha1.DefaultControllerName)
	equal(t, "labels of the source", fmt.Sprint(source.Labels),
		fmt.Sprint(map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy, v1alpha1.LabelClass: w.class}))
	equal(t, "HelmRelease", inYAML(hr.Spec), fmt.Sprintf(`chartRef:
  kind: OCIRepository
  name: %[2]s
  namespace: %[1]s
driftDetection:
  mode: enabled
install:
  crds: CreateReplace
  remediation:
    remediateLastFailure: true
  strategy:
    name: RemediateOnFailure
interval: 5m0s
maxHistory: 5
releaseName: web
storageNamespace: %[1]s
targetNamespace: %[1]s
timeout: 5m0s
upgrade:
  chartNameChangeStrategy: InPlaceUpdate
  crds: CreateReplace
  remediation:
    remediateLastFailure: true
    strategy: rollback
  strategy:
    name: RemediateOnFailure
values:
  deployment:
    replicaCount: 3
  extra:
    drop: null
    keep: true
  platform:
    team: edge
    unset: null
`, w.ns, source.Name))
	if !metav1.IsControlledBy(&hr, gateway) || !*hr.OwnerReferences[0].BlockOwnerDeletion {
		t.Errorf("owner references: %v", hr.OwnerReferences)
	}
	w.wrote(w.since,
		"patch apigateways web",
		"create ocirepositories "+source.Name,
		"create helmreleases web",
		"update apigateways/status web",
	)
}

func TestTenGatewaysShareOneSource(t *testing.T) {
	w := newWorld(t)
	var all []string
	for i := range 10 {
		all = append(all, manifest(w.ns, fmt.Sprintf("web-%d", i), "className: "+w.class+"\nvalues: {size: "+fmt.Sprint(i)+"}"))
	}
	w.apply(strings.Join(all, "---\n"))
	for i := range 10 {
		w.awaitRelease(fmt.Sprintf("web-%d", i), "exists", nil)
	}
	if n := len(w.sources()); n != 1 {
		t.Fatalf("there are %d sources", n)
	}
	equal(t, "writes of sources", len(w.kept(w.since, "ocirepositories")), 1)
}

func TestConfigMapMadeLaterIsPickedUp(t *testing.T) {
	w := newWorld(t)
	w.gateway("web", "configRef: {name: web-values}")
	contains(t, w.awaitReason("web", "Accepted", v1alpha1.ReasonConfigNotFound), "web-values")
	w.config("web-values", "values.yaml", "from: config\n")
	w.awaitRelease("web", "exists", nil)
	w.soon("create configmaps web-values", "create helmreleases web")
	contains(t, inYAML(w.release("web").Spec.Values), "from: config")

	w.patch(&corev1.ConfigMap{}, "web-values", `{"data":{"values.yaml":"from: edit\n"}}`)
	w.awaitRelease("web", "has the edited values", func(hr *helmv2.HelmRelease) bool {
		return strings.Contains(inYAML(hr.Spec.Values), "from: edit")
	})
}

func TestDefaultClassServesGatewaysThatNameNone(t *testing.T) {
	w := newWorld(t)
	w.apply(manifest(w.ns, "web", "values: {}"))
	contains(t, w.awaitReason("web", "Accepted", v1alpha1.ReasonClassNotFound), v1alpha1.AnnotationDefaultClass)
	w.markDefault(w.class)
	w.awaitRelease("web", "exists", nil)
	equal(t, "class", w.settled("web").Status.ClassName, w.class)
}

func TestClassOfAnotherControllerIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.patchClass(`{"spec":{"controllerName":"example.com/other"}}`)
	other := newWorld(t)
	other.awaitAccepted() // a later class has been looked at: so the operator knows the change of the earlier
	w.gateway("web", "values: {}")
	other.gateway("web", "values: {}") // a later gateway has been served: so the earlier has been looked at
	other.settled("web")
	gateway := &v1alpha1.APIGateway{}
	w.must(w.get("web", gateway))
	if len(gateway.Finalizers) > 0 || gateway.Status.ObservedGeneration != -1 || len(w.releases()) > 0 {
		t.Errorf("it was touched: %s", inYAML(gateway))
	}
}

func TestEventsTellOfChangesOnly(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {}")
	w.patch(&helmv2.HelmRelease{}, "web", `{"metadata":{"annotations":{"nudge":"1"}}}`)
	w.patch(&v1alpha1.APIGateway{}, "web", `{"spec":{"infrastructure":{"labels":{"a":"b"}}}}`)
	w.awaitReason("web", "Accepted", v1alpha1.ReasonUnmappedField)
	// They are sent beside all else, and not in the order in which they came to be.
	w.await("events", func() error {
		reasons := w.events("web")
		slices.Sort(reasons)
		if got := strings.Join(reasons, ", "); got != "Normal Accepted, Normal Pending, Normal Progressing, Normal Ready, Warning UnmappedField" {
			return fmt.Errorf("are %s", got)
		}
		return nil
	})
}
