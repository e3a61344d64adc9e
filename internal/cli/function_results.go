// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/internal/render"
)

// originAnnotation is kustomize's, where a kustomization asks for it: a map with the path of an object's file.
const originAnnotation = "config.kubernetes.io/origin"

// fileOf is the file that an item is from, and which of its objects the item is; empty where nothing tells.
func fileOf(item *yaml.RNode) (path string, index int) {
	if _, wrong := faultOf(item.YNode()); wrong != "" {
		return "", 0 // kyaml looks for annotations in lists too, and fails
	}
	path, number, err := kioutil.GetFileAnnotations(item)
	if err != nil {
		return "", 0
	}
	if path != "" {
		index, _ = strconv.Atoi(number)
		return path, index
	}
	var origin struct {
		Path string `yaml:"path"`
	}
	if yaml.Unmarshal([]byte(item.GetAnnotations()[originAnnotation]), &origin) != nil {
		return "", 0
	}
	return origin.Path, 0
}

// results are what a rendering says, in the form of KRM functions.
func (i items) results(result render.Result) framework.Results {
	byName := map[string]*yaml.RNode{}
	for _, item := range i.all {
		byName[item.GetApiVersion()+" "+render.ObjectName(item.YNode())] = item
	}
	var all framework.Results
	for _, p := range result.Notes {
		all = append(all, asResult(framework.Info, p, byName[p.APIVersion+" "+p.Object]))
	}
	for _, p := range result.Problems {
		all = append(all, asResult(framework.Error, p, byName[p.APIVersion+" "+p.Object]))
	}
	return all
}

// failure says what ended the function, with its place in the functionConfig, if it is there.
func failure(err error, config *yaml.RNode) *framework.Result {
	wrong, ofConfig := errors.AsType[configError](err)
	if !ofConfig {
		return &framework.Result{Severity: framework.Error, Message: err.Error()}
	}
	if config.YNode().Kind != yaml.MappingNode {
		return asResult(framework.Error, render.Problem{Field: "functionConfig", Message: wrong.message}, nil)
	}
	file, _ := fileOf(config)
	return asResult(framework.Error, render.Problem{
		File: file, Object: render.ObjectName(config.YNode()), APIVersion: config.GetApiVersion(), Field: wrong.field, Message: wrong.message,
	}, config)
}

// asResult says a problem of an item, or of a file if there is no such item.
func asResult(severity framework.Severity, p render.Problem, item *yaml.RNode) *framework.Result {
	r := &framework.Result{Severity: severity, Message: p.Message}
	if p.Field != "" {
		r.Field = &framework.Field{Path: p.Field}
	}
	if p.File != "" {
		r.File = &framework.File{Path: p.File}
	}
	if p.Reason != "" || p.Line != 0 {
		r.Tags = map[string]string{}
	}
	if p.Reason != "" {
		r.Tags["reason"] = p.Reason
	}
	if p.Line != 0 {
		r.Tags["line"] = strconv.Itoa(p.Line)
	}
	r.ResourceRef = refOf(p)
	if item == nil || r.File == nil {
		return r
	}
	if path, index := fileOf(item); path == p.File {
		r.File.Index = index
	}
	return r
}

// refOf takes the kind and the name apart by which a problem calls its object.
func refOf(p render.Problem) *yaml.ResourceIdentifier {
	kind, name, found := strings.Cut(p.Object, " ")
	if !found {
		return nil
	}
	ref := &yaml.ResourceIdentifier{TypeMeta: yaml.TypeMeta{APIVersion: p.APIVersion, Kind: kind}}
	ref.Name = name
	if namespace, inNamespace, found := strings.Cut(name, "/"); found {
		ref.Namespace, ref.Name = namespace, inNamespace
	}
	return ref
}
