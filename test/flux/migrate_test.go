// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// The guide of examples/migrate, on a release that helm has installed as WSO2's operator does: it is taken over by one
// revision, no pod is replaced, it outlives its gateway when that goes back, and helm goes on with it.
func TestAReleaseOfAnotherOperatorIsTakenOverAndGivenBack(t *testing.T) {
	t.Parallel()
	m := newMigration(t, "partners")
	m.helm("install", "--wait")
	pods := m.partnerPods()
	equal(m.team, "number of pods", len(pods), 4)
	equal(m.team, "what would change", m.check(), `APIGateway partners/partner takes over Helm release partners/partner-gw: revision 1, deployed, chart api-platform-gateway 1.2.0
  chart: 1.2.0 -> the highest of ~1.2.0, which may be the same
  values:
    equal
  pods:
    none is replaced for its chart's version alone
`)
	made := m.takeOver()
	m.gateways.await(t, soon, "partner", "Ready at the second revision", isReady(2))
	equal(m.team, "Helm's revisions", m.helmRevisions("partner-gw"), []string{"1 superseded", "2 deployed"})
	equal(m.team, "history", historyOf(m.gateways.latest()["partner"]), []string{"2 1.2.0 deployed by upgrade"})
	equal(m.team, "pods", m.partnerPods(), pods)
	m.applied(printed(t, m.git.Dir(), "--share-sources", "--api-versions", "v1"), 2)

	m.commit("Let the release outlive its gateway", files{"gateways.yaml": strings.Replace(made, "  className: partners\n", "  className: partners\n  deletionPolicy: Orphan\n", 1)})
	m.gateways.await(t, soon, "partner", "orphaned on deletion", func(g *v1alpha1.APIGateway) error {
		if g.Spec.DeletionPolicy == nil || g.Status.ObservedGeneration != g.Generation {
			return fmt.Errorf("%s", describe(g))
		}
		return nil
	})
	m.commit("Go back", files{"gateways.yaml": removed,
		"kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [values.yaml]\n"})
	m.gateways.awaitGone(t, soon, "partner")
	equal(m.team, "Helm's revisions", m.helmRevisions("partner-gw"), []string{"1 superseded", "2 deployed"})
	equal(m.team, "pods", m.partnerPods(), pods)

	// The old operators apply as clients, with helm 3. Helm 4 applies on the server, and has to take over the fields that Flux set.
	m.helm("upgrade", "--wait", "--server-side=false")
	equal(m.team, "Helm's revisions", m.helmRevisions("partner-gw"), []string{"1 superseded", "2 superseded", "3 deployed"})
	equal(m.team, "pods", m.partnerPods(), pods)
	m.helm("upgrade", "--wait", "--server-side=true", "--force-conflicts", "--set", "gateway.gatewayRuntime.deployment.replicaCount=1")
	equal(m.team, "Helm's revisions", m.helmRevisions("partner-gw"), []string{"1 superseded", "2 superseded", "3 superseded", "4 deployed"})
	equal(m.team, "pods of the runtime", len(m.readyPods(runtimePods)), 1)
}

// A release that was left in the middle of an upgrade, where helm itself gives up, is unlocked and healed by being taken over.
// The upgrade's pods never were ready, so that those from before are still there, and stay.
func TestAReleaseThatAnotherOperatorLeftPendingIsTakenOverAndHealed(t *testing.T) {
	t.Parallel()
	m := newMigration(t, "wedged")
	m.helm("install", "--wait")
	pods := m.partnerPods()
	m.leavePending("upgrade", "--wait", "--set", "gateway.gatewayRuntime.image.tag=broken")
	_, err := local.Helm(t.Context(), m.arguments("upgrade")...)
	if err == nil || !strings.Contains(err.Error(), "another operation (install/upgrade/rollback) is in progress") {
		t.Fatalf("helm goes on with a pending release: %v", err)
	}
	equal(m.team, "what would change", m.check(), `APIGateway wedged/partner takes over Helm release wedged/partner-gw: revision 2, pending-upgrade, chart api-platform-gateway 1.2.0
  the release is locked by an action that did not end; Flux unlocks it, and upgrades
  chart: 1.2.0 -> the highest of ~1.2.0, which may be the same
  values:
    gateway.gatewayRuntime.image.tag: "broken" -> not set
  pods:
    none is replaced for its chart's version alone
`)
	m.takeOver()
	m.gateways.await(t, soon, "partner", "Ready at the third revision", isReady(3))
	equal(m.team, "Helm's revisions", m.helmRevisions("partner-gw"), []string{"1 superseded", "2 failed", "3 deployed"})
	equal(m.team, "pods", m.partnerPods(), pods)
}

