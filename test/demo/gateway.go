// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
)

// readyNow is the gateway's condition Ready, if it speaks of the gateway as it is now.
func (d *demo) readyNow(ctx context.Context) (*v1alpha1.APIGateway, *metav1.Condition, error) {
	gateway := &v1alpha1.APIGateway{}
	if err := d.client.Get(ctx, d.gateway, gateway); err != nil {
		return nil, nil, err
	}
	ready := apimeta.FindStatusCondition(gateway.Status.Conditions, meta.ReadyCondition)
	if ready == nil || ready.ObservedGeneration != gateway.Generation {
		return nil, nil, fmt.Errorf("its status does not speak of generation %d yet; %w", gateway.Generation, unmet(gateway.Status.Conditions))
	}
	return gateway, ready, nil
}

func (d *demo) gatewayReady(ctx context.Context) (string, error) {
	gateway, ready, err := d.readyNow(ctx)
	if err != nil {
		return "", err
	}
	if ready.Status != metav1.ConditionTrue {
		return "", unmet(gateway.Status.Conditions)
	}
	return ready.Message, nil
}

// noteReady notes the time to the first Ready.
func (d *demo) noteReady(ready action) action {
	return func(ctx context.Context) (string, error) {
		shown, err := ready(ctx)
		if err == nil {
			d.ready = d.report.elapsed()
		}
		return shown, err
	}
}

// gatewayRolledBack: the gateway says that an earlier revision runs, and why. All its conditions are shown.
func (d *demo) gatewayRolledBack(ctx context.Context) (string, error) {
	gateway, ready, err := d.readyNow(ctx)
	if err != nil {
		return "", err
	}
	release := gateway.Status.Release
	if ready.Reason != v1alpha1.ReasonRolledBack || release == nil || release.Status != helmStatusDeployed {
		return "", unmet(gateway.Status.Conditions)
	}
	return fmt.Sprintf("phase %s: %s\n%s", gateway.Status.Phase, ready.Message, table(gateway.Status.Conditions, 60)), nil
}

// pods are those of the gateway's release that are not being deleted.
func (d *demo) pods(ctx context.Context) (ready, others []corev1.Pod, err error) {
	all := &corev1.PodList{}
	err = d.client.List(ctx, all, d.ofRelease()...)
	for _, pod := range all.Items {
		switch {
		case pod.DeletionTimestamp != nil:
		case isReady(pod):
			ready = append(ready, pod)
		default:
			others = append(others, pod)
		}
	}
	return ready, others, err
}

// ofRelease selects the objects of the gateway's release, which has its name and namespace.
func (d *demo) ofRelease() []client.ListOption {
	return []client.ListOption{
		client.InNamespace(d.gateway.Namespace),
		client.MatchingLabels{"app.kubernetes.io/instance": d.gateway.Name},
	}
}

func isReady(pod corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// podsRunning: as many pods of the release are ready as its Deployment wants, and there are no others.
func (d *demo) podsRunning(ctx context.Context) (string, error) {
	ready, others, err := d.pods(ctx)
	if err != nil {
		return "", err
	}
	deployments := &appsv1.DeploymentList{}
	if err := d.client.List(ctx, deployments, d.ofRelease()...); err != nil {
		return "", err
	}
	if len(deployments.Items) != 1 {
		return "", fmt.Errorf("the release has %d Deployments", len(deployments.Items))
	}
	wanted := int(*deployments.Items[0].Spec.Replicas)
	if len(ready) == 0 || len(ready) != wanted || len(others) > 0 {
		return "", fmt.Errorf("%d pods of %d are ready, and %d others are there", len(ready), wanted, len(others))
	}
	return fmt.Sprintf("%d of %d, with image %s", len(ready), wanted, image(ready[0])), nil
}

// podsStuck: pods of the broken image are there, beside ready ones.
func (d *demo) podsStuck(ctx context.Context) (string, error) {
	ready, others, err := d.pods(ctx)
	if err != nil {
		return "", err
	}
	for _, pod := range others {
		if strings.HasSuffix(image(pod), ":"+cluster.BrokenTag) {
			return fmt.Sprintf("%d with image %s; %d earlier ones go on", len(others), image(pod), len(ready)), nil
		}
	}
	return "", fmt.Errorf("no pod has an image of the tag %s", cluster.BrokenTag)
}

func image(pod corev1.Pod) string { return pod.Spec.Containers[0].Image }

// unmet says what conditions say, as the error of somebody who waits for others.
func unmet(conditions []metav1.Condition) error {
	if len(conditions) == 0 {
		return errors.New("no conditions yet")
	}
	texts := make([]string, len(conditions))
	for i, c := range conditions {
		texts[i] = fmt.Sprintf("%s=%s %s: %s", c.Type, c.Status, c.Reason, cut(c.Message, lineRoom))
	}
	return errors.New(strings.Join(texts, "; "))
}

// table shows conditions, a line each, with so many characters of their messages.
func table(conditions []metav1.Condition, room int) string {
	var text strings.Builder
	for _, c := range conditions {
		fmt.Fprintf(&text, "%-18s %-8s %-22s %s\n", c.Type, c.Status, c.Reason, cut(c.Message, room))
	}
	return text.String()
}

// cut is the beginning of a message's first line.
func cut(message string, room int) string {
	line, _, more := strings.Cut(message, "\n")
	if runes := []rune(line); len(runes) > room {
		line, more = string(runes[:room]), true
	}
	if more {
		line += " …"
	}
	return line
}

// lineRoom is how much of a message has room in a line that shows nothing else.
const lineRoom = 300
