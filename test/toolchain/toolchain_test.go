// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// testLayout is a checkout with one family of tools.
func testLayout(t *testing.T) Layout {
	t.Helper()
	layout := Layout{root: t.TempDir()}
	for name, text := range map[string]string{"family.mod": "module family\n\ngo 1.26.0\n", "family.sum": ""} {
		if err := writeFile(filepath.Join(layout.moduleFiles(), name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return layout
}

// fakeTool is built by writing its file, and counts how often that happens.
func fakeTool(built *atomic.Int32) tool {
	return tool{name: "hammer", family: "family", build: func(_ context.Context, run runner) error {
		built.Add(1)
		return writeFile(run.layout.Bin("hammer"), []byte("#!"))
	}}
}

func bring(t *testing.T, layout Layout, hammer tool) string {
	t.Helper()
	var out bytes.Buffer
	if err := layout.bring(t.Context(), hammer, newReport(&out, []tool{hammer})); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAToolIsBuiltOnceAndAgainWhenItsPinsChange(t *testing.T) {
	layout := testLayout(t)
	var built atomic.Int32
	hammer := fakeTool(&built)
	for i, step := range []struct {
		prepare func() error
		builds  int32
		says    string
	}{
		{func() error { return nil }, 1, "built in 0s"},
		{func() error { return nil }, 1, ""},
		{func() error {
			return os.WriteFile(filepath.Join(layout.moduleFiles(), "family.sum"), []byte("x"), 0o644)
		}, 2, "built in 0s"},
		{func() error { return os.Remove(layout.Bin("hammer")) }, 3, "built in 0s"},
		{func() error { hammer.ldflags = []string{"-X a=b"}; return nil }, 4, "built in 0s"},
	} {
		if err := step.prepare(); err != nil {
			t.Fatal(err)
		}
		says := bring(t, layout, hammer)
		if built.Load() != step.builds || !strings.HasSuffix(strings.TrimSpace(says), step.says) {
			t.Errorf("step %d: %d builds and %q, want %d and %q", i, built.Load(), says, step.builds, step.says)
		}
	}
}

func TestRunsAtOnceShareTheWork(t *testing.T) {
	layout := testLayout(t)
	var built atomic.Int32
	hammer := fakeTool(&built)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { bring(t, layout, hammer) })
	}
	all.Wait()
	if built.Load() != 1 {
		t.Errorf("built %d times, want once", built.Load())
	}
}

func TestAFailureNamesToolCommandAndLog(t *testing.T) {
	layout := testLayout(t)
	hammer := tool{name: "hammer", family: "family", pkg: "example.invalid/hammer"}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOPROXY", "off")
	var out bytes.Buffer
	err := layout.bring(t.Context(), hammer, newReport(&out, []tool{hammer}))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"hammer: `", "go build -mod=readonly", "-modfile=family.mod", "example.invalid/hammer` in " + layout.moduleFiles(), "see " + layout.log("hammer")} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q lacks %q", err, want)
		}
	}
	if !strings.Contains(out.String(), "FAILED") {
		t.Errorf("the report says %q", out.String())
	}
}

func TestWaitingForAnotherRunEndsWithTheContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lockFile(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, strings.Join(Names(), " ")},
		{[]string{"dev"}, "controller-gen staticcheck actionlint"},
		{[]string{"helm", "kubectl", "helm"}, "kubectl helm"},
		{[]string{"dev", "etcd"}, "etcd controller-gen staticcheck actionlint"},
	} {
		chosen, err := choose(c.names)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, t := range chosen {
			names = append(names, t.name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%q gives %q, want %q", c.names, got, c.want)
		}
	}
	if _, err := choose([]string{"kubctl"}); err == nil || !strings.Contains(err.Error(), `no tool is named "kubctl"`) {
		t.Errorf("got %v", err)
	}
}

// The table and the module files must not drift apart.
func TestEachToolIsPinned(t *testing.T) {
	layout, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	pinned := func(family string) string {
		text, err := os.ReadFile(filepath.Join(layout.moduleFiles(), family+".mod"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, tool := range tools {
		if text := pinned(tool.family); !strings.Contains(text, "tool "+tool.pkg+"\n") && !strings.Contains(text, "\t"+tool.pkg+"\n") {
			t.Errorf("%s.mod has no tool %s", tool.family, tool.pkg)
		}
	}
	if !strings.Contains(pinned("kubernetes"), "k8s.io/kubernetes v"+kubernetesVersion+" ") {
		t.Errorf("kubernetes.mod does not pin %s", kubernetesVersion)
	}
	if !strings.Contains(pinned("flux"), fluxModule+" v"+fluxVersion+" ") {
		t.Errorf("flux.mod does not pin %s", fluxVersion)
	}
}
