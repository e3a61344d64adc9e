// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What {"a":"…"} takes beside its text: the JSON, and the note of its key with that of the whole.
const besideText = len(`{"a":""}`) + len(`".":{},`) + len(`"f:a":{},`)

func TestValuesThatAHelmReleaseCannotHoldAreRefused(t *testing.T) {
	const advice = "; put large data into a ConfigMap or Secret that spec.valuesFrom names"
	text := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct{ class, gateway, config, want string }{
		"at the limit": {"{}", "spec: {values: {a: " + text(maxValues-besideText) + "}}", "", ""},
		"one more": {"{}", "spec: {values: {a: " + text(maxValues-besideText+1) + "}}", "",
			"take 1048577 bytes of the HelmRelease, and at most 1048576 are allowed (spec.values: 1048577)" + advice},
		"what is escaped": {"{}", "spec: {values: {a: '" + strings.Repeat("<", maxValues/6) + "'}}", "",
			"take 1048596 bytes of the HelmRelease, and at most 1048576 are allowed (spec.values: 1048596)" + advice},
		"layers that are small alone": {
			"spec: {values: {class: " + text(400000) + "}}", "spec: {configRef: {name: orders-values}, values: {mine: " + text(300000) + "}}", "config: " + text(400000) + "\n",
			"take 1100080 bytes of the HelmRelease, and at most 1048576 are allowed" +
				" (APIGatewayClass/wso2: 400032, ConfigMap/orders-values values.yaml: 400034, spec.values: 300030)" + advice},
		"a layer that replaces another": {
			"spec: {values: {a: " + text(600000) + "}}", "spec: {values: {a: " + text(600000) + "}}", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, c.class, c.gateway)
			if c.config != "" {
				in.Config = aConfig(c.config)
			}
			var want []string
			if c.want != "" {
				want = []string{"InvalidSpec spec.values: the merged values " + c.want}
			}
			require.Equal(t, want, refusal(t, in))
		})
	}
}

// Many small keys take more than their text.
func TestKeysCountTwice(t *testing.T) {
	var keys strings.Builder
	for i := range 60000 {
		fmt.Fprintf(&keys, "k%05d: 1\n", i)
	}
	in := input(t, "{}", withConfig)
	in.Config = aConfig(keys.String())
	require.Equal(t, []string{"InvalidSpec spec.values: the merged values take 1500008 bytes of the HelmRelease, and at most 1048576 are allowed" +
		" (ConfigMap/orders-values values.yaml: 1500008); put large data into a ConfigMap or Secret that spec.valuesFrom names"}, refusal(t, in))
}

// The short way must not pass what the long way refuses.
func TestNothingGrowsMoreThanIsAllowedFor(t *testing.T) {
	for _, values := range []map[string]any{{"": map[string]any{}}, {"": ""}, {"<": "<"}, {"<": map[string]any{"&": map[string]any{"": nil}}}, {"": map[string]any{"": map[string]any{"": map[string]any{}}}}} {
		require.LessOrEqual(t, storedSize(values), mostGrowth*len(encode(values)))
	}
}
