// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package imports_test holds the code to the shape that it says it has: stages that are pure and know no later stage,
// clients in three places, no Helm in either binary, a doc comment on every package, and a top level that stays as it is.
package imports_test

import (
	"fmt"
	"slices"
	"strings"
)

const module = "github.com/sluice-gateway/sluice"

// pkg is a package as far as the rules look at it.
type pkg struct {
	// path within the module, as internal/plan.
	path string
	// imports of its code without tests, with the module's own shortened like path.
	imports    []string
	documented bool
}

// place is a package's place in the flow; a package below another one shares it.
type place struct {
	path string
	// rank grows along the flow. A package imports only what ranks lower.
	rank int
	// pure stages hold no client and look at nothing but their input.
	pure bool
	// clients says that a package may hold clients of clusters and registries.
	clients bool
}

var flow = []place{
	{path: "api/v1alpha1", rank: 0, pure: true},
	{path: "internal/version", rank: 0, pure: true},
	{path: "internal/spelling", rank: 0, pure: true},
	{path: "internal/plan", rank: 1, pure: true},
	{path: "internal/claims", rank: 2, pure: true},
	{path: "internal/fluxobjects", rank: 3, pure: true},
	{path: "internal/fluxstatus", rank: 4, pure: true},
	{path: "internal/recovery", rank: 5, pure: true},
	{path: "internal/gatewaystatus", rank: 6, pure: true},
	{path: "internal/render", rank: 7, pure: true},
	{path: "internal/story", rank: 7, pure: true},
	{path: "internal/chart", rank: 7, pure: true},
	{path: "internal/lint", rank: 8, pure: true},
	{path: "internal/diff", rank: 8, pure: true},
	{path: "internal/controller", rank: 7, clients: true},
	{path: "internal/migrate", rank: 8, pure: true},
	{path: "internal/cli", rank: 9, clients: true},
	{path: "cmd", rank: 10, clients: true},
}

// clients are the packages by which one gets at a cluster or a registry.
var clients = []string{
	"sigs.k8s.io/controller-runtime", "k8s.io/client-go", "k8s.io/kubectl", "k8s.io/cli-runtime", "net/http", "oras.land",
	"github.com/google/go-containerregistry",
}

// impure are those by which a function knows more than its arguments, or does more than return.
var impure = []string{
	"context", "os", "net", "log", "syscall", "math/rand", "io/ioutil", "path/filepath", "github.com/go-logr/logr", "k8s.io/klog",
	"go.uber.org/zap", "github.com/fluxcd/pkg/runtime",
}

// withoutHelm are what neither binary may contain.
var withoutHelm = []string{"helm.sh/helm", "k8s.io/kubernetes"}

var topLevel = []string{
	"cmd", "api", "internal", "charts", "flux", "examples", "docs", "test", "Makefile", "go.mod", "go.sum", "README.md", "LICENSE",
}

func placeOf(path string) (place, bool) {
	for _, p := range flow {
		if within(path, p.path) {
			return p, true
		}
	}
	return place{}, false
}

// within says whether a package is root or lies below it; a version as in k8s.io/klog/v2 counts as below.
func within(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}

func anyWithin(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return within(path, root) })
}

// check lists what is wrong with a package.
func check(p pkg) []string {
	var wrong []string
	if !p.documented {
		wrong = append(wrong, p.path+" has no doc comment")
	}
	if within(p.path, "test") {
		return wrong
	}
	at, placed := placeOf(p.path)
	if !placed {
		return append(wrong, p.path+" has no place in the flow; give it one in test/imports")
	}
	for _, imported := range p.imports {
		if reason := forbidden(at, imported); reason != "" {
			wrong = append(wrong, fmt.Sprintf("%s imports %s: %s", p.path, imported, reason))
		}
	}
	return wrong
}

// forbidden says why a package of this place must not have that import.
func forbidden(at place, imported string) string {
	switch {
	case within(imported, "test"):
		return "tests are no part of the product"
	case !at.clients && anyWithin(imported, clients):
		return "only internal/controller, internal/cli and cmd hold clients"
	case at.pure && anyWithin(imported, impure):
		return "stages are pure"
	}
	if other, ours := placeOf(imported); ours && other.path != at.path && other.rank >= at.rank {
		return "it comes no earlier in the flow"
	}
	return ""
}

// checkDependencies lists what must not be in a binary.
func checkDependencies(deps []string) []string {
	var wrong []string
	for _, dep := range deps {
		if anyWithin(dep, withoutHelm) {
			wrong = append(wrong, "the binaries contain "+dep)
		}
	}
	return wrong
}

// checkTopLevel lists entries that the top level does not have. Dotfiles are free, and bin is what was built.
func checkTopLevel(entries []string) []string {
	var wrong []string
	for _, entry := range entries {
		if !slices.Contains(topLevel, entry) && entry != "bin" && !strings.HasPrefix(entry, ".") {
			wrong = append(wrong, "the top level has no "+entry)
		}
	}
	return wrong
}

// clocks are the functions of package time that read the clock or wait.
var clocks = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// checkClock says whether a package may use this function of package time (or metav1), which looks at the clock.
func checkClock(path, pkg, name string) string {
	at, _ := placeOf(path)
	if at.pure && slices.Contains(clocks, name) {
		return fmt.Sprintf("%s calls %s.%s: time is an argument", path, pkg, name)
	}
	return ""
}
