// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repoRoot is the folder of the module's go.mod.
func repoRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, parent, dir, "no go.mod above the test")
		dir = parent
	}
}

func chartDir(t *testing.T) string {
	t.Helper()
	return filepath.Join(repoRoot(t), "charts", "gateway")
}

// helm runs the CLI with stdin and returns what it printed. A missing binary is a failure, never a skip: these tests are
// all that stands between a template's typo and a cluster.
func helm(t *testing.T, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	binary := filepath.Join(repoRoot(t), "bin", "tools", "helm")
	if _, err := os.Stat(binary); errors.Is(err, os.ErrNotExist) {
		t.Fatalf(`%s is missing: run "make tools"`, binary)
	}
	home := t.TempDir()
	cmd := exec.Command(binary, args...)
	cmd.Env = []string{"HOME=" + home, "HELM_CACHE_HOME=" + home, "HELM_CONFIG_HOME=" + home, "HELM_DATA_HOME=" + home}
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// render returns what the chart makes of the values, a YAML text, as release shop in namespace web.
func render(t *testing.T, values string) string {
	t.Helper()
	return renderChart(t, chartDir(t), values)
}

func renderChart(t *testing.T, dir, values string) string {
	t.Helper()
	stdout, stderr, err := template(t, dir, values)
	require.NoError(t, err, stderr)
	return stdout
}

// refusal returns the message with which the chart refuses the values.
func refusal(t *testing.T, values string) string {
	t.Helper()
	stdout, stderr, err := template(t, chartDir(t), values)
	require.Error(t, err, "rendered:\n%s", stdout)
	return stderr
}

func template(t *testing.T, dir, values string) (stdout, stderr string, err error) {
	t.Helper()
	return helm(t, values, "template", "shop", dir, "--namespace", "web", "--values", "-")
}

func testdata(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return string(text)
}
