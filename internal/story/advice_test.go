// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// needNoAdvice are reasons that are good news, or of a class, or that stand beside another one.
var needNoAdvice = []string{"Accepted", "Deployed", "Ready", "RetriesExceeded", "GatewaysRemain"}

// A reason that is added to the API needs advice.
func TestEveryReasonHasAdvice(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../api/v1alpha1/conditions.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, is := node.(*ast.ValueSpec)
		if !is || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
			return true
		}
		reason, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		found++
		if _, advised := advices[reason]; !advised && !slices.Contains(needNoAdvice, reason) {
			t.Errorf("there is no advice for reason %s", reason)
		}
		return true
	})
	if found < 20 {
		t.Errorf("only %d reasons were found", found)
	}
}

// What stands in braces is replaced.
func TestAdviceNamesWhatThereIs(t *testing.T) {
	known := []string{"sluice", "name", "namespace", "class", "config", "source", "sourcenamespace", "target", "release", "storage", "account",
		"pod", "podnamespace", "container"}
	for _, table := range []map[string]Advice{advices, podAdvices, {"": elsewhere}} {
		for reason, a := range table {
			for _, part := range strings.Split(a.Text+a.Command, "{")[1:] {
				if name, _, _ := strings.Cut(part, "}"); !slices.Contains(known, name) {
					t.Errorf("the advice for %s names {%s}", reason, name)
				}
			}
		}
	}
}
