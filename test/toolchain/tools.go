// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"fmt"
	"strings"
)

// tool is one program and how it is built.
type tool struct {
	name    string
	family  string   // the module file test/tools/<family>.mod, which pins it
	pkg     string   // the main package
	ldflags []string // beside -s -w
	files   []files  // what else of the family's modules belongs to it
	build   builder  // nil: a plain go build
}

// files says which files of a module are laid out with a tool.
type files struct {
	module string
	globs  []string // relative to the module's root
	to     string   // a folder under bin/tools
}

const (
	kubernetesVersion = "1.36.3" // as in kubernetes.mod
	fluxVersion       = "2.9.5"  // as in flux.mod

	crdFolder   = "crds"
	stageFolder = "kwok-stages"
)

// Without its version a server built from the module calls itself v0.0.0, and charts with a kubeVersion refuse to install.
var kubernetesLDFlags = []string{
	"-X k8s.io/component-base/version.gitVersion=v" + kubernetesVersion,
	"-X k8s.io/component-base/version.gitMajor=1",
	"-X k8s.io/component-base/version.gitMinor=36",
}

// The order is that of building: what most others need first, and commands that share code with a controller after it.
var tools = []tool{
	{name: "etcd", family: "etcd", pkg: "go.etcd.io/etcd/server/v3"},
	kubernetes("kube-apiserver"),
	kubernetes("kube-controller-manager"),
	kubernetes("kube-scheduler"),
	kubernetes("kubectl"),
	{
		name: "kwok", family: "kwok", pkg: "sigs.k8s.io/kwok/cmd/kwok",
		files: []files{{
			module: "sigs.k8s.io/kwok",
			globs:  []string{"kustomize/stage/node/fast/node-*.yaml", "kustomize/stage/pod/fast/pod-*.yaml"},
			to:     stageFolder,
		}},
	},
	{name: "registry", family: "registry", pkg: "github.com/distribution/distribution/v3/cmd/registry"},
	fluxController("source-controller"),
	fluxController("helm-controller"),
	fluxController("kustomize-controller"),
	{
		name: "flux", family: "flux", pkg: "github.com/fluxcd/flux2/v2/cmd/flux",
		ldflags: []string{"-X main.VERSION=" + fluxVersion}, build: buildFlux,
	},
	{name: "helm", family: "helm", pkg: "helm.sh/helm/v4/cmd/helm"},
	{name: "controller-gen", family: devFamily, pkg: "sigs.k8s.io/controller-tools/cmd/controller-gen"},
	{name: "staticcheck", family: devFamily, pkg: "honnef.co/go/tools/cmd/staticcheck"},
	{name: "actionlint", family: workflowFamily, pkg: "github.com/rhysd/actionlint/cmd/actionlint"},
}

// These families hold the tools that work on the source and that no cluster needs.
const (
	devFamily      = "dev"
	workflowFamily = "actionlint"
)

func ofNoCluster(t tool) bool { return t.family == devFamily || t.family == workflowFamily }

func kubernetes(name string) tool {
	return tool{name: name, family: "kubernetes", pkg: "k8s.io/kubernetes/cmd/" + name, ldflags: kubernetesLDFlags}
}

func fluxController(name string) tool {
	module := "github.com/fluxcd/" + name
	return tool{name: name, family: name, pkg: module,
		files: []files{{module: module, globs: []string{"config/crd/bases/*.yaml"}, to: crdFolder}}}
}

// Groups that may be named in place of their tools.
var groups = map[string]func(tool) bool{
	"all":     func(tool) bool { return true },
	"cluster": func(t tool) bool { return !ofNoCluster(t) },
	"dev":     ofNoCluster,
}

// choose returns the named tools in the order of building, each once; no name means all.
func choose(names []string) ([]tool, error) {
	if len(names) == 0 {
		names = []string{"all"}
	}
	wanted := map[string]bool{}
	for _, name := range names {
		found := false
		for _, t := range tools {
			if group := groups[name]; t.name == name || group != nil && group(t) {
				wanted[t.name], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("no tool is named %q; there are %s, and the groups all, cluster and dev", name, strings.Join(Names(), ", "))
		}
	}
	var chosen []tool
	for _, t := range tools {
		if wanted[t.name] {
			chosen = append(chosen, t)
		}
	}
	return chosen, nil
}

// Names returns the names of all tools, in the order of building.
func Names() []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.name
	}
	return names
}
