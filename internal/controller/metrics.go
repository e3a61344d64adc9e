// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// gatewayMetrics tells of the gateways' statuses, as the cache has them when Prometheus asks: nothing is kept up to date,
// and a gateway that is deleted has no series any more. Only the replica that leads tells of them, and of those alone that
// it serves, so that each gateway has one series.
type gatewayMetrics struct {
	gateways       client.Reader // the cache
	children       *children
	controllerName string
	selector       labels.Selector
}

// Start registers the metrics for as long as this replica leads.
func (g *gatewayMetrics) Start(ctx context.Context) error {
	if err := metrics.Registry.Register(g); err != nil {
		return err
	}
	<-ctx.Done()
	metrics.Registry.Unregister(g)
	return nil
}

// gatewayLabels are those of every series.
var gatewayLabels = []string{"namespace", "name", "class"}

func description(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("sluice_apigateway_"+name, help, append(gatewayLabels[:len(gatewayLabels):len(gatewayLabels)], labels...), nil)
}

// The metrics. Those with a label for a state have a series for each state, of which one is 1 and the others are 0, in the
// manner of kube-state-metrics.
var (
	infoMetric  = description("info", "What the gateway runs; always 1.", "chart_version", "revision")
	readyMetric = description("ready", "Whether the gateway's condition Ready has this status.", "status")
	phaseMetric = description("phase", "Whether the gateway is in this phase.", "phase")

	stalledMetric     = description("stalled", "Whether the gateway gets no better without a change.")
	failuresMetric    = description("failures", "Failed rounds of what is desired now.")
	lastSuccessMetric = description("last_success_timestamp_seconds",
		"When the latest revision that succeeded was deployed; absent when none has.")
	nextRetryMetric   = description("next_retry_timestamp_seconds", "When the next attempt starts; absent when none is scheduled.")
	correctionsMetric = description("corrections_total", "Corrections that Flux was asked for because somebody deleted or changed an object of the release.")
)

var (
	readyStatuses = []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}
	phases        = []v1alpha1.Phase{
		v1alpha1.PhasePending, v1alpha1.PhaseProgressing, v1alpha1.PhaseReady, v1alpha1.PhaseDegraded, v1alpha1.PhaseFailed,
		v1alpha1.PhaseSuspended, v1alpha1.PhaseDeleting,
	}
)

// Describe lists the metrics.
func (g *gatewayMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		infoMetric, readyMetric, phaseMetric, stalledMetric, failuresMetric, lastSuccessMetric, nextRetryMetric, correctionsMetric,
	} {
		out <- desc
	}
}

// Collect reads the statuses.
func (g *gatewayMetrics) Collect(out chan<- prometheus.Metric) {
	ctx := context.Background() // reading from the cache waits for nothing
	classes, gateways := &v1alpha1.APIGatewayClassList{}, &v1alpha1.APIGatewayList{}
	for _, list := range []client.ObjectList{classes, gateways} {
		if err := g.gateways.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			ctrl.Log.Error(err, "cannot list in the cache for metrics")
			return
		}
	}
	foreign := g.foreign(classes.Items)
	for i := range gateways.Items {
		gateway := &gateways.Items[i]
		if class := classOf(gateway); !foreign[class] && serves(g.selector, gateway) {
			series{out, []string{gateway.Namespace, gateway.Name, class}}.tell(gateway, g.children.requests(client.ObjectKeyFromObject(gateway)))
		}
	}
}

// foreign are the classes of other controllers.
func (g *gatewayMetrics) foreign(classes []v1alpha1.APIGatewayClass) map[string]bool {
	foreign := map[string]bool{}
	for i := range classes {
		name := orDefault(classes[i].Spec.ControllerName, v1alpha1.DefaultControllerName)
		foreign[classes[i].Name] = name != g.controllerName
	}
	return foreign
}

// classOf is the class that serves the gateway, or the one that it names; empty when there is none.
func classOf(gateway *v1alpha1.APIGateway) string {
	if gateway.Status.ClassName != "" {
		return gateway.Status.ClassName
	}
	return orDefault(gateway.Spec.ClassName, "")
}

// series are those of one gateway.
type series struct {
	out    chan<- prometheus.Metric
	labels []string
}

func (s series) tell(gateway *v1alpha1.APIGateway, corrections asked) {
	status := gateway.Status
	if r := status.Release; r != nil {
		s.gauge(infoMetric, 1, r.ChartVersion, strconv.FormatInt(r.Revision, 10))
	}
	ready := metav1.ConditionUnknown
	if c := apimeta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady); c != nil {
		ready = c.Status
	}
	for _, each := range readyStatuses {
		s.gauge(readyMetric, oneIf(each == ready), string(each))
	}
	for _, each := range phases {
		s.gauge(phaseMetric, oneIf(each == status.Phase), string(each))
	}
	s.gauge(stalledMetric, oneIf(apimeta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionStalled)))
	s.gauge(failuresMetric, float64(status.Failures))
	s.moment(lastSuccessMetric, lastSuccess(status))
	s.moment(nextRetryMetric, status.NextRetryTime)
	s.send(correctionsMetric, prometheus.CounterValue, float64(corrections.times))
}

func (s series) gauge(desc *prometheus.Desc, value float64, labels ...string) {
	s.send(desc, prometheus.GaugeValue, value, labels...)
}

func (s series) send(desc *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
	all := append(s.labels[:len(s.labels):len(s.labels)], labels...)
	s.out <- prometheus.MustNewConstMetric(desc, kind, value, all...)
}

// moment sends no series where there is no such time.
func (s series) moment(desc *prometheus.Desc, at *metav1.Time) {
	if at != nil {
		s.gauge(desc, float64(at.UnixNano())/float64(time.Second))
	}
}

// lastSuccess is when the latest revision that was seen to succeed was deployed. Where the history no longer reaches back to
// it, the oldest revision of the history is no earlier.
func lastSuccess(status v1alpha1.APIGatewayStatus) *metav1.Time {
	for _, entry := range status.History {
		if entry.DesiredHash != "" {
			return entry.Deployed
		}
	}
	if n := len(status.History); n > 0 && status.Release != nil && status.Release.DesiredHash != "" {
		return status.History[n-1].Deployed
	}
	return nil
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
