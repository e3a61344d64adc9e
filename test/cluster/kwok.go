// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

// BrokenTag is the image tag of pods that are scheduled and never get ready.
const BrokenTag = "broken"

// startNodes starts kwok and waits until its nodes are ready.
func (s *starter) startNodes(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.startComponent(ctx, s.kwok) })
	group.Go(func() error { return s.makeNodes(ctx) })
	return group.Wait()
}

func (s *starter) kwok() (ProcessSpec, error) {
	addresses, err := freeAddresses(1)
	if err != nil {
		return ProcessSpec{}, err
	}
	config := s.path("data", "kwok-stages.yaml")
	if err := writeStages(s.layout.Stages(), config); err != nil {
		return ProcessSpec{}, err
	}
	return ProcessSpec{
		Name: Kwok, Path: s.layout.Bin(Kwok), ReadyURL: "http://" + addresses[0] + "/healthz",
		Args: []string{
			"--kubeconfig=" + kubeconfigFile(s.options.Dir, Kwok), "--config=" + config,
			"--manage-all-nodes", "--server-address=" + addresses[0],
		},
	}, nil
}

func (s *starter) makeNodes(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(s.cluster.restConfig)
	if err != nil {
		return err
	}
	for i := range s.options.Nodes {
		node := fakeNode(fmt.Sprintf("node-%d", i+1))
		if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
	}
	return Await(ctx, defaultReadyTimeout, "ready nodes", func(ctx context.Context) error {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, node := range nodes.Items {
			if !nodeReady(node) {
				return fmt.Errorf("node %s is not ready (%s may say more)", node.Name, s.path("logs", Kwok+".log"))
			}
		}
		return nil
	})
}

func nodeReady(node corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func fakeNode(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name:        name,
		Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"},
		Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		},
	}}
}

// writeStages joins kwok's stages into one file: nodes are ready, pods run and are ready, Jobs' pods complete, all at once.
// Only pods with an image of the tag "broken" are never made ready.
func writeStages(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.yaml"))
	if err != nil {
		return err
	}
	var joined []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var stage unstructured.Unstructured
		if err := yaml.Unmarshal(text, &stage.Object); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := leaveBrokenPods(&stage); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		text, err = yaml.Marshal(stage.Object)
		if err != nil {
			return err
		}
		joined = append(append(joined, "---\n"...), text...)
	}
	return os.WriteFile(to, joined, 0o644)
}

func leaveBrokenPods(stage *unstructured.Unstructured) error {
	if stage.GetName() != "pod-ready" {
		return nil
	}
	path := []string{"spec", "selector", "matchExpressions"}
	expressions, found, err := unstructured.NestedSlice(stage.Object, path...)
	if err != nil || !found {
		return fmt.Errorf("has no spec.selector.matchExpressions (%w)", err)
	}
	expressions = append(expressions, map[string]any{
		"key":      `.spec.containers.[].image | select( test(":` + BrokenTag + `$") )`,
		"operator": "DoesNotExist",
	})
	return unstructured.SetNestedSlice(stage.Object, expressions, path...)
}
