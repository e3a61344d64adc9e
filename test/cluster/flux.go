// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/yaml"
)

// startFlux installs Flux's CRDs, makes its namespace and starts its controllers.
func (s *starter) startFlux(ctx context.Context) error {
	if err := s.cluster.InstallCRDs(ctx, s.layout.CRDs()); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(s.cluster.restConfig)
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: FluxNamespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("namespace %s: %w", FluxNamespace, err)
	}
	s.options.Progress("Flux's CRDs are established")
	if s.options.Parts == APIServerOnly {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, name := range []string{SourceController, KustomizeController, HelmController} {
		group.Go(func() error {
			return s.startComponent(ctx, func() (ProcessSpec, error) { return s.cluster.fluxController(name, name) })
		})
	}
	return group.Wait()
}

// StartFluxController starts one more of Flux's controllers (HelmController, say) under another name, with further arguments:
// for shards, each of which watches another --watch-label-selector.
func (c *Cluster) StartFluxController(ctx context.Context, controller, name string, args ...string) (*Process, error) {
	spec, err := c.fluxController(controller, name)
	if err != nil {
		return nil, err
	}
	spec.Args = append(spec.Args, args...)
	return c.StartProcess(ctx, spec)
}

// fluxController is the spec of a controller of Flux.
func (c *Cluster) fluxController(controller, name string) (ProcessSpec, error) {
	addresses, err := freeAddresses(2)
	if err != nil {
		return ProcessSpec{}, err
	}
	health, metrics := addresses[0], addresses[1]
	args := []string{"--health-addr=" + health, "--metrics-addr=" + metrics, "--log-level=info", "--log-encoding=json"}
	switch controller {
	case SourceController:
		storage, err := freeAddresses(1)
		if err != nil {
			return ProcessSpec{}, err
		}
		args = append(args, "--storage-path="+filepath.Join(c.dir, "data", name), "--storage-addr="+storage[0], "--storage-adv-addr="+storage[0])
		if err := os.MkdirAll(filepath.Join(c.dir, "data", name), 0o755); err != nil {
			return ProcessSpec{}, err
		}
	case HelmController, KustomizeController:
		args = append(args, "--concurrent=10")
	default:
		return ProcessSpec{}, fmt.Errorf("no controller of Flux here is named %q", controller)
	}
	return ProcessSpec{
		Name: name, Path: c.layout.Bin(controller), Args: args, ReadyURL: "http://" + health + "/readyz",
		Env:   []string{"KUBECONFIG=" + kubeconfigFile(c.dir, controller), "RUNTIME_NAMESPACE=" + FluxNamespace},
		Grace: 3 * time.Second,
	}, nil
}

// InstallCRDs creates the CustomResourceDefinitions of all *.yaml files in the folders, one a file, and waits until the API
// server serves them. One that exists already is an error.
func (c *Cluster) InstallCRDs(ctx context.Context, folders ...string) error {
	client, err := apiextensions.NewForConfig(c.RESTConfig())
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			return err
		}
		if len(files) == 0 {
			return fmt.Errorf("no CRDs in %s", folder)
		}
		for _, file := range files {
			group.Go(func() error { return installCRD(ctx, client, file) })
		}
	}
	return group.Wait()
}

func installCRD(ctx context.Context, client apiextensions.Interface, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(text, crd); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	crds := client.ApiextensionsV1().CustomResourceDefinitions()
	if _, err := crds.Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return Await(ctx, defaultReadyTimeout, "CRD "+crd.Name, func(ctx context.Context) error {
		now, err := crds.Get(ctx, crd.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !established(now) {
			return fmt.Errorf("it is not established: %v", now.Status.Conditions)
		}
		return nil
	})
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(crd.Status.Conditions, func(condition apiextensionsv1.CustomResourceDefinitionCondition) bool {
		return condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue
	})
}
