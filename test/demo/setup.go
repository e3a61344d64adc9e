// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"os"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// startCluster starts this program once more, as the cluster's supervisor.
func (d *demo) startCluster(ctx context.Context) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	started, err := cluster.UpDetached(ctx, d.at.cluster(), &lines{report: d.report}, self, "serve")
	if err != nil {
		return "", err
	}
	d.cluster = started
	d.client, err = newClient(started)
	return "", err
}

func newClient(c *cluster.Cluster) (client.Client, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, corev1.AddToScheme, helmv2.AddToScheme, sourcev1.AddToScheme, v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return client.New(c.RESTConfig(), client.Options{Scheme: scheme})
}

func (d *demo) pushCharts(ctx context.Context) (string, error) {
	var pushed []string
	for _, version := range []string{firstChart, secondChart} {
		chart, err := d.cluster.PushChart(ctx, d.at.chart(), version)
		if err != nil {
			return "", err
		}
		d.chartURL = chart.URL
		pushed = append(pushed, version)
	}
	return d.chartURL + " " + strings.Join(pushed, " and "), nil
}

func (d *demo) installOperator(ctx context.Context) (string, error) {
	if _, err := operator.Install(ctx, d.cluster); err != nil {
		return "", err
	}
	return "it acts as ServiceAccount " + operator.Namespace + "/" + operator.ServiceAccount, nil
}

// The names of the team's repository, and of the GitRepository and Kustomization that follow it.
const (
	team   = "team"
	folder = "gateways"
)

const followTeam = `apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  url: %[3]s
  ref: {branch: main}
  interval: 2s
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  sourceRef: {kind: GitRepository, name: %[1]s}
  path: ./%[4]s
  interval: 1m
  retryInterval: 5s
  timeout: 2m
  prune: true
  wait: true
`

// followRepository makes the team's repository, which holds its namespace to begin with, and has Flux apply what is
// committed there.
func (d *demo) followRepository(ctx context.Context) (string, error) {
	e, err := readExample(d.at.example())
	if err != nil {
		return "", err
	}
	d.gateway = client.ObjectKey{Namespace: e.gateway.GetNamespace(), Name: e.gateway.GetName()}
	url, err := d.cluster.Git().CreateRepository(ctx, team)
	if err != nil {
		return "", err
	}
	if err := os.RemoveAll(d.at.team()); err != nil {
		return "", err
	}
	if d.worktree, err = d.cluster.Git().Clone(ctx, team, d.at.team()); err != nil {
		return "", err
	}
	namespace, err := e.files("Namespace")
	if err != nil {
		return "", err
	}
	if err := d.commitAndPush(ctx, "Add the team's namespace", namespace); err != nil {
		return "", err
	}
	if err := d.cluster.Apply(ctx, fmt.Sprintf(followTeam, team, cluster.FluxNamespace, url, folder)); err != nil {
		return "", err
	}
	_, err = d.until(d.kustomizationReady)(ctx)
	return url + ", folder " + folder, err
}
