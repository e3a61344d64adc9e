// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
	"github.com/sluice-gateway/sluice/internal/gatewaystatus"
	"github.com/sluice-gateway/sluice/internal/story"
)

var update = flag.Bool("update", false, "write the stories of testdata anew")

func deleted(in *gatewaystatus.Input) {
	now := flux.At(0)
	in.Plan, in.Desired, in.Gateway.DeletionTimestamp = nil, nil, &now
}

func suspend(yes bool) func(*gatewaystatus.Input) {
	return func(in *gatewaystatus.Input) { in.Gateway.Spec.Suspend = &yes }
}

// scenes are by the sentence that names their golden file.
var scenes = map[string]*scene{
	"new":                 newScene(),
	"the chart is pulled": newScene().then(wants("1.2.0"), source(flux.NewSource()), release(1)),
	"it is being installed": newScene().then(wants("1.2.0"), source(flux.ReadySource()), release(1, flux.Attempted(1), flux.Observed(-1),
		flux.Reconciling(flux.RunningInstall), flux.Ready("Unknown", "Progressing", flux.RunningInstall))).
		with(objects(service, waitingDeployment), pods(unready("orders-1", "waiting: {reason: ContainerCreating}", ""))),
	"ready": oldRuns().with(objects(service, readyDeployment), pods(readyPod),
		event(3, "APIGateway", "orders", "Normal", "Ready", "chart gateway 1.1.0 is deployed as revision 5")),
	"ready, and a pod has no memory": oldRuns().with(objects(service, waitingDeployment), pods(readyPod,
		unready("orders-2", `waiting: {reason: CrashLoopBackOff, message: back-off 5m0s restarting failed container}`,
			`, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}`))),
	"ready, and three pods fit nowhere": oldRuns().with(pods(unscheduled("orders-2"), unscheduled("orders-3"), unscheduled("orders-4"))),
	"ready, and an object is gone": oldRuns().with(objects(readyDeployment), pods(readyPod), func(in *story.Input) {
		in.Objects = append(in.Objects, story.Live{Kind: "Service", Namespace: "apis", Name: "orders"},
			story.Live{Kind: "Secret", Namespace: "apis", Name: "orders", Unread: `secrets "orders" is forbidden: User "jo" cannot get resource "secrets"`})
	}),
	"ready, and the registry is gone": oldRuns().then(source(lostSource)),
	"ready, and drifted":              oldRuns().then(release(1, oldDeployed, flux.Condition("Drifted", "True", "DriftDetected", "Cluster state of release apis/orders.v5 has drifted: Deployment/apis/orders changed"))),
	"ready, and suspended by hand":    oldRuns().then(release(1, oldDeployed, flux.Suspended)),
	"rolled back": upgradeFails().with(objects(service, readyDeployment), pods(readyPod),
		event(9, "HelmRelease", "orders", "Warning", "UpgradeFailed", "Helm upgrade failed for release apis/orders: timeout"),
		event(5, "Pod", "orders-7f", "Warning", "Failed", `Failed to pull image "registry.example.com/web:broken": not found`),
		event(2, "Pod", "orders-8f", "Warning", "Failed", `Failed to pull image "registry.example.com/web:broken": not found`)),
	"given up": upgradeFails().then(release(2, rolledBack, func(hr *helmv2.HelmRelease) { hr.Status.LastHandledForceAt = "again" })),
	"a failed install": newScene().then(wants("1.2.0"), source(flux.ReadySource()), release(1, installFailed)).with(
		func(in *story.Input) { in.Objects = []story.Live{{Kind: "Service", Namespace: "apis", Name: "orders"}} },
		event(5, "Pod", "orders-7f", "Warning", "FailedScheduling", "0/3 nodes are available")),
	"a failed install whose pods are refused": newScene().then(wants("1.2.0"), source(flux.ReadySource()), release(1, installFailed)).with(
		event(9, "ReplicaSet", "orders-7f", "Warning", "FailedCreate", `Error creating: pods "orders-7f-x2" is forbidden: exceeded quota: small`),
		event(5, "ReplicaSet", "orders-7f", "Warning", "FailedCreate", `(combined from similar events): Error creating: pods "orders-7f-y3" is forbidden: exceeded quota: small`)),
	"a template does not render":  unrendered(),
	"a chart that does not exist": oldRuns().then(wants("1.2.0"), source(flux.FailedSource())),
	"stuck in git": oldRuns().look(appliedByTeam).with(kustomization("False", "ReconciliationFailed",
		`APIGateway/apis/orders dry-run failed (BadRequest): .spec.replica: field not declared in schema`)),
	"failed, and the correction is stuck in git": upgradeFails().look(appliedByTeam).with(
		kustomization("False", "BuildFailed", "kustomize build failed: accumulating resources")),
	"git waits for the gateway": upgradeFails().look(appliedByTeam).with(
		kustomization("False", "HealthCheckFailed", "health check failed after 30s: failed early due to stalled resources: [APIGateway/apis/orders status: 'Failed']")),
	"git is held up": oldRuns().look(appliedByTeam).with(
		kustomization("Unknown", "Progressing", "Reconciliation in progress"), gitHas(newCommit),
		refusedCommit(newCommit, "ReconciliationFailed", "timeout waiting for: [APIGatewayClass/web status: 'Terminating']")),
	"git is at work": oldRuns().look(appliedByTeam).with(kustomization("Unknown", "Progressing", "Reconciliation in progress")),
	"git may not be read": oldRuns().look(appliedByTeam).with(
		gap("Kustomization flux-system/team", `kustomizations.kustomize.toolkit.fluxcd.io "team" is forbidden: User "jo" cannot get resource "kustomizations"`)),
	"refused": oldRuns().then(refused("UnmappedField", "spec.controlPlane.host", "class web does not map this field")),
	"a ConfigMap is missing": newScene().then(func(in *gatewaystatus.Input) { in.Gateway.Spec.ConfigRef = &v1alpha1.ObjectRef{Name: "orders-values"} },
		refused("ConfigNotFound", "spec.configRef.name", "ConfigMap apis/orders-values does not exist")),
	"somebody else's HelmRelease": newScene().then(refused("Conflict", "metadata.name", "HelmRelease apis/orders exists and is not this gateway's"),
		func(in *gatewaystatus.Input) {
			in.Release = &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Name: "orders", Namespace: "apis"}}
		}),
	"somebody else's suspended HelmRelease": newScene().then(refused("Conflict", "metadata.name", "HelmRelease apis/orders exists and is not this gateway's"),
		func(in *gatewaystatus.Input) {
			in.Release = &helmv2.HelmRelease{ObjectMeta: metav1.ObjectMeta{Name: "orders", Namespace: "apis"}, Spec: helmv2.HelmReleaseSpec{Suspend: true}}
		}),
	"another gateway goes first": newScene().then(wants("1.2.0"), source(flux.ReadySource()), func(in *gatewaystatus.Input) {
		in.Wait = `release "orders" in target namespace "apis" still belongs to APIGateway apis/old, which is being deleted; this gateway goes on once that is gone`
	}),
	"another operator's class": oldRuns().then(refused("OtherController", "spec.className", "APIGatewayClass web is served by controller example.com/other, which has not taken this gateway over")),
	"a dependency does not exist": newScene().then(wants("1.2.0"), source(flux.ReadySource()), release(1, flux.Reconciling(flux.Prerequisites),
		flux.Ready("False", "DependencyNotReady", `unable to get 'apis/users' dependency: helmreleases.helm.toolkit.fluxcd.io "users" not found`))),
	"a dependency goes first": newScene().then(wants("1.2.0"), source(flux.ReadySource()), release(1, flux.Reconciling(flux.Prerequisites), flux.Ready("False", "DependencyNotReady", "dependency 'apis/users' is not ready"))),
	"suspended":               oldRuns().then(suspend(true), wants("1.2.0"), source(flux.ReadySource()), release(2, oldDeployed, flux.Suspended)),
	"suspended by hand":       oldRuns().then(wants("1.2.0"), source(flux.ReadySource()), release(2, oldDeployed, flux.Suspended)),
	"being deleted":           oldRuns().then(deleted),
	"being deleted under Orphan": oldRuns().then(deleted, func(in *gatewaystatus.Input) {
		in.Gateway.Spec.DeletionPolicy, in.Release.Spec.Suspend = new(v1alpha1.DeletionOrphan), true
	}),
	"held in deletion": oldRuns().then(deleted, func(in *gatewaystatus.Input) {
		in.Release.Spec.Suspend = true
		in.Hold = `HelmRelease apis/orders is suspended, and Flux does not uninstall a suspended release: run "flux resume helmrelease orders -n apis"`
	}),
	"held by a ServiceAccount": oldRuns().then(deleted, func(in *gatewaystatus.Input) {
		in.Release.Spec.ServiceAccountName = "deployer"
		in.Hold = `ServiceAccount apis/deployer, which Flux acts as, does not exist, and Flux does not uninstall without it`
	}),
	"an uninstall that fails": oldRuns().then(deleted, func(in *gatewaystatus.Input) {
		in.Release.Status.Conditions = nil
		flux.Ready("False", "UninstallFailed", "Helm uninstall failed for release apis/orders.v5: timeout")(in.Release)
	}),
	"changed, and not seen": oldRuns().look(func(in *gatewaystatus.Input) { in.Gateway.Generation++ }),
	"on another cluster": oldRuns().look(func(in *gatewaystatus.Input) {
		in.Release.Spec.KubeConfig = &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: "far"}}
	}).with(gap("objects and pods", "the release is on another cluster, far")),
	"nothing else may be read": upgradeFails().look(func(in *gatewaystatus.Input) { in.Release, in.Source = nil, nil }).with(
		gap("HelmRelease apis/orders", `helmreleases "orders" is forbidden: User "jo" cannot get resource "helmreleases"`),
		gap("events in namespace apis", `events is forbidden: User "jo" cannot list resource "events"`)),
}

