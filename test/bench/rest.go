// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
	"github.com/sluice-gateway/sluice/test/operator"
)

// rest: all gateways are Ready, and nothing happens.
func (s *stage) rest(ctx context.Context, o Options, at *Size) error {
	if _, err := s.quiet(ctx); err != nil {
		return err
	}
	pid, err := s.pid()
	if err != nil {
		return err
	}
	begin := time.Now()
	before, err := cpuSeconds(pid)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(o.Rest):
	}
	after, err := cpuSeconds(pid)
	if err != nil {
		return err
	}
	at.Rest.Seconds = time.Since(begin).Seconds()
	at.Rest.CPUSeconds = after - before
	if at.Rest.Writes, at.Rest.Reads, err = s.counted(begin); err != nil {
		return err
	}
	if at.Rest.ResidentMB, err = residentMB(pid); err != nil {
		return err
	}
	at.Rest.Cached, err = s.cached(ctx)
	return err
}

// counted are the operator's write and read requests since a moment. A watch counts when it ends.
func (s *stage) counted(since time.Time) (writes, reads int, err error) {
	events, err := s.requests(since, func(cluster.AuditEvent) bool { return true })
	for _, e := range events {
		if e.IsWrite() {
			writes++
		} else {
			reads++
		}
	}
	return writes, reads, err
}

// cached are the objects that there are of the kinds that the operator watches.
func (s *stage) cached(ctx context.Context) (map[string]int, error) {
	configs := &metav1.PartialObjectMetadataList{}
	configs.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	gateways, classes, releases, sources := &v1alpha1.APIGatewayList{}, &v1alpha1.APIGatewayClassList{}, &helmv2.HelmReleaseList{}, &sourcev1.OCIRepositoryList{}
	for _, list := range []client.ObjectList{configs, gateways, classes, releases, sources} {
		if err := s.api.List(ctx, list); err != nil {
			return nil, err
		}
	}
	return map[string]int{
		"APIGateway": len(gateways.Items), "APIGatewayClass": len(classes.Items), "HelmRelease": len(releases.Items),
		"OCIRepository": len(sources.Items), "ConfigMap (metadata alone)": len(configs.Items),
	}, nil
}

// restart: the operator is killed and started again, first with nothing to do, then with one gateway changed meanwhile.
func (s *stage) restart(ctx context.Context, _ Options, at *Size) error {
	begin, err := s.startedAgain(ctx)
	if err != nil {
		return err
	}
	since, err := s.quiet(ctx)
	if err != nil {
		return err
	}
	at.Restart.QuietSeconds = since.Sub(begin).Seconds()
	if at.Restart.Writes, at.Restart.Reads, err = s.counted(begin); err != nil {
		return err
	}
	metrics, err := s.scrape(ctx)
	if err != nil {
		return err
	}
	looked := sum(metrics, "controller_runtime_reconcile_total", map[string]string{"controller": "apigateway"})
	if looked < float64(at.Gateways) {
		return fmt.Errorf("after the restart the operator looked at %.0f gateways, and was quiet: the measurement means nothing", looked)
	}
	at.Restart.FirstSeconds, err = s.firstUseful(ctx, gatewayName(at.Gateways/2))
	return err
}

// startedAgain kills the operator and starts it, without waiting until it is ready, and says when.
func (s *stage) startedAgain(ctx context.Context) (time.Time, error) {
	process := s.cluster.Process(operator.ProcessName)
	if err := process.Kill(); err != nil {
		return time.Time{}, err
	}
	begin := time.Now()
	return begin, process.Start(ctx)
}

// firstUseful is how long after its start the operator has written what was committed while it was dead.
func (s *stage) firstUseful(ctx context.Context, name string) (float64, error) {
	if err := s.cluster.Process(operator.ProcessName).Kill(); err != nil {
		return 0, err
	}
	seen, err := watchFor(ctx, s.api, &helmv2.HelmReleaseList{}, func(hr *helmv2.HelmRelease) bool {
		return hr.Name == name && hr.Spec.Values != nil && strings.Contains(string(hr.Spec.Values.Raw), "changed")
	})
	if err != nil {
		return 0, err
	}
	defer seen.stop()
	g := newGateway(name)
	if err := s.api.Patch(ctx, g, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"values":{"message":"changed"}}}`))); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := s.cluster.Process(operator.ProcessName).Start(ctx); err != nil {
		return 0, err
	}
	times, err := seen.await(ctx, "the HelmRelease of the changed gateway", name)
	if err != nil {
		return 0, err
	}
	return times[0].Sub(begin).Seconds(), nil
}
