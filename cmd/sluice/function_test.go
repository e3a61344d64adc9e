// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// repository is an overlay that renames what a gateway refers to, and runs the function.
var repository = map[string]string{
	"base/kustomization.yaml": "resources: [namespace.yaml, class.yaml, web.yaml, auth.yaml]\n" +
		"configMapGenerator:\n- name: web-values\n  literals: [\"values.yaml=logLevel: info\"]\n",
	"base/namespace.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
	"base/class.yaml": "apiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGatewayClass\nmetadata: {name: sluice}\nspec:\n" +
		"  chart: {url: \"oci://registry.example.com/charts/gateway\", ref: {tag: 1.0.0}}\n" +
		"  valueMappings:\n  - {field: exposure.tlsSecretRef.name, paths: [tls.secret.name]}\n",
	"base/web.yaml": "apiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGateway\nmetadata: {name: web}\nspec:\n" +
		"  className: sluice\n  configRef: {name: web-values}\n  exposure: {tlsSecretRef: {name: web-tls}}\n" +
		"  release: {dependsOn: [{name: auth}]}\n  values: {version: \"1.10\", ports: [8080]}\n",
	"base/auth.yaml": "apiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGateway\nmetadata: {name: auth}\nspec: {className: sluice}\n",
	"overlay/kustomization.yaml": "namePrefix: prod-\nnamespace: shop\nresources: [../base]\n" +
		"configMapGenerator:\n- name: web-values\n  behavior: merge\n  literals: [\"values.yaml=logLevel: warn\"]\n" +
		"secretGenerator:\n- name: web-tls\n  literals: [tls.crt=a]\n  options: {disableNameSuffixHash: true}\n",
	"elsewhere/auth.yaml": "apiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGateway\nmetadata: {name: auth, namespace: shop}\nspec: {className: sluice}\n",
}

// render is the object that runs the function, with the command at a path.
func render(spec string) string {
	return "apiVersion: fn.sluice.dev/v1alpha1\nkind: Render\nmetadata:\n  name: gateways\n  annotations:\n" +
		"    config.kubernetes.io/function: |\n      exec: {path: " + sluice + "}\nspec: " + spec + "\n"
}

// ofReadme is the object that the README shows, which finds the command in PATH.
func ofReadme(t *testing.T) string {
	t.Helper()
	t.Setenv("PATH", filepath.Dir(sluice)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const first = "    apiVersion: fn.sluice.dev/"
	_, rest, found := strings.Cut(string(readme), first)
	block, _, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatal("README.md shows no such object")
	}
	return strings.ReplaceAll(first+block+"\n", "\n    ", "\n")[4:]
}

// sluice is the command, built as people build it.
var sluice string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "sluice")
	if err != nil {
		panic(err)
	}
	sluice = filepath.Join(folder, "sluice")
	if out, err := exec.Command("go", "build", "-o", sluice, ".").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	c := exec.Command(sluice, args...)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err = c.Run()
	return out.String(), errs.String(), err
}

// build is `kustomize build --enable-alpha-plugins --enable-exec`.
func build(folder string) (string, error) {
	options := krusty.MakeDefaultOptions()
	options.PluginConfig = types.EnabledPluginConfig(types.BploUseStaticallyLinked)
	options.PluginConfig.FnpLoadingOptions.EnableExec = true
	objects, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return "", err
	}
	text, err := objects.AsYaml()
	return string(text), err
}

// ofFlux are the documents that are Flux objects, and others.
func ofFlux(text string) (flux, others []string) {
	for _, document := range strings.Split(text, "---\n") {
		if strings.Contains(document, ".toolkit.fluxcd.io/") {
			flux = append(flux, document)
		} else {
			others = append(others, document)
		}
	}
	return flux, others
}

func TestAsATransformerItMakesWhatRenderMakesOfTheOverlay(t *testing.T) {
	function := ofReadme(t)
	inFolder(t, repository)
	want, stderr, err := run(t, "render", "-k", "overlay")
	if err != nil {
		t.Fatal(stderr)
	}
	with := maps.Clone(repository)
	with["overlay/kustomization.yaml"] += "transformers: [render.yaml]\n"
	with["overlay/render.yaml"] = function
	inFolder(t, with)
	text, err := build("overlay")
	if err != nil {
		t.Fatal(err)
	}
	flux, others := ofFlux(text)
	if got := strings.Join(flux, "---\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var kinds []string
	for _, document := range others {
		_, rest, _ := strings.Cut(document, "kind: ")
		kind, _, _ := strings.Cut(rest, "\n")
		kinds = append(kinds, kind)
	}
	if got := strings.Join(kinds, " "); got != "Namespace ConfigMap Secret" {
		t.Errorf("beside them there are %s", got)
	}
	if !strings.Contains(others[1], "logLevel: warn") || !strings.Contains(others[1], "name: prod-web-values-") {
		t.Errorf("the ConfigMap became\n%s", others[1])
	}
}

func TestAsAGeneratorItMakesWhatRenderMakesOfTheFiles(t *testing.T) {
	with := maps.Clone(repository)
	with["overlay/kustomization.yaml"] = "generators: [render.yaml]\n"
	with["overlay/render.yaml"] = render("{files: [../base/class.yaml, ../elsewhere], shareSources: true}")
	inFolder(t, with)
	got, err := build("overlay")
	if err != nil {
		t.Fatal(err)
	}
	want, stderr, err := run(t, "render", "--share-sources", "-f", "base/class.yaml", "-f", "elsewhere")
	if err != nil {
		t.Fatal(stderr)
	}
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A name that gets its hash only afterwards would be wrong in the Flux objects.
func TestAsATransformerItRefusesNamesThatWillChange(t *testing.T) {
	with := maps.Clone(repository)
	with["overlay/kustomization.yaml"] = strings.Replace(with["overlay/kustomization.yaml"], "\n  options: {disableNameSuffixHash: true}", "", 1) +
		"transformers: [render.yaml]\nbuildMetadata: [originAnnotations]\n"
	with["overlay/render.yaml"] = render("{}")
	inFolder(t, with)
	errs := capturedStderr(t, func() {
		if out, err := build("overlay"); err == nil {
			t.Errorf("it made %s", out)
		}
	})
	want := "../base/web.yaml: APIGateway shop/prod-web: spec.exposure.tlsSecretRef.name: Secret prod-web-tls gets the hash of its content " +
		"as a suffix, which is not known yet when a function runs; set disableNameSuffixHash for it, or use sluice render -k\n"
	if errs != want {
		t.Errorf("got  %swant %s", errs, want)
	}
}

// capturedStderr is what functions print, which kustomize hands through.
func capturedStderr(t *testing.T, f func()) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	os.Stderr = file
	f()
	os.Stderr = before
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Without arguments and without input it is a command like any other.
func TestWithoutInputItPrintsItsHelp(t *testing.T) {
	stdout, stderr, err := run(t)
	if err != nil || stderr != "" || !strings.Contains(stdout, "Usage:") {
		t.Errorf("%v, %s, %s", err, stdout, stderr)
	}
}
