// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"testing"
)

// A class that was read for one gateway serves the next as if it were read anew, sound or not.
func TestReadingsChangeNothing(t *testing.T) {
	const class = "spec:\n  values: {a: {b: 1}}\n  valueMappings:\n" +
		"  - {field: infrastructure.replicas, paths: [a.c], whenSet: {d: {e: 1}}}\n" +
		"  - {field: exposure.serviceType, paths: [f], whenSet: {d: {g: 2}}}\n"
	gateways := []string{
		"spec: {infrastructure: {replicas: 3}, exposure: {serviceType: LoadBalancer}, values: {d: {e: 5}, a: {b: null}}}",
		"spec: {infrastructure: {replicas: 4}}",
		"spec: {storage: {type: sqlite}}",
		"spec: {}",
	}
	for _, class := range []string{class, class + "  - {field: infrastructure.replicas, paths: [h]}\n"} {
		first := input(t, class, gateways[0])
		readings := Readings{}
		for _, gateway := range gateways {
			in := input(t, class, gateway)
			in.Classes = first.Classes
			want, wantErr := Make(in)
			in.Readings = readings
			got, gotErr := Make(in)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(gotErr, wantErr) {
				t.Errorf("%s: got %v, %v\nwant %v, %v", gateway, got, gotErr, want, wantErr)
			}
		}
		if len(readings) != 1 {
			t.Errorf("%d classes were read", len(readings))
		}
	}
}
