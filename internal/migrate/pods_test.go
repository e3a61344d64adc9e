// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Wherever a pod template shows the chart's version, its pods are replaced: Flux makes 1.2.0 to 1.2.0+<digest>.
func TestPodsThatTheChartsVersionReplaces(t *testing.T) {
	const workload = "---\nkind: Deployment\nmetadata: {name: web}\nspec: {template: "
	const none = "none is replaced for its chart's version alone"
	const digest = ", and Flux adds the chart's digest to that"
	for what, row := range map[string]struct{ manifest, app, want string }{
		"nothing shows it":                 {workload + "{metadata: {labels: {app: web}}, spec: {containers: [{image: 'web:1.1.0'}]}}}\n", "1.1.0", none},
		"the object alone":                 {"kind: Deployment\nmetadata: {name: web, labels: {helm.sh/chart: web-1.2.0}}\nspec: {template: {}}\n", "1.1.0", none},
		"a part of a longer version":       {workload + "{spec: {containers: [{image: 'web:11.2.0'}, {image: 'web:1.2.0.1'}]}}}\n", "1.1.0", none},
		"a label about the chart":          {workload + "{metadata: {labels: {app: web, helm.sh/chart: web-1.2.0}}}}\n", "1.2.0", "Deployment web: replaced, since their template has the chart's version in helm.sh/chart" + digest},
		"another label":                    {workload + "{metadata: {labels: {app.kubernetes.io/version: 1.2.0}}}}\n", "1.1.0", "Deployment web: replaced, since their template has the chart's version in app.kubernetes.io/version" + digest},
		"another label, or the app's":      {workload + "{metadata: {labels: {app.kubernetes.io/version: 1.2.0}}}}\n", "1.2.0", "Deployment web: replaced if the 1.2.0 of their template's app.kubernetes.io/version is the chart's version, which the app's is too" + digest},
		"an image, or the app's":           {workload + "{spec: {containers: [{image: 'web:v1.2.0'}]}}}\n", "v1.2.0", "Deployment web: replaced if the 1.2.0 of their template's spec.containers[0].image is the chart's version, which the app's is too" + digest},
		"a variable":                       {workload + "{spec: {containers: [{name: a}, {env: [{name: CHART, value: web-1.2.0}]}]}}}\n", "1.1.0", "Deployment web: replaced, since their template has the chart's version in spec.containers[1].env[0].value" + digest},
		"a chart without an app":           {workload + "{spec: {containers: [{image: 'web:1.2.0'}]}}}\n", "", "Deployment web: replaced, since their template has the chart's version in spec.containers[0].image" + digest},
		"a checksum over an object":        {"kind: ConfigMap\nmetadata: {name: web, labels: {helm.sh/chart: web-1.2.0}}\n" + workload + "{metadata: {annotations: {checksum/config: abc}}}}\n", "1.1.0", "Deployment web: replaced if their checksum/config is over ConfigMap web, which has the chart's version" + digest},
		"a checksum over another object":   {"kind: ConfigMap\nmetadata: {name: web, labels: {app: web}}\n" + workload + "{metadata: {annotations: {checksum/config: abc}}}}\n", "1.1.0", none},
		"jobs, which are no workload":      {"kind: Job\nmetadata: {name: web}\nspec: {template: {metadata: {labels: {helm.sh/chart: web-1.2.0}}}}\n", "1.1.0", none},
		"a manifest that cannot be read":   {"kind: [", "", "not known, since the release's manifest cannot be read: yaml: line 1: did not find expected node content"},
		"a release that had Flux's digest": {workload + "{metadata: {labels: {helm.sh/chart: web-1.2.0_abc}}}}\n", "", "Deployment web: replaced, since their template has the chart's version in helm.sh/chart" + digest},
	} {
		runs := &stored{Manifest: row.manifest}
		runs.Chart.Metadata.Version, runs.Chart.Metadata.AppVersion = "1.2.0", row.app
		require.Equal(t, []string{row.want}, podLines(runs), what)
	}
}

// What a file of the chart does not ask for, itself or by what it includes, does not change its pods.
func TestWhichFilesOfAChartAskForItsVersion(t *testing.T) {
	runs := &stored{}
	for name, text := range map[string]string{
		"templates/_names.tpl": `{{- define "web.name" }}{{ .Chart.Name }}{{ end }}
{{- define "web.labels" }}{{ include "web.chart" . }}{{ end -}}
{{ define "web.chart" }}helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}{{ end }}
{{ define "web.again" }}{{ template "web.again" . }}{{ end }}`,
		"templates/config.yaml":   `labels: {{ include "web.labels" . }}`,
		"templates/direct.yaml":   `{{ $.Chart.Version | quote }}`,
		"templates/checksum.yaml": `checksum/config: {{ include (print $.Template.BasePath "/config.yaml") . | sha256sum }}`,
		"templates/none.yaml":     `app: {{ include "web.name" . }}-{{ .Chart.AppVersion }} {{ include "web.again" . }}{{ include "of.a.dependency" . }}`,
	} {
		runs.Chart.Templates = append(runs.Chart.Templates, chartFile{Name: name, Data: []byte(text)})
	}
	for source, want := range map[string]bool{
		"templates/config.yaml": true, "templates/direct.yaml": true, "templates/checksum.yaml": true, "templates/none.yaml": false,
		"templates/unknown.yaml": true, "": true, "charts/db/templates/direct.yaml": false,
	} {
		require.Equal(t, want, asksForVersion(runs, source), source)
	}
	const shows = "spec: {template: {metadata: {labels: {version: 1.2.0}}}}\n"
	runs.Manifest = "---\n# Source: web/templates/none.yaml\nkind: Deployment\nmetadata: {name: none}\n" + shows +
		"---\n# Source: web/templates/direct.yaml\nkind: Deployment\nmetadata: {name: direct}\n" + shows
	runs.Chart.Metadata.Version = "1.2.0"
	require.Equal(t, []string{"Deployment direct: replaced, since their template has the chart's version in version, and Flux adds the chart's digest to that"},
		podLines(runs))
}
