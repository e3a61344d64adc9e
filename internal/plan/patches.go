// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fluxcd/pkg/apis/kustomize"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	kustypes "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/resid"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

func patches(given []kustomize.Patch) []kustomize.Patch {
	var all []kustomize.Patch
	for i := range given {
		all = append(all, *given[i].DeepCopy())
	}
	return all
}

// Limits of patches. What kustomize does with one can take time by the square of its size.
const (
	maxPatch   = 16 << 10 // bytes of one
	maxPatches = 64 << 10 // bytes of all
	maxTarget  = 253      // characters of each field of a target
)

// checkPatches refuses a patch that kustomize could not read, or not apply to an object such as its target describes.
// Whether the chart has such an object is not known here: kustomize passes over a target that nothing matches. It is asked
// only of gateways whose class lets them patch.
func checkPatches(given []kustomize.Patch, wrong *faults) {
	if len(given) == 0 {
		return
	}
	kustomizeLock.Lock()
	defer kustomizeLock.Unlock()
	size := 0
	for i, p := range given {
		field := at("spec.patches", i)
		if size += len(p.Patch); size > maxPatches {
			wrong.invalid("spec.patches", "hold more than %d bytes together; a chart that needs so much wants values of its own", maxPatches)
			return
		}
		checkTarget(field+".target", p.Target, wrong)
		if err := checkPatch(p); err != nil {
			wrong.invalid(field+".patch", "%s", err)
		}
	}
}

// kustomizeLock: kustomize keeps schemas in global variables.
var kustomizeLock sync.Mutex

var errEmptyPatch = errors.New("is empty; write what is to change")

// checkPatch reads a patch as kustomize does: as operations of a JSON patch (RFC 6902), or as parts of objects to merge.
// kustomize panics at some, and ends the program at a map that holds itself: such text must not reach it.
func checkPatch(p kustomize.Patch) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("kustomize cannot read it: %v", r)
		}
	}()
	if strings.TrimSpace(p.Patch) == "" {
		return errEmptyPatch
	}
	if len(p.Patch) > maxPatch {
		return fmt.Errorf("has %d bytes; at most %d are allowed", len(p.Patch), maxPatch)
	}
	documents, err := readPatch(p.Patch)
	if err != nil {
		return err
	}
	if len(documents) == 0 || documents[0].Kind != yaml.SequenceNode {
		return tryMerge(p)
	}
	switch {
	case len(documents) > 1:
		return errors.New("is a JSON patch and goes on after its list; write a patch for each")
	case p.Target == nil:
		return errors.New("is a JSON patch, which needs a target; set target.kind or target.name")
	}
	return checkOperations(p.Patch)
}

// readPatch reads the documents of a patch, with nothing expanded, and refuses what would be dropped or grow.
func readPatch(patch string) ([]*yaml.Node, error) {
	var documents []*yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(patch))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, fmt.Errorf("is not YAML: %s", plain(err))
		}
		if err := checkNode(&document, 0); err != nil {
			return nil, err
		}
		if content := document.Content; len(content) > 0 && content[0].Tag != yaml.NodeTagNull {
			documents = append(documents, content[0])
		}
	}
}

func checkNode(node *yaml.Node, depth int) error {
	switch {
	case depth > maxDepth:
		return fmt.Errorf("is nested more than %d deep, which no object is", maxDepth)
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		return fmt.Errorf("line %d: has an anchor or an alias; write out what it stands for", node.Line)
	}
	keys := map[string]bool{}
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			if keys[child.Value] {
				return fmt.Errorf("line %d: %s is set twice", child.Line, child.Value)
			}
			keys[child.Value] = true
		}
		if err := checkNode(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func checkOperations(patch string) error {
	data := []byte(strings.TrimSpace(patch))
	if data[0] != '[' {
		asJSON, err := sigsyaml.YAMLToJSON(data)
		if err != nil {
			return fmt.Errorf("is not YAML: %s", plain(err))
		}
		data = asJSON
	} else if !json.Valid(data) { // kustomize takes what begins so for JSON
		return errors.New("begins with [ and so must be JSON, with double quotes around every key and string; or write a list of lines that begin with -")
	}
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return fmt.Errorf("is not a JSON patch: %s", plain(err))
	}
	if len(operations) == 0 {
		return errors.New("has no operation")
	}
	for i, operation := range operations {
		if err := checkOperation(operation); err != nil {
			return fmt.Errorf("operation %d: %w", i+1, err)
		}
	}
	return nil
}

