// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/story"
	"github.com/sluice-gateway/sluice/test/docs"
)

var update = flag.Bool("update", false, "write the outputs of testdata/tree anew")

func TestTreeNamesTheCauseInItsFirstFiveLines(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "tree")
	m.commit("Add gateways, one with an image that does not start", files{
		"class.yaml":     webClass(),
		"healthy.yaml":   gateway("healthy"),
		"upgrade.yaml":   gateway("upgrade"),
		"nowhere.yaml":   gateway("nowhere"),
		"tag.yaml":       gateway("tag"),
		"refused.yaml":   gateway("refused"),
		"suspended.yaml": gateway("suspended"),
		"by-hand.yaml":   gateway("by-hand"),
		"leaving.yaml":   gateway("leaving"),
		"install.yaml":   gateway("install", brokenImage, shortTimeout),
	})
	for _, name := range []string{"healthy", "upgrade", "nowhere", "tag", "refused", "suspended", "by-hand", "leaving"} {
		m.gateways.await(t, 2*release, name, "ready", isReady(1))
	}
	m.gateways.await(t, release, "install", "failed", both(notReady("InstallFailed"), failedTimes(1)))
	m.tree("install")
	m.tree("healthy")

	m.flux("suspend", "helmrelease", "leaving")
	m.flux("suspend", "helmrelease", "by-hand")
	m.commit("Break them", files{
		"upgrade.yaml":   gateway("upgrade", "chart: {tag: 2.0.0}", brokenImage, shortTimeout),
		"nowhere.yaml":   gateway("nowhere", "infrastructure: {nodeSelector: {nowhere: here}}", shortTimeout),
		"tag.yaml":       gateway("tag", "chart: {tag: 9.9.9}"),
		"refused.yaml":   gateway("refused", "controlPlane: {host: example.com}"),
		"suspended.yaml": gateway("suspended", "suspend: true", "values: {message: two}"),
		"by-hand.yaml":   gateway("by-hand", "values: {message: two}"),
		"leaving.yaml":   removed,
	})
	m.gateways.await(t, release, "tag", "without a chart", notReady("OCIArtifactPullFailed"))
	m.tree("tag")
	m.gateways.await(t, soon, "refused", "refused", notReady("UnmappedField"))
	m.tree("refused")
	m.gateways.await(t, soon, "suspended", "suspended", notReady("Suspended"))
	m.tree("suspended")
	m.gateways.await(t, soon, "by-hand", "suspended", notReady("Suspended"))
	m.tree("by-hand")
	m.gateways.await(t, soon, "leaving", "held", both(inPhase(v1alpha1.PhaseDeleting), notReady("Deleting", "flux resume")))
	m.tree("leaving")
	m.gateways.await(t, release, "upgrade", "rolled back", both(notReady("RolledBack"), failedTimes(1)))
	m.tree("upgrade")
	m.gateways.await(t, release, "nowhere", "rolled back", both(notReady("RolledBack"), failedTimes(1)))
	m.tree("nowhere")

	told := m.told("upgrade")
	equal(m, "kind", told.Kind, story.Kind)
	equal(m, "what the revisions changed", changesOf(told), []string{"3 chart=yes values=yes rollback", "2 chart=yes values=yes upgrade", "1 chart= values= install"})
	equal(m, "objects and pods", []int{len(told.Objects), told.Pods.Total, told.Pods.Ready}, []int{3, 1, 1})
	equal(m, "what could not be read", told.Gaps, nil)
	// Flux uninstalls nothing that is suspended.
	m.resumeAndForget("leaving")
	m.resumeAndForget("by-hand")
}

// A class in deletion holds up the Kustomization that applies it: each try waits for its end until the time is up.
func TestTreeTellsOfACommitThatIsHeldUp(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "held-up")
	applied := m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	if err := api.Delete(t.Context(), &v1alpha1.APIGatewayClass{ObjectMeta: metav1.ObjectMeta{Name: m.name}}); err != nil {
		t.Fatal(err)
	}
	revision := m.push("Change it", files{"web.yaml": gateway("web", "values: {message: two}")})
	begins := m.notApplied(applied, revision)
	m.heldUp(revision, begins+"Progressing: Detecting drift for revision "+shortened(revision)+" with a timeout of 30s", []story.Advice{
		{Text: "Wait: Flux is at work; if that takes long, see what the Kustomization says.", Command: "flux get kustomization held-up -n flux-system"},
		m.correctAndReconcile()[1],
	})
	m.kustomizations.await(t, release, m.name, "failed", both(complains("ReconciliationFailed", "Terminating"), attempted(revision)))
	m.heldUp(revision, begins+"Flux tries again after ReconciliationFailed: timeout waiting for: [APIGatewayClass/held-up status: 'Terminating']",
		m.correctAndReconcile())
}

