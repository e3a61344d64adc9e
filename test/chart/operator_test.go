// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pmezard/go-difflib/difflib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/policy"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

var update = flag.Bool("update", false, "write testdata/operator anew")

func operatorChart(t *testing.T) string {
	t.Helper()
	return filepath.Join(repoRoot(t), "charts", "sluice")
}

// rendered are the operator's renders by their values: tests look at each from several sides.
var rendered sync.Map

// operator is what charts/sluice makes of the values, as release sluice in namespace sluice-system.
func operator(t *testing.T, values string) string {
	t.Helper()
	if known, ok := rendered.Load(values); ok {
		return known.(string)
	}
	stdout, stderr, err := templateOperator(t, values)
	require.NoError(t, err, stderr)
	rendered.Store(values, stdout)
	return stdout
}

func templateOperator(t *testing.T, values string) (stdout, stderr string, err error) {
	t.Helper()
	return helm(t, values, "template", "sluice", operatorChart(t), "--namespace", "sluice-system", "--values", "-")
}

// golden compares with a file of testdata/operator.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "operator", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestTheOperatorsObjectsAreTheseByDefault(t *testing.T) {
	golden(t, "default.yaml", operator(t, "{}"))
}

// operatorCases have every value of the chart at least once.
var operatorCases = []struct{ sentence, values string }{
	{"no replica", "replicaCount: 0"},
	{"an image of one's own", "image: {repository: registry.example.com/sluice, tag: v1, digest: sha256:" + sixtyFour + ", pullPolicy: Always}"},
	{"an image by its digest", "image: {digest: sha256:" + sixtyFour + "}"},
	{"a registry with a login", "imagePullSecrets: [{name: login}]"},
	{"more workers", "concurrent: 16"},
	{"two namespaces", "watchNamespaces: [orders, default]"},
	{"a shard", "watchLabelSelector: '!sharding.fluxcd.io/key'"},
	{"a name of its own", "{controllerName: example.com/edge, classes: {sluice: {enabled: true}}}"},
	{"a cluster's name", "clusterName: hub"},
	{"text that YAML has a meaning for", "{clusterName: 'eu: west #1', exposure: {externalCAIssuerName: 'a: b #c'}, priorityClassName: '1'}"},
	{"a namespace that reads like a number", "watchNamespaces: ['1234']"},
	{"routes", "exposure: {mode: route, externalCAIssuerName: letsencrypt}"},
	{"kinds to watch", "watchChildren: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: v1, kind: Endpoints, resource: endpoints}]"},
	{"kinds to watch in a namespace", "{watchChildren: [{apiVersion: v1, kind: Service}], watchNamespaces: [orders]}"},
	{"the log", "log: {level: debug, encoding: console}"},
	{"a class, changed", "classes: {sluice: {enabled: true, default: false, spec: {chart: {url: oci://registry.example.com/charts/gateway, ref: {semver: ~1.1.0}}}}}"},
	{"a class with nothing of its own", "classes: {sluice: {enabled: true, spec: null}}"},
	{"no aggregation", "aggregateRoles: false"},
	{"an annotated ServiceAccount", "serviceAccount: {annotations: {example.com/role: sluice}}"},
	{"no budget", "podDisruptionBudget: {enabled: false}"},
	{"a budget in percent", "podDisruptionBudget: {maxUnavailable: 50%}"},
	{"no NetworkPolicy", "networkPolicy: {enabled: false}"},
	{"metrics for some", "networkPolicy: {metricsFrom: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]}"},
	{"a ServiceMonitor", "serviceMonitor: {enabled: true}"},
	{"a ServiceMonitor, changed", "serviceMonitor: {enabled: true, interval: 1m30s, labels: {release: prometheus}}"},
	{"resources", "resources: {limits: {memory: 1Gi}, requests: {cpu: 1}}"},
	{"labels and annotations of pods", "{podLabels: {team: edge}, podAnnotations: {example.com/scrape: no-thanks}}"},
	{"nodes", "{nodeSelector: {pool: edge}, tolerations: [{key: edge, operator: Exists}], affinity: {nodeAffinity: {}}, priorityClassName: system-cluster-critical}"},
	{"pods anywhere", "topologySpreadConstraints: []"},
	{"pods over zones", "topologySpreadConstraints: [{maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}}]"},
}

const sixtyFour = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestEachValueOfTheOperatorsChartHasJustThisEffect(t *testing.T) {
	before := operatorObjects(t, "{}")
	var all strings.Builder
	for _, c := range operatorCases {
		changes := changesOf(t, before, operatorObjects(t, c.values))
		require.NotEmpty(t, changes, c.sentence)
		fmt.Fprintf(&all, "=== %s\n%s\n%s", c.sentence, c.values, changes)
	}
	golden(t, "values.txt", all.String())
}

