// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/story"
)

func TestList(t *testing.T) {
	in := upgradeFails().input()
	gateways := []v1alpha1.APIGateway{*newScene().world.Gateway, *oldRuns().world.Gateway, *in.Gateway}
	const short = "the upgrade to chart version 1.2.0 (revision 6) failed and …"
	want := [][]any{
		{"orders", "-", "-", "-", "-", "-", "62m", ""},
		{"orders", "web", "True", "Ready", "1.1.0", "5", "62m", "chart gateway 1.1.0 is deployed as revision 5"},
		{"orders", "web", "False", "Degraded", "1.1.0", "7", "62m", short},
	}
	if got := rows(gateways, false, in); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	wide := rows(gateways[2:], true, in)
	if got := fmt.Sprint(wide[0][:10]); got != "[orders web False Degraded 1.1.0 7 62m web-451b482d 1 in 30s]" {
		t.Errorf("wide: %s", got)
	}
	if got := wide[0][10]; got != in.Gateway.Status.Conditions[3].Message {
		t.Errorf("the message of a wide table is %q", got)
	}
}

func rows(gateways []v1alpha1.APIGateway, wide bool, in story.Input) [][]any {
	var all [][]any
	for _, row := range story.List(gateways, wide, in.Now).Rows {
		all = append(all, row.Cells)
	}
	return all
}
