// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxobjects"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// TestWhatAPlanAcceptsTheAPIServerTakes makes up gateways and classes for SLUICE_FUZZTIME (20s): what a plan accepts the API
// server must take, the two themselves as well as the objects that come of them. A failure names its seed.
func TestWhatAPlanAcceptsTheAPIServerTakes(t *testing.T) {
	must(t, admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "fuzz"}}))
	limit, err := time.ParseDuration(cmp.Or(os.Getenv("SLUICE_FUZZTIME"), "20s"))
	must(t, err)
	var tried, accepted atomic.Int64
	var group errgroup.Group
	end := time.Now().Add(limit)
	for range 8 {
		group.Go(func() error {
			for time.Now().Before(end) && !t.Failed() {
				tried.Add(1)
				if tryOne(t, rand.Uint64()) {
					accepted.Add(1)
				}
			}
			return nil
		})
	}
	must(t, group.Wait())
	t.Logf("%d tried, %d accepted", tried.Load(), accepted.Load())
	if accepted.Load() < tried.Load()/20 {
		t.Error("so few are accepted that this shows little")
	}
}

// tryOne says whether what the seed makes was accepted.
func tryOne(t *testing.T, seed uint64) bool {
	m := newMaker(seed)
	class := m.class()
	gateway := m.gateway(class.Name)
	p, err := plan.Make(plan.Input{
		Gateway:     gateway,
		Classes:     []v1alpha1.APIGatewayClass{class},
		Environment: plan.Environment{APIs: plan.ServedAPIs([]string{"v1", "apps/v1"}), ExposureMode: v1alpha1.ExposureRoute, ExternalCAIssuerName: "ca"},
	})
	if refused := new(plan.Error); errors.As(err, &refused) {
		return false
	}
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return false
	}
	objects := fluxobjects.Make(p, fluxobjects.SharedSources)
	for _, o := range []client.Object{class.DeepCopy(), gateway.DeepCopy(), objects.Source, objects.Release} {
		requireTaken(t, seed, o, class, gateway)
	}
	return true
}

// requireTaken tries an object that a plan accepted.
func requireTaken(t *testing.T, seed uint64, o client.Object, class v1alpha1.APIGatewayClass, gateway *v1alpha1.APIGateway) {
	t.Helper()
	err := admin.Create(context.Background(), o, client.DryRunAll, client.FieldValidation("Strict"))
	if err != nil && !apierrors.IsNotFound(err) { // of a namespace that nobody made
		t.Errorf("seed %d: %v\n%s\nof the class\n%s\nand the gateway\n%s", seed, err, inYAML(o), inYAML(class), inYAML(gateway))
	}
}
