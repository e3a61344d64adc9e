// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sluice-gateway/sluice/internal/plan"
)

func TestWhatCannotBeReadChangesNothing(t *testing.T) {
	certs, metrics := schema.GroupVersion{Group: "cert-manager.io", Version: "v1"}, schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1"}
	kinds := func(gv schema.GroupVersion, kind string) []string {
		return []string{gv.String(), gv.String() + "/" + kind}
	}
	broken := errors.New("no answer")
	e := &environment{}
	for _, step := range []struct {
		what     string
		served   map[string][]string
		failures map[schema.GroupVersion]error
		want     plan.APIs
		changed  bool
	}{
		{
			"the first look, with a group that does not answer",
			map[string][]string{certs.String(): kinds(certs, "Certificate")}, map[schema.GroupVersion]error{metrics: broken},
			plan.ServedAPIs(kinds(certs, "Certificate")).Except(metrics.String(), "no answer"), true,
		},
		{
			"the same again",
			map[string][]string{certs.String(): kinds(certs, "Certificate")}, map[schema.GroupVersion]error{metrics: broken},
			plan.ServedAPIs(kinds(certs, "Certificate")).Except(metrics.String(), "no answer"), false,
		},
		{
			"it answers",
			map[string][]string{certs.String(): kinds(certs, "Certificate"), metrics.String(): kinds(metrics, "Pods")}, nil,
			plan.ServedAPIs(append(kinds(certs, "Certificate"), kinds(metrics, "Pods")...)), true,
		},
		{
			"then both do not: what was known stays",
			map[string][]string{}, map[schema.GroupVersion]error{metrics: broken, certs: broken},
			plan.ServedAPIs(append(kinds(certs, "Certificate"), kinds(metrics, "Pods")...)), false,
		},
		{
			"one is gone, which is not believed yet",
			map[string][]string{metrics.String(): kinds(metrics, "Pods")}, nil,
			plan.ServedAPIs(append(kinds(certs, "Certificate"), kinds(metrics, "Pods")...)), false,
		},
		{
			"and is back",
			map[string][]string{certs.String(): kinds(certs, "Certificate"), metrics.String(): kinds(metrics, "Pods")}, nil,
			plan.ServedAPIs(append(kinds(certs, "Certificate"), kinds(metrics, "Pods")...)), false,
		},
		{
			"it is gone again",
			map[string][]string{metrics.String(): kinds(metrics, "Pods")}, nil,
			plan.ServedAPIs(append(kinds(certs, "Certificate"), kinds(metrics, "Pods")...)), false,
		},
		{
			"and stays so",
			map[string][]string{metrics.String(): kinds(metrics, "Pods")}, nil,
			plan.ServedAPIs(kinds(metrics, "Pods")), true,
		},
	} {
		if changed := e.learn(step.served, step.failures); changed != step.changed {
			t.Errorf("%s: changed is %t", step.what, changed)
		}
		if got := e.current().APIs; !reflect.DeepEqual(got, step.want) {
			t.Errorf("%s:\n got %v\nwant %v", step.what, got, step.want)
		}
	}
}