// WSO2's own chart has its version in a ConfigMap, and a checksum over that in a pod template: Flux, which adds the chart's
// digest to its version, replaces just the pods that the check names.
func TestPodsThatShowTheChartsVersionAreReplacedOnceAsTheCheckSays(t *testing.T) {
	t.Parallel()
	m := newMigration(t, "versioned")
	m.useChartThatShowsItsVersion()
	m.helm("install", "--wait")
	controller, runtime := m.readyPods(controllerPods), m.readyPods(runtimePods)
	equal(m.team, "what would change", m.check(), `APIGateway versioned/partner takes over Helm release versioned/partner-gw: revision 1, deployed, chart versioned-gateway 1.2.0
  chart: 1.2.0 -> the highest of ~1.2.0, which may be the same
  values:
    equal
  pods:
    Deployment partner-gw-controller: replaced if their checksum/config is over ConfigMap partner-gw-config, which has the chart's version, and Flux adds the chart's digest to that
`)
	m.takeOver()
	m.gateways.await(t, soon, "partner", "Ready at the second revision", isReady(2))
	equal(m.team, "pods of the runtime", m.readyPods(runtimePods), runtime)
	now := m.readyPods(controllerPods)
	equal(m.team, "number of pods of the controller", len(now), 1)
	if slices.Contains(controller, now[0]) {
		t.Error("the controller's pod was not replaced")
	}
}

// migration is the guide of examples/migrate, in a namespace whose name stands in the place of the guide's.
type migration struct {
	*team
	guide files
	class string
	chart string // oci://…
}

var runtimePods, controllerPods = client.MatchingLabels{"app": "partner-gw-runtime"}, client.MatchingLabels{"app": "partner-gw-controller"}

func newMigration(t *testing.T, name string) *migration {
	t.Helper()
	m := &migration{team: newTeam(t, name, waits("2m")), guide: readExample(t, "migrate"),
		chart: "oci://" + local.Registry() + "/charts/api-platform-gateway"}
	for path, text := range m.guide {
		m.guide[path] = strings.ReplaceAll(text, "partners", name)
	}
	m.class = strings.Replace(withLocalRegistry(t, "wso2")["class.yaml"], "name: wso2\n", "name: "+name+"\n", 1)
	return m
}

func (m *migration) useChartThatShowsItsVersion() {
	m.Helper()
	pushed, err := local.PushChart(m.Context(), filepath.Join(root, "test", "flux", "testdata", "api-platform-gateway"), "1.2.0", func(dir string) error {
		template := filepath.Join(dir, "templates", "controller.yaml")
		return errors.Join(
			replaceInFile(filepath.Join(dir, "Chart.yaml"), "name: api-platform-gateway", "name: versioned-gateway"),
			replaceInFile(template, "  name: {{ .Release.Name }}-config\n",
				"  name: {{ .Release.Name }}-config\n  labels: {helm.sh/chart: '{{ .Chart.Name }}-{{ .Chart.Version | replace \"+\" \"_\" }}'}\n"),
			replaceInFile(template, "      labels: {app: {{ .Release.Name }}-controller}\n",
				"      labels: {app: {{ .Release.Name }}-controller}\n      annotations: {checksum/config: {{ .Chart.Version | sha256sum }}}\n"))
	})
	if err != nil {
		m.Fatal(err)
	}
	m.class = strings.Replace(m.class, m.chart, pushed.URL, 1)
	m.chart = pushed.URL
}

func (m *migration) partnerPods() []types.UID {
	m.Helper()
	return append(m.readyPods(runtimePods), m.readyPods(controllerPods)...)
}

