// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// overlays is a repository: a base with a class and two gateways, a component, and an overlay in which kustomize renames
// everything that a gateway refers to.
var overlays = map[string]string{
	"base/kustomization.yaml": "resources: [class.yaml, web.yaml, auth.yaml]\nconfigMapGenerator:\n- name: web-values\n  files: [values.yaml]\n",
	"base/values.yaml":        "logLevel: info\n",
	"base/class.yaml": plainClass + "  valueMappings:\n  - {field: infrastructure.replicas, paths: [replicaCount]}\n" +
		"  - {field: exposure.tlsSecretRef.name, paths: [tls.secret.name]}\n",
	"base/web.yaml": gatewayNamed("web") + "spec:\n  className: sluice\n  configRef: {name: web-values}\n" +
		"  exposure: {tlsSecretRef: {name: web-tls}}\n  release: {dependsOn: [{name: auth}]}\n",
	"base/auth.yaml": gatewayNamed("auth"),
	"replicas/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- target: {kind: APIGateway, name: web}\n" +
		"  patch: |\n    - {op: add, path: /spec/infrastructure, value: {replicas: 3}}\n",
	"prod/kustomization.yaml": "namePrefix: prod-\nnamespace: shop\nresources: [../base]\ncomponents: [../replicas]\n" +
		"configMapGenerator:\n- name: web-values\n  behavior: merge\n  files: [values.yaml=../prod-values.yaml]\n" +
		"secretGenerator:\n- name: web-tls\n  literals: [tls.crt=a, tls.key=b]\n",
	"prod-values.yaml": "logLevel: warn\n",
	// What people had to write for kustomize, were it not for -k.
	"references.yaml": "nameReference:\n" +
		"- {kind: ConfigMap, version: v1, fieldSpecs: [{kind: APIGateway, path: spec/configRef/name}]}\n" +
		"- {kind: Secret, version: v1, fieldSpecs: [{kind: APIGateway, path: spec/exposure/tlsSecretRef/name}]}\n" +
		"- {kind: APIGateway, fieldSpecs: [{kind: APIGateway, path: spec/release/dependsOn/name}]}\n" +
		"- {kind: APIGatewayClass, fieldSpecs: [{kind: APIGateway, path: spec/className}]}\n",
}

// built is what `kustomize build` prints of a folder, with no restriction on the files read.
func built(t *testing.T, folder string) string {
	t.Helper()
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = 0
	objects, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := objects.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// printed is what a command line prints that must succeed in silence.
func printed(t *testing.T, in string, args ...string) string {
	t.Helper()
	code, stdout, stderr := sluice(in, args...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	return stdout
}

func TestAnOverlayRendersAsItsBuildDoes(t *testing.T) {
	inFolder(t, overlays, nil)
	got := printed(t, "", "render", "-k", "prod")
	for _, want := range []string{
		"  name: prod-web\n  namespace: shop\n", "dependsOn:\n  - name: prod-auth\n", "replicaCount: 3\n", "logLevel: warn\n",
		"        name: prod-web-tls-", "gateway.sluice.dev/class: prod-sluice\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in\n%s", want, got)
		}
	}

	// With the configuration that kustomize itself needs, -k is the same, and so is the build.
	configured := maps.Clone(overlays)
	configured["prod/kustomization.yaml"] += "configurations: [../references.yaml]\n"
	inFolder(t, configured, nil)
	if again := printed(t, "", "render", "-k", "prod"); again != got {
		t.Errorf("with a configuration of one's own\n%s\nwithout\n%s", again, got)
	}
	if want := printed(t, built(t, "prod"), "render", "-f", "-"); got != want {
		t.Errorf("got\n%s\nof the build\n%s", got, want)
	}
}

// Where kustomize renames nothing that a gateway refers to, nothing needs to be told to it.
func TestAPlainOverlayRendersAsItsBuildDoes(t *testing.T) {
	plain := maps.Clone(overlays)
	plain["prod/kustomization.yaml"] = "resources: [../base]\ncomponents: [../replicas]\ngeneratorOptions: {disableNameSuffixHash: true}\n" +
		"namespace: apis\nBuildMetadata: [managedByLabel]\n"
	plain["base/kustomization.yaml"] += "generatorOptions: {disableNameSuffixHash: true}\n"
	inFolder(t, plain, map[string]string{"linked": "prod"})
	want := printed(t, built(t, "prod"), "render", "-f", "-")
	for _, folder := range []string{"prod", "linked", "prod/", "./prod/../prod"} {
		if got := printed(t, "", "render", "-k", folder); got != want {
			t.Errorf("%s: got\n%s\nof the build\n%s", folder, got, want)
		}
	}
}

// The overlays that people are shown need no other kustomize.
func TestTheOverlaysOfTheExamples(t *testing.T) {
	folder := filepath.Join(examples, "overlays")
	overlays, err := filepath.Glob(filepath.Join(folder, "overlays", "*"))
	if err != nil || len(overlays) == 0 {
		t.Fatalf("no overlays: %v", err)
	}
	for _, overlay := range overlays {
		want := read(t, filepath.Join(overlay, "expected.yaml"))
		if got := printed(t, "", "render", "-f", filepath.Join(folder, "platform", "class.yaml"), "-k", overlay); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", overlay, got, want)
		}
	}
}

// A class may come from elsewhere.
func TestFilesAndKustomizationsAreOneInput(t *testing.T) {
	inFolder(t, map[string]string{
		"class.yaml": plainClass, "a/kustomization.yaml": "resources: [gw.yaml]\n", "a/gw.yaml": gatewayNamed("a"),
		"b/Kustomization": "resources: [gw.yaml]\n", "b/gw.yaml": gatewayNamed("b"),
	}, nil)
	if got := renderedReleases(t, "-f", "class.yaml", "-k", "a", "-k", "b"); got != "a b" {
		t.Errorf("got %q", got)
	}
}
