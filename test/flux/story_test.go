// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/invariants"
)

// story tells all recorded states in order, a line each; for failures.
func (m *team) story() string {
	lines := slices.Concat(tell(m.gateways), tell(m.releases), tell(m.sources), tell(m.configs), tell(m.deployments), tell(m.kustomizations))
	slices.SortStableFunc(lines, func(a, b line) int { return a.seen.Compare(b.seen) })
	var text strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&text, "%s %s\n", l.seen.Format("15:04:05.000"), l.text)
	}
	return text.String()
}

type line struct {
	seen time.Time
	text string
}

func tell[T client.Object](r *recorder[T]) []line {
	var lines []line
	before := map[string]string{}
	for _, s := range r.all("") {
		text := describe(s.object)
		if s.gone {
			text += " IS GONE"
		}
		if name := s.object.GetName(); before[name] != text {
			before[name] = text
			lines = append(lines, line{s.seen, text})
		}
	}
	return lines
}

// describe says in one line what there is to know of an object.
func describe(object client.Object) string {
	text := fmt.Sprintf("%s generation %d", object.GetName(), object.GetGeneration())
	if object.GetDeletionTimestamp() != nil {
		text += " (deleting)"
	}
	switch o := object.(type) {
	case *v1alpha1.APIGateway:
		s := o.Status
		return fmt.Sprintf("APIGateway %s observed %d phase %s failures %d next %s release %s %s",
			text, s.ObservedGeneration, s.Phase, s.Failures, s.NextRetryTime, show(s.Release), invariants.Conditions(s.Conditions))
	case *helmv2.HelmRelease:
		s := o.Status
		return fmt.Sprintf("HelmRelease %s observed %d attempted %d suspend %t chart %s failures %d history %s %s",
			text, s.ObservedGeneration, s.LastAttemptedGeneration, o.Spec.Suspend, show(o.Spec.ChartRef), s.Failures, snapshots(s.History), invariants.Conditions(s.Conditions))
	case *sourcev1.OCIRepository:
		return fmt.Sprintf("OCIRepository %s ref %s artifact %s %s", text, show(o.Spec.Reference), show(o.Status.Artifact), invariants.Conditions(o.Status.Conditions))
	case *corev1.ConfigMap:
		if o.Name == "kube-root-ca.crt" {
			return text
		}
		return fmt.Sprintf("ConfigMap %s %v", text, o.Data)
	case *appsv1.Deployment:
		s := o.Status
		return fmt.Sprintf("Deployment %s observed %d replicas %d updated %d ready %d available %d %s",
			text, s.ObservedGeneration, s.Replicas, s.UpdatedReplicas, s.ReadyReplicas, s.AvailableReplicas, show(s.Conditions))
	case *unstructured.Unstructured:
		status := statusOf(o)
		return fmt.Sprintf("%s %s applied %s attempted %s %s", o.GetKind(), text,
			status.LastAppliedRevision, status.LastAttemptedRevision, invariants.Conditions(status.Conditions))
	}
	return text
}

func snapshots(history helmv2.Snapshots) []string {
	var all []string
	for _, s := range history {
		all = append(all, fmt.Sprintf("%d %s by %s of %s", s.Version, s.Status, s.Action, s.ChartVersion))
	}
	return all
}

func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

func deepEqual(a, b any) bool { return apiequality.Semantic.DeepEqual(a, b) }
