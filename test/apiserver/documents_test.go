// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/test/docs"
	"github.com/sluice-gateway/sluice/test/toolchain"
)

// Who type the documents' commands that want an API server and no Flux, by document.
var typists = map[string]string{
	"README.md":                  "TestTheMigrationGuideWorks",
	"examples/migrate/README.md": "TestTheMigrationGuideWorks",
	"examples/README.md":         "TestTheExamplesCommandsWork",
}

func commandsOf(t *testing.T, files ...string) []docs.Command {
	t.Helper()
	layout, err := toolchain.Find()
	must(t, err)
	all, err := docs.At(layout.Root(), docs.OnAPIServer)
	must(t, err)
	var chosen []docs.Command
	for _, file := range files {
		for _, c := range all {
			if c.File == file {
				chosen = append(chosen, c)
			}
		}
	}
	return chosen
}

func TestEveryDocumentsCommandsAreTyped(t *testing.T) {
	layout, err := toolchain.Find()
	must(t, err)
	all, err := docs.At(layout.Root(), docs.OnAPIServer)
	must(t, err)
	for _, c := range all {
		if typists[c.File] == "" {
			t.Errorf("no test here types %s", c)
		}
	}
}

// newShell is one in which the command line is built, and finds the API server.
func newShell(t *testing.T) *docs.Shell {
	t.Helper()
	layout, err := toolchain.Find()
	must(t, err)
	dir := t.TempDir()
	binary := filepath.Join(dir, "sluice-built")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/sluice-gateway/sluice/cmd/sluice").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	shell, err := docs.NewShell(t.Context(), layout.Root(), binary, dir, "KUBECONFIG="+env.Kubeconfig())
	must(t, err)
	return shell
}

func typed(t *testing.T, shell *docs.Shell, text string) string {
	t.Helper()
	out, err := shell.Run(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v\n%s", text, err, out)
	}
	return out
}

func cleanedUp(t *testing.T, shell *docs.Shell, text string) {
	t.Helper()
	if out, err := shell.Run(context.Background(), text); err != nil {
		t.Errorf("%s: %v\n%s", text, err, out)
	}
}

// The guide of examples/migrate, step by step as it stands, on what WSO2's operator leaves in a cluster.
func TestTheMigrationGuideWorks(t *testing.T) {
	shell := newShell(t)
	must(t, installWSO2())
	typed(t, shell, "kubectl create namespace partners")
	t.Cleanup(func() {
		cleanedUp(t, shell, "kubectl delete --wait=false --ignore-not-found ns/partners ns/gateway-operator-system agc/wso2 agc/openshell agc/sluice")
	})
	typed(t, shell, `{ printf 'gateway:\n  values:\n'; sed 's/^/    /' examples/migrate/operator-values.yaml; } > given.yaml`)
	typed(t, shell, "helm install gateway-operator test/apiserver/testdata/gateway-operator --create-namespace -n gateway-operator-system -f given.yaml")
	typed(t, shell, "helm install partner-gw test/flux/testdata/api-platform-gateway -n partners -f examples/migrate/operator-values.yaml")
	typed(t, shell, "sed 's:wso2.com/v1alpha1:wso2.com/v1:; s|  name: partner$|&\\n  finalizers: [gateway.api-platform.wso2.com/apigateway-finalizer]|' "+
		"examples/migrate/old.yaml | kubectl apply --server-side -f -")

	printed := map[string]string{}
	for _, c := range commandsOf(t, "examples/migrate/README.md", "README.md") {
		printed[c.Bare()] = typed(t, shell, c.Text)
	}
	for command, want := range map[string]string{
		"kubectl scale deployment gateway-operator -n gateway-operator-system --replicas 0": "deployment.apps/gateway-operator scaled\n",
		"kubectl delete agw partner -n partners":                                            `apigateway.gateway.sluice.dev "partner" deleted from partners namespace` + "\n",
	} {
		equal(t, command, printed[command], want)
	}
	check := printed["sluice migrate --from-cluster --check -f flux/classes --operator-values operator-values.yaml"]
	if !strings.Contains(check, "APIGateway partners/partner takes over Helm release partners/partner-gw: revision 1, deployed, chart api-platform-gateway 1.2.0\n") {
		t.Errorf("the check says\n%s", check)
	}
}

// The commands by which the examples' Secrets are made, and the examples applied, in the order in which they stand.
func TestTheExamplesCommandsWork(t *testing.T) {
	shell := newShell(t)
	t.Cleanup(func() {
		cleanedUp(t, shell, "kubectl delete agw -n payments web && kubectl delete agw -n fleet edge && kubectl delete agw -n shop-staging web")
		cleanedUp(t, shell, "kubectl delete --wait=false ns/payments ns/fleet ns/shop-staging agc/verified agc/fleet agc/shop")
	})
	for _, c := range commandsOf(t, "examples/README.md") {
		typed(t, shell, c.Text)
	}
	typed(t, shell, "kubectl get secret registry-login -n payments && kubectl get secret edge-eu-kubeconfig -n fleet -o 'jsonpath={.data.value}' | base64 -d | grep -q current-context")
	typed(t, shell, "kubectl get agw web -n payments && kubectl get agw edge -n fleet && kubectl get agw web -n shop-staging")
}
