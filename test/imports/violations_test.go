// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package imports_test

import (
	"go/parser"
	"go/token"
	"reflect"
	"testing"
)

// Every rule is seen to fail when it is violated.
func TestViolations(t *testing.T) {
	for what, c := range map[string]struct {
		path    string
		imports []string
		want    []string
	}{
		"a stage as it should be": {
			"internal/fluxstatus", []string{"time", "fmt", "io", "k8s.io/api/core/v1", "internal/fluxobjects", "api/v1alpha1"}, nil,
		},
		"the operator as it should be": {
			"internal/controller", []string{"context", "k8s.io/client-go/rest", "internal/gatewaystatus"}, nil,
		},
		"a package below a stage is of that stage": {"internal/fluxstatus/fluxtest", []string{"internal/fluxstatus"}, nil},
		"a client in a stage": {
			"internal/plan", []string{"sigs.k8s.io/controller-runtime/pkg/client", "k8s.io/client-go/rest", "net/http"},
			[]string{
				"internal/plan imports sigs.k8s.io/controller-runtime/pkg/client: only internal/controller, internal/cli and cmd hold clients",
				"internal/plan imports k8s.io/client-go/rest: only internal/controller, internal/cli and cmd hold clients",
				"internal/plan imports net/http: only internal/controller, internal/cli and cmd hold clients",
			},
		},
		"a client in the generator": {
			"internal/render", []string{"k8s.io/client-go/kubernetes"},
			[]string{"internal/render imports k8s.io/client-go/kubernetes: only internal/controller, internal/cli and cmd hold clients"},
		},
		"context, environment and logger in a stage": {
			"internal/recovery", []string{"context", "os", "os/exec", "log/slog", "k8s.io/klog/v2"},
			[]string{
				"internal/recovery imports context: stages are pure",
				"internal/recovery imports os: stages are pure",
				"internal/recovery imports os/exec: stages are pure",
				"internal/recovery imports log/slog: stages are pure",
				"internal/recovery imports k8s.io/klog/v2: stages are pure",
			},
		},
		"a later stage": {
			"internal/plan", []string{"internal/fluxobjects"},
			[]string{"internal/plan imports internal/fluxobjects: it comes no earlier in the flow"},
		},
		"the operator and the generator stand side by side": {
			"internal/controller", []string{"internal/render"},
			[]string{"internal/controller imports internal/render: it comes no earlier in the flow"},
		},
		"the API knows nobody": {
			"api/v1alpha1", []string{"internal/plan"}, []string{"api/v1alpha1 imports internal/plan: it comes no earlier in the flow"},
		},
		"a test package in the product": {
			"cmd/sluice", []string{"test/cluster"}, []string{"cmd/sluice imports test/cluster: tests are no part of the product"},
		},
		"a package that nobody placed": {
			"internal/util", nil, []string{"internal/util has no place in the flow; give it one in test/imports"},
		},
		"a test may import anything": {"test/cluster", []string{"os", "k8s.io/client-go/rest"}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			got := check(pkg{path: c.path, imports: c.imports, documented: true})
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestUndocumented(t *testing.T) {
	want := []string{"test/cluster has no doc comment"}
	if got := check(pkg{path: "test/cluster"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestHelmInABinary(t *testing.T) {
	deps := []string{"fmt", "helm.sh/helm/v4/pkg/action", "k8s.io/kubernetes/pkg/apis/core", "github.com/fluxcd/helm-controller/api/v2"}
	want := []string{"the binaries contain helm.sh/helm/v4/pkg/action", "the binaries contain k8s.io/kubernetes/pkg/apis/core"}
	if got := checkDependencies(deps); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestStrangersAtTheTop(t *testing.T) {
	want := []string{"the top level has no assets", "the top level has no pkg"}
	if got := checkTopLevel([]string{".git", "api", "bin", "assets", "go.mod", "pkg"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestClockInAStage(t *testing.T) {
	source := "package p\nimport \"time\"\nvar a, b, c = time.Now(), metav1.Now(), time.Second\n"
	parsed, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"internal/recovery calls time.Now: time is an argument",
		"internal/recovery calls metav1.Now: time is an argument",
	}
	if got := clockCalls("internal/recovery", parsed); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q", got)
	}
	if got := clockCalls("internal/controller", parsed); got != nil {
		t.Errorf("the operator may: %q", got)
	}
}
