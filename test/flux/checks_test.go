// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// isReady passes a gateway whose status speaks of its present spec, and says that this Helm revision runs it.
func isReady(revision int64) func(*v1alpha1.APIGateway) error {
	return func(g *v1alpha1.APIGateway) error {
		s := g.Status
		if s.ObservedGeneration != g.Generation || s.Phase != v1alpha1.PhaseReady || s.Release == nil ||
			s.Release.Revision != revision || !isTrue(g, v1alpha1.ConditionReady) {
			return fmt.Errorf("not Ready at revision %d: %s", revision, describe(g))
		}
		return nil
	}
}

// says passes a gateway whose status speaks of its present spec and has a condition with that reason and all parts in its
// message.
func says(kind string, status metav1.ConditionStatus, reason string, parts ...string) func(*v1alpha1.APIGateway) error {
	return func(g *v1alpha1.APIGateway) error {
		c := condition(g, kind)
		if g.Status.ObservedGeneration != g.Generation || c.Status != status || c.Reason != reason || !holdsAll(c.Message, parts) {
			return fmt.Errorf("no %s=%s %s with %q: %s", kind, status, reason, parts, describe(g))
		}
		return nil
	}
}

func notReady(reason string, parts ...string) func(*v1alpha1.APIGateway) error {
	return says(v1alpha1.ConditionReady, metav1.ConditionFalse, reason, parts...)
}

func inPhase(phase v1alpha1.Phase) func(*v1alpha1.APIGateway) error {
	return func(g *v1alpha1.APIGateway) error {
		if g.Status.Phase != phase {
			return fmt.Errorf("not in phase %s: %s", phase, describe(g))
		}
		return nil
	}
}

// helmReady passes a HelmRelease that is Ready as it is now.
func helmReady(hr *helmv2.HelmRelease) error {
	c := apimeta.FindStatusCondition(hr.Status.Conditions, meta.ReadyCondition)
	if c == nil || c.Status != metav1.ConditionTrue || c.ObservedGeneration != hr.Generation {
		return fmt.Errorf("not Ready: %s", describe(hr))
	}
	return nil
}

// both passes what passes all checks at the same moment.
func both[T any](checks ...func(T) error) func(T) error {
	return func(object T) error {
		for _, check := range checks {
			if err := check(object); err != nil {
				return err
			}
		}
		return nil
	}
}

func holdsAll(text string, parts []string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

// condition is the zero condition where there is none.
func condition(g *v1alpha1.APIGateway, kind string) metav1.Condition {
	if c := apimeta.FindStatusCondition(g.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func isTrue(g *v1alpha1.APIGateway, kind string) bool {
	return apimeta.IsStatusConditionTrue(g.Status.Conditions, kind)
}

// conditions are "type=status reason" of all conditions, sorted, but for Drifted, which comes with Flux's next look.
func conditions(g *v1alpha1.APIGateway) []string {
	var all []string
	for _, c := range g.Status.Conditions {
		if c.Type == v1alpha1.ConditionDrifted {
			continue
		}
		all = append(all, fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(all)
	return all
}

// pods are the UIDs of the pods of a release of testdata/chart that are ready and stay, sorted.
func (m *team) pods(release string) []types.UID {
	m.Helper()
	return m.readyPods(client.MatchingLabels{"app": release})
}

func (m *team) readyPods(which client.MatchingLabels) []types.UID {
	m.Helper()
	list := &corev1.PodList{}
	if err := api.List(m.Context(), list, client.InNamespace(m.name), which); err != nil {
		m.Fatal(err)
	}
	var found []types.UID
	for _, pod := range list.Items {
		ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if ready && pod.DeletionTimestamp == nil { // as a Deployment counts them
			found = append(found, pod.UID)
		}
	}
	slices.Sort(found)
	return found
}

// runs are the images of the pods of a release of testdata/chart, sorted.
func (m *team) runs(release string) []string {
	m.Helper()
	return m.images(client.MatchingLabels{"app": release})
}

func (m *team) images(which client.MatchingLabels) []string {
	m.Helper()
	list := &corev1.PodList{}
	if err := api.List(m.Context(), list, client.InNamespace(m.name), which); err != nil {
		m.Fatal(err)
	}
	var images []string
	for _, pod := range list.Items {
		images = append(images, pod.Spec.Containers[0].Image)
	}
	slices.Sort(images)
	return images
}

// helmRevisions are the revisions in Helm's own storage as "<number> <status>", oldest first.
func (m *team) helmRevisions(release string) []string {
	m.Helper()
	list := &corev1.SecretList{}
	if err := api.List(m.Context(), list, client.InNamespace(m.name), client.MatchingLabels{"owner": "helm", "name": release}); err != nil {
		m.Fatal(err)
	}
	byNumber := map[string]string{}
	for _, secret := range list.Items {
		byNumber[secret.Labels["version"]] = secret.Labels["version"] + " " + secret.Labels["status"]
	}
	var all []string
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		all = append(all, byNumber[number])
	}
	return all
}

// equal compares values and says both.
func equal[T any](m *team, what string, got, want T) {
	m.Helper()
	if !deepEqual(got, want) {
		m.Errorf("%s:\n got %v\nwant %v", what, show(got), show(want))
	}
}
