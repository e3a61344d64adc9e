// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package lint_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/chart"
	"github.com/sluice-gateway/sluice/internal/lint"
	"github.com/sluice-gateway/sluice/internal/render"
)

const root = "../.."

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// bundled is the chart of this repository.
func bundled(t *testing.T) *chart.Chart {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{"Chart.yaml", "values.yaml", "values.schema.json"} {
		files[name] = read(t, "charts/gateway/"+name)
	}
	c, err := chart.FromFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// lintClass holds the class sluice against the bundled chart.
func lintClass(t *testing.T, class string) []string {
	t.Helper()
	set := &render.Set{}
	set.Add("class.yaml", []byte(class))
	var all []string
	for _, f := range lint.Lint(lint.Input{Set: set, Charts: lint.Charts{OfClasses: map[string]*chart.Chart{"sluice": bundled(t)}}}) {
		all = append(all, f.String())
	}
	return all
}

func TestTheClassOfTheCatalogueFitsItsChart(t *testing.T) {
	class := string(read(t, "flux/classes/sluice.yaml"))
	if got := lintClass(t, class); got != nil {
		t.Errorf("found %s", strings.Join(got, "\n"))
	}
	for was, now := range map[string]struct{ text, want string }{
		"replicaCount": {"replicas", "class.yaml:18: APIGatewayClass sluice: spec.valueMappings[0].paths[0]: error: replicas is no value of the " +
			"chart gateway 1.0.0, which has no replicas at its top; did you mean replicaCount? (UnknownPath)"},
		"image.digest": {"image.digets", "class.yaml:34: APIGatewayClass sluice: spec.imageMappings[0].paths[0].digest: error: image.digets is no " +
			"value of the chart gateway 1.0.0, which has no digets under image; did you mean image.digest? (UnknownPath)"},
		"tls: {enabled: true}": {"tls: {enable: true}", "class.yaml:27: APIGatewayClass sluice: spec.valueMappings[9].whenSet.tls.enable: error: is no " +
			"value of the chart gateway 1.0.0, which has no enable under tls; did you mean tls.enabled? (UnknownPath)"},
	} {
		if got := lintClass(t, strings.Replace(class, was, now.text, 1)); !reflect.DeepEqual(got, []string{now.want}) {
			t.Errorf("with %s got\n%s\nwant\n%s", now.text, strings.Join(got, "\n"), now.want)
		}
	}
}

// Every rule that findings carry is told of, so that reports can refer to it.
func TestRulesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, rule := range lint.Rules {
		if seen[rule.ID] || rule.Description == "" {
			t.Errorf("rule %+v is there twice, or says nothing", rule)
		}
		seen[rule.ID] = true
	}
}

var reasonNamed = regexp.MustCompile(`v1alpha1\.Reason([A-Z][A-Za-z]*)`)

// Every reason for which a plan or a rendering refuses something is a rule.
func TestEveryReasonOfARefusalIsARule(t *testing.T) {
	var ids []string
	for _, rule := range lint.Rules {
		ids = append(ids, rule.ID)
	}
	var files []string
	for _, pattern := range []string{"../plan/*.go", "../render/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range reasonNamed.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(ids, name[1]) {
				t.Errorf("%s: %s is no rule", file, name[1])
			}
		}
	}
}
