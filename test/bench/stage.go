// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/controller"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
	"github.com/sluice-gateway/sluice/test/toolchain"
)

// stage is a cluster in which nobody acts on Flux's objects, with a class and a namespace.
type stage struct {
	cluster *cluster.Cluster
	api     client.WithWatch // the administrator's, which nothing holds back
	acting  client.Client    // of the operator's ServiceAccount: the API server checks its rights, and gives it a fair share of its time
	binary  string           // the operator's
	class   *v1alpha1.APIGatewayClass
	metrics string // the operator's address
}

// patience bounds every wait: what takes longer is broken.
const patience = 10 * time.Minute

const namespace = "bench"

func newStage(ctx context.Context, layout toolchain.Layout, dir string) (*stage, error) {
	started, err := cluster.Start(ctx, cluster.Options{Dir: dir, Parts: cluster.APIServerOnly})
	if err != nil {
		return nil, err
	}
	s := &stage{cluster: started, binary: filepath.Join(layout.Root(), "bin", operator.ProcessName)}
	if err := s.prepare(ctx, layout); err != nil {
		return nil, fmt.Errorf("%w (%w)", err, started.Stop())
	}
	return s, nil
}

func (s *stage) prepare(ctx context.Context, layout toolchain.Layout) (err error) {
	if err := operator.Apply(ctx, s.cluster, filepath.Join(layout.Root(), "charts", "sluice")); err != nil {
		return err
	}
	if s.metrics, err = cluster.FreeAddress(); err != nil {
		return err
	}
	if s.api, err = newClient(s.cluster.RESTConfig()); err != nil {
		return err
	}
	if s.acting, err = s.newActing(ctx); err != nil {
		return err
	}
	if err := s.api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return err
	}
	s.class = newClass("oci://registry.example.com/charts/gateway", false)
	return s.api.Create(ctx, s.class)
}

func (s *stage) newActing(ctx context.Context) (client.Client, error) {
	kubeconfig, err := s.cluster.KubeconfigFor(ctx, operator.Namespace, operator.ServiceAccount)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	return newClient(config)
}

func newClient(config *rest.Config) (client.WithWatch, error) {
	config.QPS = -1
	scheme, err := controller.NewScheme()
	if err != nil {
		return nil, err
	}
	if err := eventsv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme, FieldOwner: "bench"})
}

func newClass(url string, insecure bool) *v1alpha1.APIGatewayClass {
	tag := "1.0.0"
	return &v1alpha1.APIGatewayClass{
		ObjectMeta: metav1.ObjectMeta{Name: "bench"},
		Spec: v1alpha1.APIGatewayClassSpec{
			Chart:         v1alpha1.ClassChart{URL: url, Insecure: &insecure, Ref: v1alpha1.ChartRef{ChartVersion: v1alpha1.ChartVersion{Tag: &tag}}},
			Values:        &apiextensionsv1.JSON{Raw: []byte(`{"podAnnotations":{"note":"0"}}`)},
			ValueMappings: []v1alpha1.ValueMapping{{Field: "infrastructure.replicas", Paths: []string{"replicas"}}},
		},
	}
}

func newGateway(name string) *v1alpha1.APIGateway {
	class, replicas := "bench", int32(2)
	return &v1alpha1.APIGateway{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.APIGatewaySpec{
			ClassName:      &class,
			Infrastructure: &v1alpha1.Infrastructure{Replicas: &replicas},
			Values:         &apiextensionsv1.JSON{Raw: []byte(`{"message":"hello"}`)},
		},
	}
}

func gatewayName(i int) string { return fmt.Sprintf("gateway-%05d", i) }

// startOperator starts the real binary, with the rights that it ships with.
func (s *stage) startOperator(ctx context.Context) (*cluster.Process, error) {
	return operator.Start(ctx, s.cluster, s.binary, fmt.Sprintf("--concurrent=%d", concurrent), "--metrics-addr="+s.metrics, "--log-level=error")
}

// each calls a function for 0 to n-1, as many at a time as there are workers.
func each(ctx context.Context, n int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrent)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// wipe removes all gateways and Flux's objects, and returns when they are gone and garbage collection has come to rest: what
// one contestant leaves behind must not take time from the next.
func (s *stage) wipe(ctx context.Context) error {
	for _, object := range []client.Object{&v1alpha1.APIGateway{}, &helmv2.HelmRelease{}, &sourcev1.OCIRepository{}} {
		if err := s.deleteAll(ctx, object); err != nil {
			return err
		}
	}
	lists := []client.ObjectList{&v1alpha1.APIGatewayList{}, &helmv2.HelmReleaseList{}, &sourcev1.OCIRepositoryList{}}
	if err := cluster.Await(ctx, patience, "the end of all objects", func(ctx context.Context) error {
		for _, list := range lists {
			if err := s.api.List(ctx, list, client.InNamespace(namespace), client.Limit(1)); err != nil {
				return err
			}
			if n := countOf(list); n > 0 {
				return fmt.Errorf("there are %Ts", list)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	_, err := s.still(ctx, cluster.ControllerManager)
	return err
}

// deleteAll asks again for as long as the API server gives up: it needs more than its minute for thousands.
func (s *stage) deleteAll(ctx context.Context, object client.Object) error {
	return cluster.Await(ctx, patience, "the deletion", func(ctx context.Context) error {
		return s.api.DeleteAllOf(ctx, object, client.InNamespace(namespace))
	})
}

func countOf(list client.ObjectList) int {
	switch l := list.(type) {
	case *v1alpha1.APIGatewayList:
		return len(l.Items)
	case *helmv2.HelmReleaseList:
		return len(l.Items)
	case *sourcev1.OCIRepositoryList:
		return len(l.Items)
	}
	return 0
}