// appliedByTeam: Kustomization flux-system/team applies the gateway.
func appliedByTeam(in *gatewaystatus.Input) {
	in.Gateway.Labels = map[string]string{"kustomize.toolkit.fluxcd.io/name": "team", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
}

// kustomization is that one, whose Ready says so.
func kustomization(status, reason, message string) func(*story.Input) {
	return func(in *story.Input) {
		in.Kustomization = &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
			"metadata": map[string]any{"namespace": "flux-system", "name": "team", "generation": int64(2)},
			"spec":     map[string]any{"sourceRef": map[string]any{"kind": "GitRepository", "name": "fleet"}},
			"status": map[string]any{
				"lastAppliedRevision": oldCommit, "lastAttemptedRevision": newCommit,
				"conditions": []any{map[string]any{"type": "Ready", "status": status, "reason": reason, "message": message,
					"lastTransitionTime": "2026-11-03T12:00:00Z", "observedGeneration": int64(2)}},
			},
		}}
	}
}

// Revisions of git.
const (
	oldCommit  = "main@sha1:0123456789abcdef0123456789abcdef01234567"
	newCommit  = "main@sha1:fedcba9876543210fedcba9876543210fedcba98"
	nextCommit = "main@sha1:00112233445566778899aabbccddeeff00112233"
)