// operatorObjects are the texts of what is rendered, by kind, namespace and name.
func operatorObjects(t *testing.T, values string) map[string]string {
	t.Helper()
	objects := map[string]string{}
	for _, doc := range operatorDocuments(t, values) {
		var o metav1.PartialObjectMetadata
		require.NoError(t, yaml.Unmarshal([]byte(doc), &o))
		name := strings.TrimSuffix(fmt.Sprint(o.Kind, " ", o.Namespace, "/", o.Name), "/")
		require.NotContains(t, objects, name, "it is there twice")
		objects[name] = strings.TrimSpace(doc) + "\n"
	}
	return objects
}

func changesOf(t *testing.T, before, after map[string]string) string {
	t.Helper()
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, ok := before[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var all strings.Builder
	for _, name := range names {
		switch was, is := before[name], after[name]; {
		case is == "":
			fmt.Fprintf(&all, "--- %s\n", name)
		case was == "":
			fmt.Fprintf(&all, "+++ %s\n%s", name, is)
		case was != is:
			changes, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{A: difflib.SplitLines(was), B: difflib.SplitLines(is), Context: 1})
			require.NoError(t, err)
			fmt.Fprintf(&all, "~~~ %s\n%s", name, regexp.MustCompile(`(?m)^@@.*$`).ReplaceAllString(changes, "@@"))
		}
	}
	return all.String()
}

// The kinds that are rendered are Kubernetes' own or Sluice's, and have no field that those do not know.
func TestTheOperatorsObjectsAreValid(t *testing.T) {
	known := map[string]func(string){
		"ServiceAccount":      func(doc string) { strictly[corev1.ServiceAccount](t, doc) },
		"Service":             func(doc string) { strictly[corev1.Service](t, doc) },
		"ClusterRole":         func(doc string) { strictly[rbacv1.ClusterRole](t, doc) },
		"ClusterRoleBinding":  func(doc string) { strictly[rbacv1.ClusterRoleBinding](t, doc) },
		"Role":                func(doc string) { strictly[rbacv1.Role](t, doc) },
		"RoleBinding":         func(doc string) { strictly[rbacv1.RoleBinding](t, doc) },
		"Deployment":          func(doc string) { strictly[appsv1.Deployment](t, doc) },
		"PodDisruptionBudget": func(doc string) { strictly[policyv1.PodDisruptionBudget](t, doc) },
		"NetworkPolicy":       func(doc string) { strictly[networkingv1.NetworkPolicy](t, doc) },
		"APIGatewayClass":     func(doc string) { strictly[v1alpha1.APIGatewayClass](t, doc) },
		"ServiceMonitor":      func(string) {}, // of another project
	}
	seen := map[string]bool{}
	for _, c := range operatorCases {
		for name, doc := range operatorObjects(t, c.values) {
			kind, _, _ := strings.Cut(name, " ")
			require.Contains(t, known, kind, doc)
			known[kind](doc)
			seen[kind] = true
		}
	}
	for kind := range known {
		assert.True(t, seen[kind], "no case has a %s", kind)
	}
}

func operatorDocuments(t *testing.T, values string) []string {
	t.Helper()
	all := regexp.MustCompile(`(?m)^---\n`).Split(operator(t, values), -1)
	return slices.DeleteFunc(all, func(doc string) bool { return strings.TrimSpace(doc) == "" })
}

func operatorDeployment(t *testing.T, values string) *appsv1.Deployment {
	t.Helper()
	for _, doc := range operatorDocuments(t, values) {
		if strings.Contains(doc, "\nkind: Deployment\n") {
			return strictly[appsv1.Deployment](t, doc)
		}
	}
	require.Fail(t, "no Deployment")
	return nil
}