// arguments are those of a command of helm that acts on the release as the old operator does: with the operator's values, then
// the labels, then the ConfigMap's values.
func (m *migration) arguments(verb string, more ...string) []string {
	m.Helper()
	_, configMap, _ := strings.Cut(m.guide["old.yaml"], "---\n")
	config := &corev1.ConfigMap{}
	if err := yaml.Unmarshal([]byte(configMap), config); err != nil {
		m.Fatal(err)
	}
	folder := m.TempDir()
	args := []string{verb, "partner-gw", m.chart, "--version", "1.2.0", "--plain-http", "--namespace", m.name, "--timeout", "2m"}
	for i, text := range []string{m.guide["operator-values.yaml"], "commonLabels: {team: " + m.name + "}", config.Data[v1alpha1.ConfigKey]} {
		file := filepath.Join(folder, fmt.Sprintf("values-%d.yaml", i))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			m.Fatal(err)
		}
		args = append(args, "--values", file)
	}
	return append(args, more...)
}

func (m *migration) helm(verb string, more ...string) {
	m.Helper()
	if _, err := local.Helm(m.Context(), m.arguments(verb, more...)...); err != nil {
		m.Fatal(err)
	}
}

// leavePending kills helm in the middle of an upgrade.
func (m *migration) leavePending(verb string, more ...string) {
	m.Helper()
	ctx, kill := context.WithCancel(m.Context())
	ended := make(chan error)
	args := m.arguments(verb, more...)
	go func() {
		_, err := local.Helm(ctx, args...)
		ended <- err
	}()
	m.eventually(release, "an upgrade that waits for its pods", func(context.Context) error {
		broken := &corev1.PodList{}
		if err := api.List(m.Context(), broken, client.InNamespace(m.name), runtimePods); err != nil {
			return err
		}
		if status := m.helmRevisions("partner-gw"); !slices.Contains(status, "2 pending-upgrade") || len(broken.Items) != 4 {
			return fmt.Errorf("%d pods, %v", len(broken.Items), status)
		}
		return nil
	})
	kill()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "signal: killed") {
		m.Fatalf("helm ended by itself: %v", err)
	}
}

// takeOver commits what migrate prints, waits until Flux has it Ready, and returns it.
func (m *migration) takeOver() string {
	m.Helper()
	_, values, _ := strings.Cut(m.guide["old.yaml"], "---\n")
	err := api.Get(m.Context(), client.ObjectKey{Namespace: m.name, Name: "partner-values"}, &corev1.ConfigMap{})
	if !apierrors.IsNotFound(err) {
		m.Fatalf("the ConfigMap is there before anybody made it (%v)", err)
	}
	made := m.migrates("")
	m.awaitReady(m.push("Take the gateway over", files{
		"values.yaml": values, "gateways.yaml": made,
		"kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [values.yaml, gateways.yaml]\n",
	}))
	return made
}

// check is what migrate says would change.
func (m *migration) check() string {
	m.Helper()
	secrets, err := local.Kubectl(m.Context(), "get", "secrets", "--namespace", m.name, "--selector", "owner=helm", "--output", "yaml")
	if err != nil {
		m.Fatal(err)
	}
	return m.migrates(secrets, "--check", "--filename", "-", "--api-versions", "v1")
}

// migrates is what sluice migrate prints of the guide's files.
func (m *migration) migrates(in string, more ...string) string {
	m.Helper()
	folder := m.TempDir()
	for name, text := range map[string]string{"old.yaml": m.guide["old.yaml"], "class.yaml": m.class, "operator-values.yaml": m.guide["operator-values.yaml"]} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			m.Fatal(err)
		}
	}
	args := append([]string{"migrate", "--wso2-class", m.name, "--filename", filepath.Join(folder, "old.yaml"),
		"--filename", filepath.Join(folder, "class.yaml"), "--operator-values", filepath.Join(folder, "operator-values.yaml")}, more...)
	command := exec.CommandContext(m.Context(), sluice, args...)
	command.Stdin = strings.NewReader(in)
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		m.Fatalf("%s: %v\n%s", command, err, complaints.String())
	}
	return string(out)
}
