// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
)

// metadataKeys are keys of every form; which of them Kubernetes takes, its own code says.
var metadataKeys = []string{
	"a", "A1", "1", "a.b_c-d", strings.Repeat("n", 63), strings.Repeat("n", 64), "example.com/a", "a/b", "Example.com/a", "a..b/c", "-a/b",
	"a/b/c", "/a", "a/", "/", "a b", "a:b", "-a", "a-", "ä", "a\nb", "a$",
	strings.Repeat("p.", 126) + "p/a", strings.Repeat("p.", 127) + "p/a",
}

const keyForm = "write name or domain/name, the name of at most 63 letters, digits, -, _ and . between a letter or digit at either end"

func TestAKeyThatKubernetesRefusesIsRefused(t *testing.T) {
	t.Parallel()
	for path, what := range map[string]string{
		"commonLabels": "a label", "podLabels": "a label", "nodeSelector": "a label",
		"commonAnnotations": "an annotation", "podAnnotations": "an annotation", "service.annotations": "an annotation", "serviceAccount.annotations": "an annotation",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			all := map[string]any{}
			var want []string
			for _, key := range metadataKeys {
				all[key] = "x"
				// Of an annotation, capital letters are allowed in the domain too.
				judged := key
				if what == "an annotation" {
					judged = strings.ToLower(key)
				}
				if len(validation.IsQualifiedName(judged)) > 0 {
					want = append(want, fmt.Sprintf("%s: %q is not the key of %s; %s", path, key, what, keyForm))
				}
			}
			require.NotEmpty(t, want)
			assert.ElementsMatch(t, want, faults(refusal(t, text(t, nest(path, all)))))
		})
	}
}

func TestAValueThatNoLabelMayHaveIsRefused(t *testing.T) {
	t.Parallel()
	const pattern = `^([a-zA-Z0-9]([-._a-zA-Z0-9]*[a-zA-Z0-9])?)?$`
	for _, path := range []string{"commonLabels", "podLabels", "nodeSelector"} {
		for value, want := range map[string]string{
			"": "", "a": "", "A.b_c-1": "", strings.Repeat("v", 63): "",
			strings.Repeat("v", 64): "maxLength: got 64, want 63",
			"a b":                   "'a b' does not match pattern '" + pattern + "'",
			"-a":                    "'-a' does not match pattern '" + pattern + "'",
			"a/b":                   "'a/b' does not match pattern '" + pattern + "'",
		} {
			require.Equal(t, want == "", len(validation.IsValidLabelValue(value)) == 0, value)
			values := text(t, nest(path, map[string]any{"key": value}))
			if want == "" {
				render(t, values)
				continue
			}
			assert.Equal(t, []string{"at '/" + path + "/key': " + want}, faults(refusal(t, values)))
		}
	}
}

func TestAClassOfLoadBalancersIsAKeyToo(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{`service.loadBalancerClass: "my class" is no class; ` + keyForm},
		faults(refusal(t, "service: {type: LoadBalancer, loadBalancerClass: my class}")))
}

// A Service's name begins with a letter, that of a release need not.
func TestAReleaseThatGivesTheServiceNoNameIsTold(t *testing.T) {
	t.Parallel()
	asRelease := func(name, values string) (stderr string, err error) {
		_, stderr, err = helm(t, values, "template", name, chartDir(t), "--values", "-")
		return stderr, err
	}
	for name, c := range map[string]struct{ values, fullname string }{
		"1web":                        {"", "1web-gateway"},
		"2gateway":                    {"", "2gateway"},
		"3.web":                       {"", "3-web-gateway"},
		"x" + strings.Repeat("y", 52): {"nameOverride: abcdefg--h", "x" + strings.Repeat("y", 52) + "-abcdefg-"},
	} {
		stderr, err := asRelease(name, c.values)
		require.Error(t, err, name)
		assert.Equal(t, []string{"fullnameOverride: must be set, since the Service would be named " + c.fullname +
			", and its name must begin with a letter and end in a letter or digit"}, faults(stderr))
		stderr, err = asRelease(name, c.values+"\nfullnameOverride: web")
		require.NoError(t, err, stderr)
	}
}
