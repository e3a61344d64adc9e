// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package imports_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func TestPackages(t *testing.T) {
	packages := load(t)
	if len(packages) < len(flow) {
		t.Fatalf("only %d packages were found", len(packages))
	}
	for _, p := range packages {
		report(t, check(p.pkg))
		for _, file := range p.files {
			report(t, clockCalls(p.path, file))
		}
	}
}

func TestBinaries(t *testing.T) {
	deps := strings.Fields(string(goList(t, "-deps", "./cmd/...")))
	if len(deps) < 100 {
		t.Fatalf("only %d dependencies were found", len(deps))
	}
	report(t, checkDependencies(deps))
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	report(t, checkTopLevel(names))
	for _, name := range topLevel {
		if !slices.Contains(names, name) {
			t.Error("the top level lacks " + name)
		}
	}
}

func report(t *testing.T, wrong []string) {
	t.Helper()
	for _, text := range wrong {
		t.Error(text)
	}
}

// loaded is a package and its files without tests.
type loaded struct {
	pkg
	files []*ast.File
}

func load(t *testing.T) []loaded {
	t.Helper()
	list := json.NewDecoder(bytes.NewReader(goList(t, "-json=ImportPath,Imports,GoFiles,TestGoFiles,XTestGoFiles", "./...")))
	var packages []loaded
	for {
		var listed struct {
			ImportPath                         string
			Imports                            []string
			GoFiles, TestGoFiles, XTestGoFiles []string
		}
		if err := list.Decode(&listed); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		p := loaded{pkg: pkg{path: short(listed.ImportPath)}}
		for _, imported := range listed.Imports {
			p.imports = append(p.imports, short(imported))
		}
		for _, file := range listed.GoFiles {
			p.files = append(p.files, parse(t, p.path+"/"+file))
		}
		p.documented = slices.ContainsFunc(p.files, documented)
		for _, file := range slices.Concat(listed.TestGoFiles, listed.XTestGoFiles) {
			p.documented = p.documented || len(p.files) == 0 && documented(parse(t, p.path+"/"+file))
		}
		packages = append(packages, p)
	}
}

func short(path string) string {
	return strings.TrimPrefix(path, module+"/")
}

func goList(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("go list: %s", failed.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return out
}

func documented(file *ast.File) bool {
	return strings.HasPrefix(file.Doc.Text(), "Package ") || strings.HasPrefix(file.Doc.Text(), "Command ")
}

// clockCalls finds the uses of package time that a package must not make.
func clockCalls(path string, file *ast.File) []string {
	var wrong []string
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok && (x.Name == "time" || x.Name == "metav1") {
			if text := checkClock(path, x.Name, selector.Sel.Name); text != "" {
				wrong = append(wrong, text)
			}
		}
		return true
	})
	return wrong
}

func parse(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
