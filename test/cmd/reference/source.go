// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
)

// statusTables are the constants of api/v1alpha1 that people meet: what their names begin with, the file, and the heading.
var statusTables = []struct{ prefix, file, heading string }{
	{"Condition", "conditions.go", "Conditions"},
	{"Reason", "conditions.go", "Reasons"},
	{"Phase", "conditions.go", "Phases"},
	{"Label", "marks.go", "Labels"},
	{"Annotation", "marks.go", "Annotations"},
	{"Finalizer", "marks.go", "Finalizers"},
}

// statusPage is made of the constants and the sentence above each.
func statusPage() (string, error) {
	text := "# What the status says, and what marks objects\n\nReasons that do not stand here are Flux's own, carried over unchanged.\n"
	for _, t := range statusTables {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("api", "v1alpha1", t.file), nil, parser.ParseComments)
		if err != nil {
			return "", err
		}
		rows, err := constants(file, t.prefix)
		if err != nil {
			return "", err
		}
		text += fmt.Sprintf("\n## %s\n\n| name | |\n|---|---|\n%s", t.heading, rows)
	}
	return text, nil
}

// constants are rows of those strings whose names begin with a prefix: the value, and the comment without the name.
func constants(file *ast.File, prefix string) (string, error) {
	rows := ""
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			constant := spec.(*ast.ValueSpec)
			name := constant.Names[0].Name
			literal, isLiteral := constant.Values[0].(*ast.BasicLit)
			if !strings.HasPrefix(name, prefix) || !isLiteral {
				continue
			}
			said, found := strings.CutPrefix(constant.Doc.Text(), name)
			if !found {
				return "", fmt.Errorf("the comment of %s does not begin with its name", name)
			}
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				return "", err
			}
			rows += fmt.Sprintf("| `%s` | %s |\n", value, prose(strings.TrimLeft(said, ": ")))
		}
	}
	if rows == "" {
		return "", fmt.Errorf("there are no constants %s…", prefix)
	}
	return rows, nil
}

// metricsPage is made of the calls of description in internal/controller: a name, a help text, and labels.
func metricsPage() (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("internal", "controller", "metrics.go"), nil, 0)
	if err != nil {
		return "", err
	}
	text := "# The operator's metrics\n\nBeside these the operator serves controller-runtime's own. Each has the labels `namespace`, `name` and " +
		"`class`.\n\n| metric | more labels | |\n|---|---|---|\n"
	var wrong error
	count := 0
	ast.Inspect(file, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		if callee, ok := call.Fun.(*ast.Ident); !ok || callee.Name != "description" {
			return true
		}
		var words []string
		for _, argument := range call.Args {
			literal, ok := argument.(*ast.BasicLit)
			if !ok {
				wrong = errors.New("description is called with something else than literals")
				return false
			}
			word, err := strconv.Unquote(literal.Value)
			wrong = errors.Join(wrong, err)
			words = append(words, word)
		}
		count++
		labels := ""
		if len(words) > 2 {
			labels = "`" + strings.Join(words[2:], "`, `") + "`"
		}
		text += fmt.Sprintf("| `sluice_apigateway_%s` | %s | %s |\n", words[0], labels, prose(words[1]))
		return true
	})
	if wrong == nil && count == 0 {
		wrong = errors.New("no metric is described")
	}
	return text, wrong
}