func checkOperation(operation jsonpatch.Operation) error {
	kind := operation.Kind()
	switch kind {
	case "add", "replace", "test":
		if _, given := operation["value"]; !given {
			return fmt.Errorf("%q needs a value", kind)
		}
	case "move", "copy":
		if from, err := operation.From(); err != nil || !isPointer(from) {
			return fmt.Errorf("%q needs from, a JSON pointer such as /spec/replicas", kind)
		}
	case "remove":
	default:
		return errors.New("op is none of add, remove, replace, move, copy and test")
	}
	for _, key := range slices.Sorted(maps.Keys(operation)) {
		if !slices.Contains([]string{"op", "path", "from", "value"}, key) {
			return fmt.Errorf("%s is no part of an operation, which has op, path, and value or from", key)
		}
	}
	if path, err := operation.Path(); err != nil || path == "" || !isPointer(path) {
		return fmt.Errorf("%q needs path, a JSON pointer such as /spec/replicas", kind)
	}
	return nil
}

// checkTarget refuses regular expressions and selectors that kustomize cannot read.
func checkTarget(field string, target *kustomize.Selector, wrong *faults) {
	if target == nil {
		return
	}
	if *target == (kustomize.Selector{}) {
		wrong.invalid(field, "is empty, and so would match every object; set at least kind")
		return
	}
	checkSelectors(field, target, wrong)
}

// checkSelectors refuses what cannot be read of a target.
func checkSelectors(field string, target *kustomize.Selector, wrong *faults) {
	for _, text := range []string{target.Group, target.Version, target.Kind, target.Namespace, target.Name, target.LabelSelector, target.AnnotationSelector} {
		if len(text) > maxTarget {
			wrong.invalid(field, "has a field of %d characters; at most %d are allowed", len(text), maxTarget)
			return
		}
	}
	for _, part := range []struct {
		name     string
		selector kustypes.Selector
	}{
		{"group", byGvk(target.Group, "", "")},
		{"version", byGvk("", target.Version, "")},
		{"kind", byGvk("", "", target.Kind)},
		{"name", kustypes.Selector{ResId: resid.ResId{Name: target.Name}}},
		{"namespace", kustypes.Selector{ResId: resid.ResId{Namespace: target.Namespace}}},
	} {
		if _, err := kustypes.NewSelectorRegex(&part.selector); err != nil {
			wrong.invalid(field+"."+part.name, "is not a regular expression: %s", plain(err))
		}
	}
	checkSelector(field+".labelSelector", kustypes.Selector{LabelSelector: target.LabelSelector}, wrong)
	checkSelector(field+".annotationSelector", kustypes.Selector{AnnotationSelector: target.AnnotationSelector}, wrong)
}

func byGvk(group, version, kind string) kustypes.Selector {
	return kustypes.Selector{ResId: resid.ResId{Gvk: resid.Gvk{Group: group, Version: version, Kind: kind}}}
}

// checkSelector tries it on an object.
func checkSelector(field string, selector kustypes.Selector, wrong *faults) {
	all, err := resmap.NewFactory(resources).NewResMapFromBytes([]byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: any}}"))
	if err == nil {
		_, err = all.Select(selector)
	}
	if err != nil {
		wrong.invalid(field, "is not a selector, such as app=web,tier!=back: %s", plain(err))
	}
}

// resources reads objects as kustomize does.
var resources = provider.NewDefaultDepProvider().GetResourceFactory()

// tryMerge merges the patch into an object such as it is meant for, so that kustomize itself says what is wrong with it.
func tryMerge(p kustomize.Patch) error {
	parts, err := resources.SliceFromBytes([]byte(p.Patch))
	switch {
	case err != nil:
		return fmt.Errorf("is neither a list of JSON patch operations nor an object with apiVersion, kind and metadata.name to merge: %s", plain(err))
	case len(parts) == 0:
		return errEmptyPatch
	case len(parts) > 1 && p.Target != nil:
		return fmt.Errorf("holds %d objects, and with a target it must be one; write a patch for each", len(parts))
	}
	for _, part := range parts {
		object, err := resources.SliceFromBytes([]byte(fmt.Sprintf("{apiVersion: %q, kind: %q, metadata: {name: %q}}",
			part.GetApiVersion(), part.GetKind(), part.GetName())))
		if err == nil {
			err = object[0].ApplySmPatch(part)
		}
		if err != nil {
			return fmt.Errorf("cannot be merged into %s %s: %s", part.GetKind(), part.GetName(), plain(err))
		}
	}
	return nil
}

// plain is a library's error on one line of bearable length.
func plain(err error) string {
	text := []rune(strings.Join(strings.Fields(err.Error()), " "))
	if len(text) > maxCause {
		return string(text[:maxCause]) + "…"
	}
	return string(text)
}

const maxCause = 300
