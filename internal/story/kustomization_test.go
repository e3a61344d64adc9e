// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/sluice-gateway/sluice/internal/story"
)

// A commit is applied when all of its objects are, however long Flux waits for their health, or looks at them again.
func TestACommitThatIsNotAppliedIsACause(t *testing.T) {
	const (
		begin = "Kustomization flux-system/team, which applies this gateway, "
		still = begin + "is still at main@sha1:0123456789ab and has not applied "
		since = ", which GitRepository flux-system/fleet has had since 2026-11-03T11:59:00Z: "
	)
	working := kustomization("Unknown", "Progressing", "Reconciliation in progress")
	done := kustomization("True", "ReconciliationSucceeded", "Applied revision: "+oldCommit)
	refused := kustomization("False", "ReconciliationFailed", "it is refused")
	wait := story.Advice{Text: "Wait: Flux is at work; if that takes long, see what the Kustomization says.", Command: "flux get kustomization team -n flux-system"}
	correct := story.Advice{Text: "Correct what the Kustomization's message names, and commit.", Command: "kubectl describe kustomization team -n flux-system"}
	again := story.Advice{Text: "To have Flux fetch and apply it now:", Command: "flux reconcile kustomization team -n flux-system --with-source"}
	resume := story.Advice{Text: "Somebody suspended the Kustomization; resume it when that person agrees.", Command: "flux resume kustomization team -n flux-system"}
	for what, row := range map[string]struct {
		with   []func(*story.Input)
		behind string
		cause  string
		advice []story.Advice
	}{
		"at work": {[]func(*story.Input){working, gitHas(newCommit), reports("Reconciling", "True", "Progressing", "Building manifests for revision "+newCommit)}, newCommit,
			still + "main@sha1:fedcba987654" + since + "Progressing: Building manifests for revision main@sha1:fedcba987654", []story.Advice{wait, again}},
		"at work, and the source may not be read": {[]func(*story.Input){working}, newCommit,
			still + "main@sha1:fedcba987654: Progressing: Reconciliation in progress", []story.Advice{wait, again}},
		"at work for the first time": {[]func(*story.Input){working, status("lastAppliedRevision", "")}, newCommit,
			begin + "has not applied main@sha1:fedcba987654: Progressing: Reconciliation in progress", []story.Advice{wait, again}},
		"not begun": {[]func(*story.Input){done, status("lastAttemptedRevision", oldCommit), gitHas(newCommit)}, newCommit,
			still + "main@sha1:fedcba987654" + since + "ReconciliationSucceeded: Applied revision: main@sha1:0123456789ab", []story.Advice{wait, again}},
		"refused": {[]func(*story.Input){refused, gitHas(newCommit)}, newCommit,
			still + "main@sha1:fedcba987654" + since + "ReconciliationFailed: it is refused", []story.Advice{correct, again}},
		"tried again after it was refused": {[]func(*story.Input){working, gitHas(newCommit), refusedCommit(newCommit, "BuildFailed", "it has a fault")}, newCommit,
			still + "main@sha1:fedcba987654" + since + "Flux tries again after BuildFailed: it has a fault", []story.Advice{correct, again}},
		"tried after another was refused": {[]func(*story.Input){working, gitHas(newCommit), refusedCommit(nextCommit, "BuildFailed", "it has a fault")}, newCommit,
			still + "main@sha1:fedcba987654" + since + "Progressing: Reconciliation in progress", []story.Advice{wait, again}},
		"suspended": {[]func(*story.Input){done, status("lastAttemptedRevision", oldCommit), gitHas(newCommit), suspendKustomization}, newCommit,
			still + "main@sha1:fedcba987654" + since + "it is suspended", []story.Advice{resume}},
		"unhealthy, and another was pushed": {[]func(*story.Input){kustomization("False", "HealthCheckFailed", "failed early"), gitHas(nextCommit)}, nextCommit,
			still + "main@sha1:001122334455" + since + "HealthCheckFailed: failed early", []story.Advice{wait, again}},
		"refused after it was applied": {[]func(*story.Input){refused, status("lastAppliedRevision", newCommit), gitHas(newCommit)}, "",
			begin + "is not ready, and what was committed since may not be in the cluster: ReconciliationFailed: it is refused", []story.Advice{correct, again}},

		"applied":                      {with: []func(*story.Input){done, status("lastAttemptedRevision", oldCommit), gitHas(oldCommit)}},
		"applied, and suspended":       {with: []func(*story.Input){done, status("lastAttemptedRevision", oldCommit), gitHas(oldCommit), suspendKustomization}},
		"applied, and looked at again": {with: []func(*story.Input){working, status("lastAppliedRevision", newCommit), gitHas(newCommit)}},
		"its health is checked":        {with: []func(*story.Input){working, gitHas(newCommit), reports("Healthy", "Unknown", "Progressing", "Running health checks for revision "+newCommit)}},
		"its health is checked once more": {with: []func(*story.Input){working, gitHas(newCommit), status("history", []any{map[string]any{
			"digest": "sha256:1", "lastReconciledStatus": "HealthCheckFailed", "metadata": map[string]any{"revision": newCommit}}})}},
		"its health is bad": {with: []func(*story.Input){kustomization("False", "HealthCheckFailed", "failed early"), gitHas(newCommit)}},
	} {
		t.Run(what, func(t *testing.T) {
			v := story.Tell(oldRuns().look(appliedByTeam).with(row.with...).input()).Verdict
			var causes []string
			if row.cause != "" {
				causes = []string{row.cause}
			}
			if v.Behind != row.behind || !reflect.DeepEqual(v.Causes, causes) || !reflect.DeepEqual(v.Advice, row.advice) || v.Healthy != (row.cause == "") {
				t.Errorf("got behind %q, causes %q, advice %q, healthy %t; want behind %q, causes %q, advice %q", v.Behind, v.Causes, v.Advice, v.Healthy, row.behind, causes, row.advice)
			}
		})
	}
}

// status sets a field of the Kustomization's.
func status(name string, value any) func(*story.Input) {
	return func(in *story.Input) { in.Kustomization.Object["status"].(map[string]any)[name] = value }
}

// reports is one more condition of the Kustomization's.
func reports(kind, value, reason, message string) func(*story.Input) {
	return func(in *story.Input) {
		conditions, _, _ := unstructured.NestedSlice(in.Kustomization.Object, "status", "conditions")
		status("conditions", append(conditions, map[string]any{"type": kind, "status": value, "reason": reason, "message": message}))(in)
	}
}

func suspendKustomization(in *story.Input) {
	in.Kustomization.Object["spec"].(map[string]any)["suspend"] = true
}
