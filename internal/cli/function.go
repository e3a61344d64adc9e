// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/render"
)

// pipedInput is what is on stdin where that is a pipe or a file. kustomize runs functions without arguments, so that this
// alone tells that the command is to be one.
func pipedInput(in io.Reader) ([]byte, error) {
	if file, ok := in.(*os.File); ok {
		if info, err := file.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
			return nil, nil
		}
	}
	data, err := io.ReadAll(in)
	return bytes.TrimSpace(data), err
}

// runFunction answers a ResourceList with one.
func runFunction(streams Streams, in []byte) error {
	if refused, err := refuseItems(streams, in); refused {
		return err
	}
	var out bytes.Buffer
	list := &kio.ByteReadWriter{Reader: bytes.NewReader(in), Writer: &out, KeepReaderAnnotations: true}
	f := function{streams: streams}
	err := framework.Execute(framework.ResourceListProcessorFunc(func(rl *framework.ResourceList) error {
		if list.WrappingKind != kio.ResourceListKind {
			return errors.New("stdin is no ResourceList; to render what it holds: sluice render -f -")
		}
		f.started = true
		err := f.process(rl)
		if err != nil && !errors.Is(err, errReported) {
			rl.Results = append(rl.Results, failure(err, rl.FunctionConfig))
		}
		return err
	}), list)
	if !f.started {
		return err
	}
	_, failed := streams.Out.Write(out.Bytes())
	return errors.Join(err, failed)
}

// function is one run as a KRM function.
type function struct {
	streams Streams
	// started once the input is known to be a ResourceList. Before that there is nothing to answer with.
	started bool
}

// process puts the Flux objects in the place of gateways and classes. After any error the items stay as they came.
func (f *function) process(rl *framework.ResourceList) error {
	config, err := readFunctionConfig(rl.FunctionConfig)
	if err != nil {
		return err
	}
	options, err := config.options()
	if err != nil {
		return err
	}
	items := newItems(rl.Items)
	set := &render.Set{}
	failed := addFiles(set, nil, config.Spec.Files)
	for _, err := range failed {
		fmt.Fprintln(f.streams.Err, fileError(err))
		rl.Results = append(rl.Results, failure(configError{"spec.files", fileError(err)}, rl.FunctionConfig))
	}
	if len(failed) > 0 {
		return errReported
	}
	unstable := items.addTo(set)
	result := set.Render(options)
	result.Problems = append(unstable, result.Problems...)
	report(f.streams.Err, result)
	rl.Results = items.results(result)
	if len(result.Problems) > 0 {
		return errReported
	}
	rl.Items, err = replaced(rl.Items, result.Objects)
	return err
}

// replaced are the items without gateways and classes, and then the objects.
func replaced(items []*yaml.RNode, objects []render.Object) ([]*yaml.RNode, error) {
	var kept []*yaml.RNode
	for _, item := range items {
		if !isRendered(item) {
			kept = append(kept, item)
		}
	}
	for _, o := range objects {
		text, err := o.YAML()
		if err != nil {
			return nil, err
		}
		node, err := yaml.Parse(string(text))
		if err != nil {
			return nil, err
		}
		kept = append(kept, node)
	}
	return kept, nil
}

// isRendered says whether an item is what the Flux objects stand for.
func isRendered(item *yaml.RNode) bool {
	kind := item.GetKind()
	return item.GetApiVersion() == v1alpha1.GroupVersion.String() &&
		(kind == v1alpha1.APIGatewayKind || kind == v1alpha1.APIGatewayClassKind)
}