// heldUp: the gateway is Ready, and the story tells why the commit is not applied.
func (m *team) heldUp(revision, cause string, advice []story.Advice) {
	m.Helper()
	m.eventually(soon, "the story of the commit that is held up", func(context.Context) error {
		v := m.told("web").Verdict
		if len(v.Causes) != 1 || docs.Settled(v.Causes[0]) != cause {
			return fmt.Errorf("the causes are %q, want %q", v.Causes, cause)
		}
		equal(m, "verdict", []any{v.Phase, v.Behind, v.Healthy, v.Message}, []any{"Ready", revision, false, "chart web 1.0.0 is deployed as revision 1"})
		equal(m, "advice", v.Advice, advice)
		return nil
	})
}

// shortened is a revision of git as stories tell it.
func shortened(revision string) string { return revision[:len("main@sha1:")+12] }

// notApplied begins the cause that tells of a commit.
func (m *team) notApplied(applied, revision string) string {
	return fmt.Sprintf("Kustomization flux-system/%[1]s, which applies this gateway, is still at %[2]s and has not applied %[3]s, which GitRepository flux-system/%[1]s has had since <time>: ",
		m.name, shortened(applied), shortened(revision))
}

// correctAndReconcile is the advice on a commit that Flux refuses.
func (m *team) correctAndReconcile() []story.Advice {
	return []story.Advice{
		{Text: "Correct what the Kustomization's message names, and commit.", Command: "kubectl describe kustomization " + m.name + " -n flux-system"},
		{Text: "To have Flux fetch and apply it now:", Command: "flux reconcile kustomization " + m.name + " -n flux-system --with-source"},
	}
}

// tree runs `sluice tree` and compares the first five lines with the file of the gateway's name.
func (m *team) tree(name string) {
	m.Helper()
	m.treeIs(name, name)
}

// treeIs compares them with another file.
func (m *team) treeIs(file, name string) {
	m.Helper()
	if *update {
		m.golden(file, firstFive(m.ran(0, "tree", name)))
		return
	}
	want, err := os.ReadFile(filepath.Join("testdata", "tree", file+".txt"))
	if err != nil {
		m.Fatal(err)
	}
	// What happens next is not known while Flux looks once more at what it has done.
	m.eventually(soon, "the story of "+name, func(context.Context) error {
		out := m.ran(0, "tree", name)
		if got := docs.Settled(firstFive(out)); got != string(want) {
			return fmt.Errorf("got\n%s\nwant\n%s\nall of it:\n%s", got, want, out)
		}
		return nil
	})
}

func firstFive(out string) string {
	lines := strings.SplitAfterN(out, "\n", 6)
	return strings.Join(lines[:min(len(lines), 5)], "")
}

// told is the story as JSON.
func (m *team) told(name string) story.Story {
	m.Helper()
	var told story.Story
	if err := json.Unmarshal([]byte(m.ran(0, "tree", name, "--output", "json")), &told); err != nil {
		m.Fatal(err)
	}
	return told
}

func changesOf(s story.Story) []string {
	var all []string
	for _, r := range s.Release.Revisions {
		all = append(all, strings.Trim(show(r.Revision), `"`)+" chart="+string(r.Chart)+" values="+string(r.Values)+" "+r.Action)
	}
	return all
}

// ran is what the command line prints about the team's namespace, on both streams; it must end with that code.
func (m *team) ran(code int, args ...string) string {
	m.Helper()
	return m.ranAs(local.Kubeconfig(), code, args...)
}

func (m *team) ranAs(kubeconfig string, code int, args ...string) string {
	m.Helper()
	command := exec.CommandContext(m.Context(), sluice, append(args, "--namespace", m.name)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	out, err := command.CombinedOutput()
	failed, _ := errors.AsType[*exec.ExitError](err)
	switch {
	case failed != nil && failed.ExitCode() == code, err == nil && code == 0:
		return string(out)
	}
	m.Fatalf("sluice %s: %v, want exit code %d\n%s", strings.Join(args, " "), err, code, out)
	return ""
}

// golden compares with a file of testdata/tree, what is volatile aside.
func (m *team) golden(name, got string) {
	m.Helper()
	got = docs.Settled(got)
	path := filepath.Join("testdata", "tree", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			m.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		m.Fatal(err)
	}
	equal(m, path, got, string(want))
}
