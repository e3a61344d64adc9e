// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sluice-gateway/sluice/test/docs"
)

// typesTheDocuments runs, as they stand, the commands of README.md and its like that want real Flux. They are about the gateway
// web in the namespace apis, which the quickstart's team has.
func (m *team) typesTheDocuments() {
	m.Helper()
	shell, err := docs.NewShell(m.Context(), root, sluice, m.TempDir(), "KUBECONFIG="+local.Kubeconfig())
	if err != nil {
		m.Fatal(err)
	}
	commands, err := docs.At(root, docs.OnFlux)
	if err != nil {
		m.Fatal(err)
	}
	m.valuesOfTheChartsReadme(filepath.Join(shell.Dir, "values.yaml"))
	// What some of the commands push.
	m.types(shell, "bin/tools/helm package charts/gateway --version 1.0.0")
	m.types(shell, "bin/tools/helm package charts/sluice charts/gateway --destination bin")
	for _, c := range commands {
		// Other tests use the charts at their own place, which must not move.
		m.types(shell, strings.Replace(c.Text, "oci://registry.example.com/charts", "--plain-http oci://"+local.Registry()+"/documents", 1))
	}
	m.types(shell, "helm uninstall shop")
}

func (m *team) types(shell *docs.Shell, text string) {
	m.Helper()
	if out, err := shell.Run(m.Context(), text); err != nil {
		m.Errorf("%s: %v\n%s", text, err, out)
	}
}

// valuesOfTheChartsReadme writes the values that charts/gateway/README.md shows.
func (m *team) valuesOfTheChartsReadme(file string) {
	m.Helper()
	text, err := os.ReadFile(filepath.Join(root, "charts", "gateway", "README.md"))
	if err != nil {
		m.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	values, _, found := strings.Cut(rest, "```")
	if !found {
		m.Fatal("charts/gateway/README.md shows no values")
	}
	if err := os.WriteFile(file, []byte(values), 0o644); err != nil {
		m.Fatal(err)
	}
}
