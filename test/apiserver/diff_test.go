// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"regexp"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/cli"
)

// What `sluice diff --against=cluster` shows is what the operator then does, and the dry run leaves no trace.
func TestDiffAgainstTheClusterTellsWhatTheOperatorWillDo(t *testing.T) {
	w := newWorld(t)
	w.gateway("web", "infrastructure: {replicas: 1}\nvalues: {a: {b: null, c: 1}}")
	before := w.awaitRelease("web", "exists", nil)
	w.diff(0, "", "web", "infrastructure: {replicas: 1}\nvalues: {a: {b: null, c: 1}}")

	const changed = "infrastructure: {replicas: 2}\nvalues: {a: {b: null}}\nrelease: {timeout: 6m}"
	w.diff(1, `--- HelmRelease NS/web
+++ HelmRelease NS/web
@@ -25,7 +25,7 @@
   releaseName: web
   storageNamespace: NS
   targetNamespace: NS
-  timeout: 5m0s
+  timeout: 6m0s
   upgrade:
     chartNameChangeStrategy: InPlaceUpdate
     crds: CreateReplace
@@ -37,9 +37,8 @@
   values:
     a:
       b: null
-      c: 1
     deployment:
-      replicaCount: 1
+      replicaCount: 2
     platform:
       team: edge
       unset: null
`, "web", changed)
	equal(t, "resourceVersion after dry runs", w.release("web").ResourceVersion, before.ResourceVersion)

	w.gateway("web", changed)
	w.awaitRelease("web", "is changed", func(hr *helmv2.HelmRelease) bool { return hr.Spec.Timeout.Minutes() == 6 })
	w.diff(0, "", "web", changed)

	// People's own suspension is none of the operator's business, and no difference.
	w.patch(&helmv2.HelmRelease{}, "web", `{"spec":{"suspend":true},"metadata":{"labels":{"team":"edge"}}}`)
	w.diff(0, "", "web", changed)
	w.diff(1, `--- HelmRelease NS/web
+++ HelmRelease NS/web
@@ -25,7 +25,6 @@
   maxHistory: 5
   releaseName: web
   storageNamespace: NS
-  suspend: true
   targetNamespace: NS
   timeout: 6m0s
   upgrade:
`, "web", changed+"\nsuspend: false")
}

func TestDiffAgainstTheClusterShowsWhatIsNew(t *testing.T) {
	w := newWorld(t)
	_, out, _ := w.run("web", "chart: {tag: 9.9.9}")
	var heads []string
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ ") || strings.Contains(line, "9.9.9") {
			heads = append(heads, strings.TrimSpace(line))
		}
	}
	equal(t, "heads", strings.Join(heads, "\n"), "--- /dev/null\n+++ OCIRepository NS/NS-HASH\n+    tag: 9.9.9\n--- /dev/null\n+++ HelmRelease NS/web")
	equal(t, "made", len(w.sources())+len(w.releases()), 0)
}

// diff compares a gateway of the world's class with the cluster.
func (w *world) diff(code int, want, name, spec string) {
	w.Helper()
	got, out, errs := w.run(name, spec)
	equal(w.T, "stderr", errs, "")
	equal(w.T, "stdout", out, want)
	equal(w.T, "exit code", got, code)
}

// run is diff's exit code and outputs, with the world's names as NS.
func (w *world) run(name, spec string) (code int, stdout, stderr string) {
	w.Helper()
	class := &v1alpha1.APIGatewayClass{}
	w.must(admin.Get(w.ctx, types.NamespacedName{Name: w.class}, class))
	class.ManagedFields = nil
	class.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.APIGatewayClassKind))
	text, err := yaml.Marshal(class)
	w.must(err)
	in := string(text) + "---\n" + manifest(w.ns, name, "className: "+w.class+"\n"+spec)
	var out, errs strings.Builder
	code = cli.Run([]string{"sluice", "diff", "-f", "-", "--against=cluster", "--kubeconfig", env.Kubeconfig()},
		cli.Streams{In: strings.NewReader(in), Out: &out, Err: &errs}, "v1.2.3")
	return code, w.anonymous(out.String()), w.anonymous(errs.String())
}

var sourceHash = regexp.MustCompile(`NS-[0-9a-f]{8}`)

func (w *world) anonymous(text string) string {
	return sourceHash.ReplaceAllString(strings.ReplaceAll(text, w.ns, "NS"), "NS-HASH")
}
