// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// example are the manifests that the team commits: those of examples/quickstart, with their comments. Class and gateway
// are edited in place.
type example struct {
	documents []document
	class     *yaml.RNode
	gateway   *yaml.RNode
}

// document is one object and the file that it stands in.
type document struct {
	file string
	node *yaml.RNode
}

// readExample reads all of a folder but the Flux objects there: they are what `sluice render` makes of the rest.
func readExample(folder string) (*example, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	e := &example{}
	for _, file := range files {
		if err := e.read(file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if e.class == nil || e.gateway == nil {
		return nil, fmt.Errorf("%s holds no class, or no gateway", folder)
	}
	return e, nil
}

func (e *example) read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	nodes, err := kio.FromBytes(text)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		switch node.GetKind() {
		case v1alpha1.APIGatewayClassKind:
			e.class = node
		case v1alpha1.APIGatewayKind:
			e.gateway = node
		case sourcev1.OCIRepositoryKind, helmv2.HelmReleaseKind:
			continue
		}
		e.documents = append(e.documents, document{file: filepath.Base(file), node: node})
	}
	return nil
}

// files are the contents of the files, by name; with kinds, of the documents of these kinds alone.
func (e *example) files(kinds ...string) (map[string]string, error) {
	files := map[string]string{}
	for _, d := range e.documents {
		if len(kinds) > 0 && !slices.Contains(kinds, d.node.GetKind()) {
			continue
		}
		text, err := d.node.String()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.file, err)
		}
		if before := files[d.file]; before != "" {
			text = before + "---\n" + text
		}
		files[d.file] = text
	}
	return files, nil
}

// edit sets a scalar of a manifest, and makes the fields above it where they are missing.
type edit struct {
	field string // dotted, as spec.chart.tag
	value string // as it stands in YAML
}

func (e edit) apply(node *yaml.RNode) error {
	path := strings.Split(e.field, ".")
	err := node.PipeE(yaml.LookupCreate(yaml.ScalarNode, path...), yaml.Set(yaml.NewScalarRNode(e.value)))
	if err != nil {
		return fmt.Errorf("set %s of %s %s: %w", e.field, node.GetKind(), node.GetName(), err)
	}
	return nil
}

func apply(node *yaml.RNode, edits ...edit) error {
	var errs []error
	for _, e := range edits {
		errs = append(errs, e.apply(node))
	}
	return errors.Join(errs...)
}