// gitHas that revision, since a minute before noon.
func gitHas(revision string) func(*story.Input) {
	return func(in *story.Input) {
		in.KustomizationSource = &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "GitRepository",
			"metadata": map[string]any{"namespace": "flux-system", "name": "fleet"},
			"status":   map[string]any{"artifact": map[string]any{"revision": revision, "lastUpdateTime": "2026-11-03T11:59:00Z"}},
		}}
	}
}

// refusedCommit is what kustomize-controller says against that revision.
func refusedCommit(revision, reason, message string) func(*story.Input) {
	return func(in *story.Input) {
		event(7, "Kustomization", "team", "Warning", reason, message)(in)
		e := &in.Events[len(in.Events)-1]
		e.InvolvedObject.Namespace = "flux-system"
		e.Annotations = map[string]string{"kustomize.toolkit.fluxcd.io/revision": revision}
	}
}

func unscheduled(name string) string {
	return `{metadata: {name: ` + name + `}, status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/3 nodes are available: 3 Insufficient cpu."}]}}`
}

func TestStories(t *testing.T) {
	for what, s := range scenes {
		t.Run(what, func(t *testing.T) {
			told := story.Tell(s.input())
			name := filepath.Join("testdata", strings.ReplaceAll(strings.ReplaceAll(what, ",", ""), " ", "-"))
			golden(t, name+".txt", told.Text(story.Style{}))
			data, err := json.MarshalIndent(told.Verdict, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", string(data)+"\n")
		})
	}
}

// The whole of the stable structure, once.
func TestJSON(t *testing.T) {
	data, err := json.MarshalIndent(story.Tell(scenes["rolled back"].input()), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/whole.json", string(data)+"\n")
}

func TestColours(t *testing.T) {
	golden(t, "testdata/colours.txt", strings.ReplaceAll(story.Tell(scenes["rolled back"].input()).Text(story.Style{Colour: true}), "\x1b", "ESC"))
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
	}
}

// Each golden file belongs to a scene.
func TestNoGoldenIsLeftOver(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	if want := 2*len(scenes) + 2; len(files) != want {
		t.Errorf("testdata holds %d files, want %d", len(files), want)
	}
}