// Flags are for values to set: one that no value reaches would be out of reach for whoever installs by the chart.
func TestEveryFlagOfTheOperatorIsReached(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repoRoot(t), "cmd", "sluice-controller", "main.go"))
	require.NoError(t, err)
	var has []string
	for _, m := range regexp.MustCompile(`f\.[A-Z][A-Za-z0-9]*Var\([^,]+, "([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
		has = append(has, "--"+m[1])
	}
	require.Contains(t, has, "--concurrent")
	var reached []string
	for _, c := range operatorCases {
		for _, arg := range operatorDeployment(t, c.values).Spec.Template.Spec.Containers[0].Args {
			name, _, _ := strings.Cut(arg, "=")
			if !slices.Contains(reached, name) {
				reached = append(reached, name)
			}
		}
	}
	assert.ElementsMatch(t, has, reached)
}

func TestTheOperatorsPodsPassRestrictedPodSecurity(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	for _, c := range operatorCases {
		pod := operatorDeployment(t, c.values).Spec.Template
		for _, result := range evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
			assert.True(t, result.Allowed, "%s: %s: %s", c.sentence, result.ForbiddenReason, result.ForbiddenDetail)
		}
		assert.Equal(t, ptr.To(true), pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem, c.sentence)
	}
}

// Flux appends a digest to the chart's version, and each chart would replace the pods were it in their template.
func TestTheOperatorsChartVersionLeavesNoTrace(t *testing.T) {
	other := filepath.Join(t.TempDir(), "sluice")
	require.NoError(t, os.CopyFS(other, os.DirFS(operatorChart(t))))
	file := filepath.Join(other, "Chart.yaml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	changed := regexp.MustCompile(`(?m)^version: .*$`).ReplaceAllString(string(text), "version: 9.8.7+7fff28b7a7a2")
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
	stdout, stderr, err := helm(t, "{}", "template", "sluice", other, "--namespace", "sluice-system", "--values", "-")
	require.NoError(t, err, stderr)
	assert.Equal(t, operator(t, "{}"), stdout)
}

// Each class is the catalogue's own: with nothing changed, the same object beside labels and annotations.
func TestTheOperatorsChartHasTheCataloguesClasses(t *testing.T) {
	for _, name := range []string{"sluice", "wso2", "openshell"} {
		text, err := os.ReadFile(filepath.Join(repoRoot(t), "flux", "classes", name+".yaml"))
		require.NoError(t, err)
		want := strictly[v1alpha1.APIGatewayClass](t, string(text))
		var found []*v1alpha1.APIGatewayClass
		for _, doc := range operatorDocuments(t, "classes: {"+name+": {enabled: true}}") {
			if strings.Contains(doc, "\nkind: APIGatewayClass\n") {
				found = append(found, strictly[v1alpha1.APIGatewayClass](t, doc))
			}
		}
		require.Len(t, found, 1, name)
		assert.Equal(t, want.Name, found[0].Name)
		assert.Equal(t, want.Spec, found[0].Spec)
		annotations := map[string]string{"helm.sh/resource-policy": "keep"}
		for key, value := range want.Annotations {
			annotations[key] = value
		}
		assert.Equal(t, annotations, found[0].Annotations, name)
	}
}

// operatorRefusals are what the schema refuses, in helm's words.
var operatorRefusals = map[string]struct{ values, want string }{
	"an unknown key at the top":        {`replicas: 3`, `at '': additional properties 'replicas' not allowed`},
	"an unknown key in a section":      {`image: {name: sluice}`, `at '/image': additional properties 'name' not allowed`},
	"an unknown class":                 {`classes: {kong: {enabled: true}}`, `at '/classes': additional properties 'kong' not allowed`},
	"an unknown key of a class":        {`classes: {wso2: {url: x}}`, `at '/classes/wso2': additional properties 'url' not allowed`},
	"an unknown key of a watched kind": {`watchChildren: [{apiVersion: v1, kind: Service, verbs: [get]}]`, `at '/watchChildren/0': additional properties 'verbs' not allowed`},
	"a Secret's name alone":            {`imagePullSecrets: [login]`, `at '/imagePullSecrets/0': got string, want object`},
	"no workers":                       {`concurrent: 0`, `at '/concurrent': minimum: got 0, want 1`},
	"fewer than no replicas":           {`replicaCount: -1`, `at '/replicaCount': minimum: got -1, want 0`},
	"a mode that is not there":         {`exposure: {mode: ingress}`, `at '/exposure/mode': value must be one of '', 'none', 'gateway-api', 'route', 'auto'`},
	"a level that is not there":        {`log: {level: warn}`, `at '/log/level': value must be one of 'debug', 'info', 'error'`},
	"an encoding that is not there":    {`log: {encoding: text}`, `at '/log/encoding': value must be one of 'json', 'console'`},
	"a policy that is not there":       {`image: {pullPolicy: Sometimes}`, `at '/image/pullPolicy': value must be one of 'Always', 'IfNotPresent', 'Never'`},
	"a tag as digest":                  {`image: {digest: v1}`, `at '/image/digest': 'v1' does not match pattern '^(sha256:[0-9a-f]{64})?$'`},
	"a namespace that cannot be":       {`watchNamespaces: [Orders]`, `at '/watchNamespaces/0': 'Orders' does not match pattern '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'`},
	"a namespace given twice":          {`watchNamespaces: [a, a]`, `at '/watchNamespaces': items at 0 and 1 are equal`},
	"namespaces in one text":           {`watchNamespaces: a,b`, `at '/watchNamespaces': got string, want array`},
	"a controllerName without a slash": {`controllerName: edge`, `at '/controllerName': 'edge' does not match pattern '^([-a-z0-9.]+/[-a-zA-Z0-9/._~]+)?$'`},
	"a budget that is no share":        {`podDisruptionBudget: {maxUnavailable: half}`, `at '/podDisruptionBudget/maxUnavailable': 'half' does not match pattern '^[0-9]+%$'`},
	"an interval without a unit":       {`serviceMonitor: {interval: "30"}`, `at '/serviceMonitor/interval': '30' does not match pattern '^([0-9]+(ms|s|m|h))*$'`},
	"a label that is a number":         {`podLabels: {version: 1}`, `at '/podLabels/version': got number, want string`},
}

func TestTheOperatorsSchemaRefuses(t *testing.T) {
	t.Parallel()
	for sentence, c := range operatorRefusals {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, err := templateOperator(t, c.values)
			require.Error(t, err, stdout)
			var said []string
			for _, line := range strings.Split(stderr, "\n") {
				if fault, ok := strings.CutPrefix(line, "- "); ok {
					said = append(said, fault)
				}
			}
			assert.Equal(t, []string{c.want}, said, stderr)
		})
	}
}

func TestAReleaseAndItsNamespaceMayReadLikeNumbers(t *testing.T) {
	stdout, stderr, err := helm(t, "serviceMonitor: {enabled: true}", "template", "123", operatorChart(t), "--namespace", "456", "--values", "-")
	require.NoError(t, err, stderr)
	number := regexp.MustCompile(`(?m)^.*: (123|456)$`)
	assert.Empty(t, number.FindAllString(stdout, -1))
	assert.Contains(t, stdout, `  namespace: "456"`)
	assert.Contains(t, stdout, `    app.kubernetes.io/instance: "123"`)
}

func TestValuesThatDoNotGoTogetherAreRefusedByTheOperatorsChart(t *testing.T) {
	for values, want := range map[string]string{
		"classes: {sluice: {enabled: true}, wso2: {enabled: true, default: true}}": "classes: sluice, wso2 are all the default class; set default: false for all but one",
		"exposure: {mode: route}":                                              "exposure.mode is route, which needs exposure.externalCAIssuerName: the issuer of certificates",
		"podLabels: {app.kubernetes.io/name: x}":                               "podLabels: app.kubernetes.io/name is set by the chart; remove it",
		"serviceMonitor: {enabled: true, labels: {app.kubernetes.io/name: x}}": "serviceMonitor.labels: app.kubernetes.io/name is set by the chart; remove it",
	} {
		_, stderr, err := templateOperator(t, values)
		require.Error(t, err)
		assert.Contains(t, stderr, want)
	}
}

// A key that is in one of the two and not in the other is refused, or not to be found.
func TestTheOperatorsValuesFileShowsEveryKeyOfItsSchema(t *testing.T) {
	root := &schema{}
	readInto(t, filepath.Join(operatorChart(t), "values.schema.json"), root)
	values := map[string]any{}
	readInto(t, filepath.Join(operatorChart(t), "values.yaml"), &values)
	for _, path := range root.leaves(root, "") {
		if _, found := lookup(values, path); !found && path != "global" {
			t.Errorf("values.yaml lacks %s", path)
		}
	}
	for name, object := range allObjects(root) {
		assert.Equal(t, "false", string(object.AdditionalProperties), name)
	}
}

func readInto(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, into))
}

func TestTheOperatorsNotesTellOfClassesAndCRDs(t *testing.T) {
	for values, want := range map[string]string{
		"{}": "Sluice serves the APIGateways of all namespaces.\n\nNo class is installed: make an APIGatewayClass, or set classes.sluice.enabled.\n\nHelm does not upgrade CRDs.",
		"{watchNamespaces: [a], watchLabelSelector: team in (shop)}": "Sluice serves the APIGateways of the namespaces a that match team in (shop).\n\nNo class",
		"{watchNamespaces: [a, b], classes: {sluice: {enabled: true}, wso2: {enabled: true}}}": "Sluice serves the APIGateways of the namespaces a, b.\n\n" +
			"Classes installed: sluice, wso2. They stay when the operator is uninstalled, as its CRDs do.\n\nHelm does not upgrade CRDs.",
	} {
		stdout, stderr, err := helm(t, values, "install", "sluice", operatorChart(t), "--namespace", "sluice-system", "--dry-run=client", "--values", "-")
		require.NoError(t, err, stderr)
		assert.Contains(t, stdout, want)
	}
}

func TestHelmHasNothingAgainstTheOperatorsChart(t *testing.T) {
	stdout, stderr, err := helm(t, "", "lint", "--strict", operatorChart(t))
	require.NoError(t, err, stdout+stderr)
}
