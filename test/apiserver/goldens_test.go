// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Everything that `sluice render` and `sluice migrate` are known to print is valid: the API server, which has Flux's CRDs, takes it, knows every
// field, and has nothing to add to it.
func TestGoldensPassADryRun(t *testing.T) {
	goldens := goldenFiles(t)
	if len(goldens) < 15 {
		t.Fatalf("only %d goldens: %q", len(goldens), goldens)
	}
	made := map[string]bool{}
	for _, file := range goldens {
		objects := readObjects(t, file)
		if len(objects) == 0 {
			t.Errorf("%s holds no objects", file)
		}
		for _, o := range objects {
			if namespace := o.GetNamespace(); namespace != "" && !made[namespace] {
				made[namespace] = true
				err := admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
				must(t, client.IgnoreAlreadyExists(err))
			}
			dryRun(t, file, o)
		}
	}
}

func dryRun(t *testing.T, file string, o *unstructured.Unstructured) {
	t.Helper()
	taken := o.DeepCopy()
	if err := admin.Create(t.Context(), taken, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict)); err != nil {
		t.Errorf("%s: %s %s: %v", file, o.GetKind(), o.GetName(), err)
		return
	}
	equal(t, file+": "+o.GetKind()+" "+o.GetName(), inYAML(taken.Object["spec"]), inYAML(o.Object["spec"]))
}

// goldenFiles are the examples' expected*.yaml, the generator's own goldens, and the other forms of the quickstart's.
func goldenFiles(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	var found []string
	for _, pattern := range []string{"internal/render/testdata/*.out.yaml", "internal/cli/testdata/*.yaml", "internal/cli/testdata/*.json"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		must(t, err)
		found = append(found, files...)
	}
	must(t, filepath.WalkDir(filepath.Join(root, "examples"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(entry.Name(), "expected") {
			found = append(found, path)
		}
		return err
	}))
	return found
}

// readObjects reads YAML documents, or a List in JSON.
func readObjects(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(file)
	must(t, err)
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 1024); ; {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(o); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if !strings.HasSuffix(o.GetKind(), "List") {
			objects = append(objects, o)
			continue
		}
		must(t, o.EachListItem(func(item runtime.Object) error {
			objects = append(objects, item.(*unstructured.Unstructured))
			return nil
		}))
	}
}
