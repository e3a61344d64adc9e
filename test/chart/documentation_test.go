// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func chartFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chartDir(t), name))
	require.NoError(t, err)
	return string(text)
}

func TestREADMEsExampleWorks(t *testing.T) {
	t.Parallel()
	_, rest, found := strings.Cut(chartFile(t, "README.md"), "```yaml\n")
	require.True(t, found)
	example, _, _ := strings.Cut(rest, "```")
	b := bootstrap(t, example)
	findCluster(t, b, "orders")
	findCluster(t, b, "frontend")
}

// Each example that values.yaml has in comments is taken out of them and rendered.
func TestExamplesOfTheValuesFileWork(t *testing.T) {
	t.Parallel()
	values := chartFile(t, "values.yaml")
	for name, c := range map[string]struct{ start, around string }{
		"listeners": {"# - name: http  ", "service: {type: NodePort}\nlisteners:\n"},
		"routes": {"    # - name: orders", `
upstreams: [{name: orders, hosts: ["orders:80"]}]
listeners:
  - name: http
    port: 8080
    protocol: HTTP
    routes:
`},
		"upstreams": {"# - name: orders  ", "upstreams:\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bootstrap(t, c.around+commentedExample(t, values, c.start))
		})
	}
}

// commentedExample is what stands in comments from the line that starts with start to the first that is no example's.
func commentedExample(t *testing.T, values, start string) string {
	t.Helper()
	at := strings.Index(values, "\n"+start)
	if at < 0 {
		at = strings.Index(values, "\n"+strings.TrimRight(start, " "))
	}
	require.GreaterOrEqual(t, at, 0, start)
	isExample := regexp.MustCompile(`^ *# ( +\S|- )`)
	var lines []string
	for _, line := range strings.Split(values[at+1:], "\n") {
		if !isExample.MatchString(line) {
			break
		}
		lines = append(lines, strings.Replace(line, "# ", "", 1))
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestNotesShowWhereTheGatewayAnswers(t *testing.T) {
	t.Parallel()
	stdout, stderr, err := helm(t, everything, "install", "shop", chartDir(t), "--namespace", "web", "--dry-run=client", "--values", "-")
	require.NoError(t, err, stderr)
	assert.Contains(t, stdout, "  http://shop-gateway.web.svc:80\n  https://shop-gateway.web.svc:443\n")
}
