// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/internal/cli"
)

// What migrate reads of a cluster: the old gateways with what the API server has added to them, ConfigMaps, Helm's Secrets,
// and which APIs are served. What it prints, the API server takes.
func TestMigrationFromACluster(t *testing.T) {
	w := newWorld(t)
	must(t, installWSO2())
	w.create(old(t, w.ns, `{infrastructure: {labels: {team: shop}}, configRef: {name: web-values}}`))
	w.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "web-values"},
		Data: map[string]string{"values.yaml": "commonLabels: {stage: production}\n"}})
	w.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "sh.helm.release.v1.web-gw.v4", Labels: map[string]string{"owner": "helm", "name": "web-gw"}},
		Type:       "helm.sh/release.v1",
		Data:       map[string][]byte{"release": helmStores(t, `{"name":"web-gw","version":4,"info":{"status":"deployed"},"chart":{"metadata":{"name":"gateway","version":"1.2.0"}},"config":{"commonLabels":{"stage":"production","team":"shop"}}}`)},
	})
	class := filepath.Join(t.TempDir(), "class.yaml")
	must(t, os.WriteFile(class, []byte(strings.ReplaceAll(`
apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata: {name: CLASS}
spec:
  chart: {url: "oci://registry.example.com/charts/gateway", ref: {tag: 1.2.0}}
  valueMappings:
  - {field: infrastructure.replicas, paths: [deployment.replicaCount]}
  - {field: infrastructure.labels, paths: [commonLabels]}
  capabilityValues:
  - {apiVersion: gateway.sluice.dev/v1alpha1/APIGateway, present: {sluice: true}}
`, "CLASS", w.class)), 0o644))

	flags := []string{"migrate", "--from-cluster", "--kubeconfig", env.Kubeconfig(), "-n", w.ns, "-f", class, "--wso2-class", w.class}
	out, warnings := sluiceRuns(t, flags...)
	object := "warning: APIGateway " + w.ns + "/web: "
	equal(t, "warnings", warnings, "warning: --operator-values is missing: what the old operator gave every gateway is not known, and not moved; "+
		"its file is gateway.values of its chart, or the ConfigMap that it mounts\n"+
		object+"spec.infrastructure.replicas: acts from now on, at deployment.replicaCount: the old operator passed it over; "+
		"remove it from spec.infrastructure.replicas to leave what runs as it is\n")
	_, gateway, _ := strings.Cut(out, "---\n")
	equal(t, "gateway", gateway, fmt.Sprintf(`apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGateway
metadata:
  name: web
  namespace: %s
spec:
  className: %s
  configRef:
    name: web-values
  infrastructure:
    labels:
      stage: production
      team: shop
    replicas: 1
  release:
    name: web-gw
`, w.ns, w.class))
	made := &unstructured.Unstructured{}
	must(t, yaml.Unmarshal([]byte(gateway), &made.Object))
	must(t, admin.Create(w.ctx, made, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)))

	report, _ := sluiceRuns(t, append(flags, "--check")...)
	equal(t, "report", report, fmt.Sprintf(`APIGateway %[1]s/web takes over Helm release %[1]s/web-gw: revision 4, deployed, chart gateway 1.2.0
  chart: the same version
  values:
    deployment.replicaCount: not set -> 1
    sluice: not set -> true
  pods:
    none is replaced for its chart's version alone
`, w.ns))
}

// installWSO2 installs the CRD of WSO2's operator, once for all tests.
var installWSO2 = sync.OnceValue(func() error {
	return env.InstallCRDs(context.Background(), filepath.Join("testdata", "wso2"))
})

// old is a gateway of WSO2's operator as its operator leaves it: with a finalizer and a status.
func old(t *testing.T, namespace, spec string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	must(t, yaml.Unmarshal([]byte(`{apiVersion: gateway.api-platform.wso2.com/v1, kind: APIGateway, spec: `+spec+`, status: {phase: Ready, selectedAPIs: 2}}`), &o.Object))
	o.SetNamespace(namespace)
	o.SetName("web")
	const finalizer = "gateway.api-platform.wso2.com/apigateway-finalizer"
	o.SetFinalizers([]string{finalizer})
	t.Cleanup(func() {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		must(t, admin.Patch(context.Background(), o, patch))
	})
	return o
}

// helmStores packs as Helm does: gzip, then base64, beside that of the Secret.
func helmStores(t *testing.T, release string) []byte {
	t.Helper()
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	_, err := writer.Write([]byte(release))
	must(t, err)
	must(t, writer.Close())
	return []byte(base64.StdEncoding.EncodeToString(out.Bytes()))
}

// sluiceRuns runs a command line that must succeed.
func sluiceRuns(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	if code := cli.Run(append([]string{"sluice"}, args...), cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, "test"); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	return out.String(), errs.String()
}
