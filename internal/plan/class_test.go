// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

func TestFindingTheClass(t *testing.T) {
	plain := func(name string) v1alpha1.APIGatewayClass {
		class := aClass(t, "{}")
		class.Name, class.Annotations = name, nil
		return class
	}
	byDefault := func(name string) v1alpha1.APIGatewayClass {
		class := aClass(t, "{}")
		class.Name = name
		return class
	}
	for name, c := range map[string]struct {
		classes []v1alpha1.APIGatewayClass
		gateway string
		want    string
		refused []string
	}{
		"the named one, whatever the default": {
			classes: []v1alpha1.APIGatewayClass{byDefault("a"), plain("b")},
			gateway: "spec: {className: b}",
			want:    "b",
		},
		"the named one, whatever served before": {
			classes: []v1alpha1.APIGatewayClass{plain("a"), plain("b")},
			gateway: "{spec: {className: b}, status: {className: a, conditions: [{type: Accepted, status: 'True'}], release: {name: x, namespace: y}}}",
			want:    "b",
		},
		"the default": {
			classes: []v1alpha1.APIGatewayClass{plain("a"), byDefault("b")},
			want:    "b",
		},
		"the one that serves an accepted gateway, though the default moved": {
			classes: []v1alpha1.APIGatewayClass{byDefault("a"), plain("b")},
			gateway: "status: {className: b, conditions: [{type: Accepted, status: 'True'}]}",
			want:    "b",
		},
		"the one that serves an accepted gateway, though there are two defaults": {
			classes: []v1alpha1.APIGatewayClass{byDefault("a"), plain("b"), byDefault("c")},
			gateway: "status: {className: b, conditions: [{type: Accepted, status: 'True'}]}",
			want:    "b",
		},
		"the one that a release runs on, though a later edit was not accepted": {
			classes: []v1alpha1.APIGatewayClass{byDefault("a"), plain("b")},
			gateway: "status: {className: b, conditions: [{type: Accepted, status: 'False'}], release: {name: x, namespace: y}}",
			want:    "b",
		},
		"the default, where the class of status never accepted the gateway": {
			classes: []v1alpha1.APIGatewayClass{byDefault("a"), plain("b")},
			gateway: "status: {className: b, conditions: [{type: Accepted, status: 'False'}]}",
			want:    "a",
		},
		"the default, where the class of status is gone and nothing runs": {
			classes: []v1alpha1.APIGatewayClass{byDefault("a")},
			gateway: "status: {className: b, conditions: [{type: Accepted, status: 'True'}]}",
			want:    "a",
		},
		"none, where the class that a release runs on is gone": {
			classes: []v1alpha1.APIGatewayClass{byDefault("a")},
			gateway: "status: {className: b, conditions: [{type: Accepted, status: 'True'}], release: {name: x, namespace: y}}",
			refused: []string{"ClassNotFound spec.className: the APIGatewayClass b, which this gateway runs on, is gone; create it again, or name one of: a"},
		},
		"none, where the named one is not there": {
			classes: []v1alpha1.APIGatewayClass{plain("b"), byDefault("a")},
			gateway: "spec: {className: c}",
			refused: []string{"ClassNotFound spec.className: there is no APIGatewayClass c; name one of: a, b"},
		},
		"none, where no default is": {
			classes: []v1alpha1.APIGatewayClass{plain("b"), plain("a")},
			refused: []string{`ClassNotFound spec.className: no class is named and no APIGatewayClass carries the annotation gateway.sluice.dev/is-default-class: "true"; name one of: a, b`},
		},
		"none, where two defaults are": {
			classes: []v1alpha1.APIGatewayClass{byDefault("b"), byDefault("a"), plain("c")},
			refused: []string{`ClassNotFound spec.className: no class is named and 2 APIGatewayClasses carry the annotation gateway.sluice.dev/is-default-class: "true"; name one of: a, b`},
		},
		"none, where no class is": {
			refused: []string{`ClassNotFound spec.className: no class is named and there is no APIGatewayClass; create one`},
		},
		"none, where no class is and one is named": {
			gateway: "spec: {className: c}",
			refused: []string{`ClassNotFound spec.className: there is no APIGatewayClass c, nor any other; create it`},
		},
		"none, and what else is wrong with the gateway": {
			classes: []v1alpha1.APIGatewayClass{plain("a")},
			gateway: "spec: {className: c, chart: {tag: '1', semver: '1', digest: 'sha256:0'}, deletionPolicy: Keep}",
			refused: []string{
				"ClassNotFound spec.className: there is no APIGatewayClass c; name one of: a",
				"InvalidSpec spec.chart: tag, semver and digest are all set; set at most one of them",
				`InvalidSpec spec.chart.digest: "sha256:0" is not a digest; write sha256:<64 lowercase hex digits>`,
				`InvalidSpec spec.deletionPolicy: "Keep" is not one of "Delete", "Orphan"`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Gateway: aGateway(t, c.gateway), Classes: c.classes}
			require.Equal(t, c.refused, refusal(t, in))
			if c.refused == nil {
				require.Equal(t, c.want, made(t, in).ClassName)
			}
		})
	}
}

func TestAnAnnotationOtherThanTrueMakesNoDefault(t *testing.T) {
	in := input(t, "metadata: {annotations: {gateway.sluice.dev/is-default-class: 'yes'}}", "{}")
	require.Equal(t, []string{
		`ClassNotFound spec.className: no class is named and no APIGatewayClass carries the annotation gateway.sluice.dev/is-default-class: "true"; name one of: wso2`,
	}, refusal(t, in))
}

func TestAFaultyClassRefusesItsGatewaysByName(t *testing.T) {
	in := input(t, "spec: {chart: {ref: {semver: '1'}, namespace: Charts}}", "spec: {chart: {tag: a b}}")
	require.Equal(t, []string{
		"ClassNotAccepted APIGatewayClass/wso2 spec.chart.ref: tag and semver are both set; set exactly one of tag, semver and digest",
		`ClassNotAccepted APIGatewayClass/wso2 spec.chart.namespace: "Charts" is not a name: lowercase letters, digits and -, with a letter or digit at both ends`,
		`InvalidSpec spec.chart.tag: "a b" is not a tag: letters, digits, _, . and -, at most 128`,
	}, refusal(t, in))
}

// A refusal tells by which class, so that the status can say so of a gateway that names none.
func TestTheClassThatARefusalWasJudgedBy(t *testing.T) {
	for name, c := range map[string]struct {
		gateway string
		want    string
	}{
		"its ConfigMap is missing": {"spec: {configRef: {name: missing}}", "a"},
		"there is no such class":   {"spec: {className: c}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			class := aClass(t, "{}")
			class.Name = "a"
			_, err := Make(Input{Gateway: aGateway(t, c.gateway), Classes: []v1alpha1.APIGatewayClass{class}})
			var refused *Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, c.want, refused.ClassName)
		})
	}
}
