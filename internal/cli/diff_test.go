// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bufio"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/sluice-gateway/sluice/internal/cli"
)

// On a terminal a diff has git's colours, unless NO_COLOR is set.
func TestDiffIsColouredOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Chdir(t.TempDir())
	write(t, "old/all.yaml", plainClass+"---\n"+gatewayNamed("web")+"spec: {release: {timeout: 5m}}\n")
	write(t, "new/all.yaml", plainClass+"---\n"+gatewayNamed("web")+"spec: {release: {timeout: 6m}}\n")
	want := []string{
		"\x1b[1m--- HelmRelease apis/web\x1b[m", "\x1b[1m+++ HelmRelease apis/web\x1b[m", "\x1b[36m@@ -25,7 +25,7 @@\x1b[m",
		"   releaseName: web", "   storageNamespace: apis", "   targetNamespace: apis",
		"\x1b[31m-  timeout: 5m0s\x1b[m", "\x1b[32m+  timeout: 6m0s\x1b[m",
		"   upgrade:", "     chartNameChangeStrategy: InPlaceUpdate", "     crds: CreateReplace",
	}
	if got := onTerminal(t, len(want), "diff", "-f", "new", "--against", "old"); got != strings.Join(want, "\n") {
		t.Errorf("got\n%q\nwant\n%q", got, strings.Join(want, "\n"))
	}
	t.Setenv("NO_COLOR", "1")
	plain := strings.NewReplacer("\x1b[1m", "", "\x1b[36m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[m", "").Replace(strings.Join(want, "\n"))
	if got := onTerminal(t, len(want), "diff", "-f", "new", "--against", "old"); got != plain {
		t.Errorf("with NO_COLOR got\n%q\nwant\n%q", got, plain)
	}
}

// onTerminal is what a command line that finds differences prints on a terminal, which is so many lines.
func onTerminal(t *testing.T, lines int, args ...string) string {
	t.Helper()
	screen, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	defer terminal.Close()
	code := cli.Run(append([]string{"sluice"}, args...), cli.Streams{In: strings.NewReader(""), Out: terminal, Err: terminal}, "v1.2.3")
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	scanner := bufio.NewScanner(screen)
	var got []string
	for len(got) < lines && scanner.Scan() {
		got = append(got, strings.TrimSuffix(scanner.Text(), "\r"))
	}
	return strings.Join(got, "\n")
}
