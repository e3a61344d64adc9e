// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// What the plan lets pass the API server takes, with room for what Flux reports; what is larger never gets that far.
func TestTheLargestValuesFitIntoAHelmRelease(t *testing.T) {
	w := newWorld(t)
	w.patchClass(`{"spec":{"values":null}}`)
	keys := &strings.Builder{}
	for i := range 41900 {
		fmt.Fprintf(keys, "k%05d: 1\n", i)
	}
	w.config("keys", "values.yaml", keys.String())
	w.config("text", "values.yaml", "a: "+strings.Repeat("x", 1<<20-100)+"\n")
	for _, name := range []string{"keys", "text"} {
		w.gateway(name, "configRef: {name: "+name+"}")
		hr := w.awaitRelease(name, "exists", nil)
		hr.Annotations["example.com/room"] = strings.Repeat("x", 200<<10)
		w.must(admin.Update(w.ctx, hr))
	}
	w.gateway("text", "configRef: {name: text}\nvalues: {more: "+strings.Repeat("x", 100)+"}")
	equal(t, "message", w.awaitReason("text", "Accepted", v1alpha1.ReasonInvalidSpec),
		"spec.values: the merged values take 1048622 bytes of the HelmRelease, and at most 1048576 are allowed"+
			" (ConfigMap/text values.yaml: 1048500, spec.values: 130); put large data into a ConfigMap or Secret that spec.valuesFrom names")
}
