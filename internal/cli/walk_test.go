// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const plainClass = `apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata:
  name: sluice
  annotations: {gateway.sluice.dev/is-default-class: "true"}
spec:
  chart:
    url: oci://registry.example.com/charts/gateway
    ref: {tag: 1.0.0}
`

func gatewayNamed(name string) string {
	return "apiVersion: gateway.sluice.dev/v1alpha1\nkind: APIGateway\nmetadata: {name: " + name + ", namespace: apis}\n"
}

// inFolder makes files, and then links as name → target, in a new working directory.
func inFolder(t *testing.T, files, links map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		write(t, name, text)
	}
	for name, target := range links {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
}

// renderedReleases are the names of the HelmReleases that a command line prints.
func renderedReleases(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := sluice("", append([]string{"render"}, args...)...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var names []string
	for _, document := range strings.Split(stdout, "---\n") {
		if strings.Contains(document, "kind: HelmRelease\n") {
			_, rest, _ := strings.Cut(document, "gateway.sluice.dev/gateway: ")
			name, _, _ := strings.Cut(rest, "\n")
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func TestLinksAreFollowedAndEverythingIsReadOnce(t *testing.T) {
	inFolder(t, map[string]string{
		"in/class.yaml": plainClass, "in/b/b.yaml": gatewayNamed("b"), "elsewhere/c.yaml": gatewayNamed("c"),
		"elsewhere/deep/d.yaml": gatewayNamed("d"), "in/readme.md": ": {",
	}, map[string]string{
		"in/a": "b", "in/b/up": "..", "in/linked": "../elsewhere", "in/linked.yaml": "../elsewhere/deep/d.yaml",
		"elsewhere/back": "../in", "in/notes": "readme.md",
	})
	if got := renderedReleases(t, "-f", "in"); got != "b c d" {
		t.Errorf("got %q", got)
	}
	absolute, err := filepath.Abs("in/b/b.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := renderedReleases(t, "-f", "in/class.yaml", "-f", "in/b/b.yaml", "-f", absolute, "-f", "in/a/b.yaml", "-f", "in/b"); got != "b c d" {
		t.Errorf("by several names: got %q", got)
	}
}

func TestLinksThatLeadNowhereAreErrors(t *testing.T) {
	inFolder(t, map[string]string{"in/class.yaml": plainClass, "in/a.yaml": gatewayNamed("a")},
		map[string]string{"in/gone": "../elsewhere", "in/self": "self"})
	code, stdout, stderr := sluice("", "render", "-f", "in")
	want := "in/gone: no such file or directory\nin/self: too many levels of symbolic links\n"
	if code != 1 || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr\n%s\nwant\n%s", code, stdout, stderr, want)
	}
}

// Reading one would wait for ever for whoever writes to it.
func TestAPipeInADirectoryIsAnError(t *testing.T) {
	inFolder(t, map[string]string{"in/class.yaml": plainClass, "in/web.yaml": gatewayNamed("web")}, map[string]string{"in/link.yaml": "pipe.yaml"})
	for _, name := range []string{"in/pipe.yaml", "in/pipe.txt"} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := sluice("", "render", "-f", "in")
	want := "in/link.yaml: is a pipe, a socket or a device, which are not read of a directory\n" +
		"in/pipe.yaml: is a pipe, a socket or a device, which are not read of a directory\n"
	if code != 1 || stdout != "" || stderr != want {
		t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
	}
}

func TestGlobs(t *testing.T) {
	inFolder(t, map[string]string{
		"class.yaml": plainClass, "teams/a/gw.yaml": gatewayNamed("a"), "teams/b/gw.yaml": gatewayNamed("b"),
		"teams/b/other.yaml": gatewayNamed("other"), "odd[1].yaml": gatewayNamed("odd"),
	}, nil)
	for pattern, want := range map[string]string{
		"teams/*/gw.yaml": "a b", "teams/[b]": "b other", "teams/?": "a b other", "odd[1].yaml": "odd",
	} {
		if got := renderedReleases(t, "-f", "class.yaml", "-f", pattern); got != want {
			t.Errorf("%s: got %q, want %q", pattern, got, want)
		}
	}
}

// Shells give a pipe the name of a file that is a link to nowhere.
func TestPipesWithNames(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := out.WriteString(plainClass + "---\n" + gatewayNamed("a")); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if got := renderedReleases(t, "-f", fmt.Sprintf("/dev/fd/%d", in.Fd())); got != "a" {
		t.Errorf("got %q", got)
	}
}
