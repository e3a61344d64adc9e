// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Command that a document shows.
type Command struct {
	File string
	Line int
	// Text as people type it, a comment at its end included.
	Text string
	// Output that is shown below it. An ellipsis at the end of a line stands for the rest of that line.
	Output string
}

func (c Command) String() string { return fmt.Sprintf("%s:%d: %s", c.File, c.Line, c.Text) }

// Commands of all documents, in their order.
func Commands(root string) ([]Command, error) {
	all, err := blocks(root)
	if err != nil {
		return nil, err
	}
	var found []Command
	for _, b := range all {
		switch b.kind() {
		case "sh":
			found = append(found, b.script()...)
		case "console":
			found = append(found, b.session()...)
		}
	}
	return found, nil
}

// At are the commands of a place, in their order.
func At(root string, place Place) ([]Command, error) {
	all, err := Commands(root)
	return slices.DeleteFunc(all, func(c Command) bool { return c.Place() != place }), err
}

// script reads lines that are all commands. A backslash at its end continues one.
func (b block) script() []Command {
	var found []Command
	continued := false
	for i, line := range b.lines {
		switch {
		case continued:
			found[len(found)-1].Text += "\n" + line
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		default:
			found = append(found, Command{File: b.file, Line: b.line + i, Text: line})
		}
		continued = strings.HasSuffix(line, `\`)
	}
	return found
}

// session reads commands, which follow a dollar sign, and what they print.
func (b block) session() []Command {
	var found []Command
	continued := false
	for i, line := range b.lines {
		text, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case continued:
			found[len(found)-1].Text += "\n" + line
		case isCommand:
			found = append(found, Command{File: b.file, Line: b.line + i, Text: text})
		case len(found) > 0:
			found[len(found)-1].Output += line + "\n"
		}
		continued = (continued || isCommand) && strings.HasSuffix(line, `\`)
	}
	return found
}

// Place is where a command is run by a test.
type Place string

// The places. A command that has none is a gap.
const (
	// Here is a copy of the checkout, without a cluster: TestCommandsThatNeedNoCluster.
	Here Place = "here"
	// OnFlux is a cluster that runs the quickstart: test/flux.
	OnFlux Place = "test/flux"
	// OnAPIServer is an API server with the operator: test/apiserver.
	OnAPIServer Place = "test/apiserver"
	// Nowhere is for commands that cannot be run, as NotRun says.
	Nowhere Place = "nowhere"
)

// NotRun are commands that no test runs as they stand, with the reason.
var NotRun = map[string]string{
	"make demo":                "it builds and starts a cluster of its own; the steps of its cluster are those of test/flux, and test/demo tests the rest",
	"make demo-down":           "it stops what make demo started",
	"make build":               "make test-suites, which runs these tests, begins with it",
	"make bench":               "it takes too long; test/bench runs all its steps with few gateways",
	"make vulncheck":           "it fetches a list of vulnerabilities that is larger than everything else",
	"make race":                "it builds and runs all tests once more",
	"make generate":            "make verify begins with it",
	"make test":                "it runs these tests",
	"make test-long":           "it runs these tests",
	"cosign generate-key-pair": noCosign,
	"cosign sign --key cosign.key registry.example.com/charts/gateway:1.0.0":                                                                      noCosign,
	"docker buildx build -f cmd/sluice-controller/Dockerfile --build-arg VERSION=0.1.0 -t registry.example.com/sluice-controller:v0.1.0 --push .": noEngine,
	"kubectl apply -k cluster": installs,
	"helm install sluice oci://ghcr.io/sluice-gateway/charts/sluice --version 0.1.0 -n sluice-system --create-namespace":             installs,
	"helm upgrade sluice oci://ghcr.io/sluice-gateway/charts/sluice --version 0.1.1 -n sluice-system":                                installs,
	"helm show crds oci://ghcr.io/sluice-gateway/charts/sluice --version 0.1.1 | kubectl apply --server-side --force-conflicts -f -": installs,
	"kubectl delete apigateways.gateway.sluice.dev --all -A":                                                                         installs,
	"kubectl delete apigatewayclasses.gateway.sluice.dev --all":                                                                      installs,
	"helm uninstall sluice -n sluice-system":                                                                                         installs,
	"kubectl delete crd apigateways.gateway.sluice.dev apigatewayclasses.gateway.sluice.dev":                                         installs,
}

const installs = "it is the whole cluster's, and nothing is published yet; test/install installs, upgrades and removes the operator with a chart of its own registry"

const noEngine = "there is no container engine here; test/delivery runs the recipe's own steps without one"

const noCosign = "there is no cosign here; test/cluster signs as cosign does, and TestAPrivateRegistryWhoseChartsAreSigned has Flux verify it"

var (
	comment = regexp.MustCompile(` +#.*$`)
	// offline are the commands that look at files alone, save with a flag that names a cluster.
	offline = regexp.MustCompile(`^((bin/)?sluice (render|lint|diff|migrate|version|completion) |kubectl kustomize |(bin/tools/)?helm package |` +
		`ln -s |source <\(sluice completion |make help$|go run \./test/cmd/toolchain )`)
	migrating = regexp.MustCompile(`^(bin/)?sluice migrate .*--from-cluster`)
	asking    = regexp.MustCompile(`--from-cluster|--against=cluster`)
	// charts want a registry or pods, which the API server's tests have not.
	charts    = regexp.MustCompile(`^(bin/tools/)?helm (push|install) `)
	onCluster = regexp.MustCompile(`^((bin/)?sluice (get|tree|reconcile|suspend|resume|diff) |kubectl |flux (get|resume) |helm )`)
)

// Bare is the command without the comment at its end.
func (c Command) Bare() string { return comment.ReplaceAllString(c.Text, "") }

// Place of the command; empty if no test runs it and no reason is given.
func (c Command) Place() Place {
	text := c.Bare()
	switch {
	case NotRun[text] != "":
		return Nowhere
	case migrating.MatchString(text):
		return OnAPIServer
	case offline.MatchString(text) && !asking.MatchString(text):
		return Here
	case charts.MatchString(text):
		return OnFlux
	case !onCluster.MatchString(text):
		return ""
	case strings.HasPrefix(c.File, "examples/"):
		return OnAPIServer
	}
	return OnFlux
}
