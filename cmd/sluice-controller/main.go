// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Command sluice-controller is the operator: it serves APIGateways and their classes. All it does is in internal/controller.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap/zapcore"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/controller"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// settings are the command line.
type settings struct {
	controller.Options
	leaderElection          bool
	metricsAddr, healthAddr string
	logLevel, logEncoding   string
}

func main() {
	err := run(os.Args[1:])
	if err == nil {
		return
	}
	if missing, ok := errors.AsType[*controller.IssuerRequiredError](err); ok {
		fmt.Fprintln(os.Stderr, missing) // just that line: it is what people and their alerts look for
	} else {
		fmt.Fprintln(os.Stderr, "sluice-controller:", err)
	}
	os.Exit(1)
}

func run(args []string) error {
	collectSooner()
	s, err := parse(args)
	if err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.QPS = -1 // the API server's priority and fairness limits us
	if err := preflight(config); err != nil {
		return err
	}
	mgr, err := newManager(config, s)
	if err != nil {
		return err
	}
	ctx := ctrl.SetupSignalHandler()
	if err := controller.Setup(ctx, mgr, s.Options); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// gcPercent: the operator rests nearly always, and most of its memory are caches. To collect garbage sooner than Go does by itself
// costs a little where there is much to do, and spares a fifth of the memory of 5,000 gateways.
const gcPercent = 50

// collectSooner leaves the choice to the environment variable GOGC, if that is set.
func collectSooner() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// parse reads the command line into the global flag set, where controller-runtime has put --kubeconfig.
func parse(args []string) (settings, error) {
	var s settings
	var namespaces, selector, mode, children string
	f := flag.CommandLine
	f.IntVar(&s.Concurrent, "concurrent", 4, "The number of gateways reconciled at the same time.")
	f.StringVar(&namespaces, "watch-namespaces", "", "The namespaces whose gateways are served, separated by commas. Empty: all.")
	f.StringVar(&selector, "watch-label-selector", "", "The gateways that are served, by their labels, such as "+v1alpha1.LabelShard+
		"=shard1. Empty: all. Of operators that share the work each gateway must be served by one.")
	f.StringVar(&s.ControllerName, "controller-name", v1alpha1.DefaultControllerName, "The controllerName of the classes that are served.")
	f.StringVar(&s.ClusterName, "cluster-name", v1alpha1.DefaultClusterName, "The name of this cluster, for messages.")
	f.StringVar(&mode, "exposure-mode", string(v1alpha1.ExposureNone), "How gateways are exposed: none, gateway-api, route, or auto, which is "+
		"gateway-api if the cluster serves "+v1alpha1.GatewayAPIVersion+" and route if not.")
	f.StringVar(&s.ExternalCAIssuerName, "external-ca-issuer-name", os.Getenv("EXTERNAL_CA_ISSUER_NAME"),
		"The issuer of certificates in exposure mode route. Default: the environment variable EXTERNAL_CA_ISSUER_NAME.")
	f.StringVar(&children, "watch-children", "", "The kinds of a release's objects whose deletion or change by hand Flux is asked to correct at once, "+
		"separated by commas: group/version/Kind, such as apps/v1/Deployment,v1/Service. Empty: Flux corrects all at its interval.")
	f.BoolVar(&s.leaderElection, "enable-leader-election", false, "Let one of several replicas work at a time.")
	f.StringVar(&s.metricsAddr, "metrics-addr", ":8080", "The address of the metrics endpoint; 0 turns it off.")
	f.StringVar(&s.healthAddr, "health-addr", ":9440", "The address of the health endpoint.")
	f.StringVar(&s.logLevel, "log-level", "info", "How much to log: debug, info or error.")
	f.StringVar(&s.logEncoding, "log-encoding", "json", "How to log: json or console.")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	s.ExposureMode = v1alpha1.ExposureMode(mode)
	var err error
	if s.WatchNamespaces, err = parseNamespaces(namespaces); err != nil {
		return s, err
	}
	if s.WatchLabelSelector, err = controller.ParseLabelSelector(selector); err != nil {
		return s, err
	}
	if s.WatchChildren, err = controller.ParseChildKinds(split(children)); err != nil {
		return s, err
	}
	return s, s.check(f.Args())
}

func (s settings) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q", rest[0])
	}
	if s.Concurrent < 1 {
		return fmt.Errorf("--concurrent is %d, and must be at least 1", s.Concurrent)
	}
	if s.ControllerName == "" {
		return fmt.Errorf("--controller-name must not be empty")
	}
	if !slices.Contains(plan.ExposureModes, s.ExposureMode) {
		return fmt.Errorf("--exposure-mode is %q: use none, auto, gateway-api or route", s.ExposureMode)
	}
	if s.ClusterName == "" {
		return errors.New("--cluster-name must not be empty")
	}
	return setLogger(s.logLevel, s.logEncoding)
}

// parseNamespaces reads the value of --watch-namespaces. One that names no namespace, such as a lone comma or blank, does not mean
// all of them: somebody meant to name some.
func parseNamespaces(list string) ([]string, error) {
	namespaces := split(list)
	if len(namespaces) == 0 && list != "" {
		return nil, fmt.Errorf("--watch-namespaces is %q, and names no namespace; leave it out to serve all", list)
	}
	for _, namespace := range namespaces {
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			return nil, fmt.Errorf("--watch-namespaces: %q is not a namespace: lowercase letters, digits and -, at most 63, separated by commas", namespace)
		}
	}
	return namespaces, nil
}

func split(list string) []string {
	var parts []string
	for _, part := range strings.Split(list, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

func setLogger(level, encoding string) error {
	var l zapcore.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return fmt.Errorf("--log-level is %q: use debug, info or error", level)
	}
	encoders := map[string]zap.Opts{"json": zap.JSONEncoder(), "console": zap.ConsoleEncoder()}
	encoder, ok := encoders[encoding]
	if !ok {
		return fmt.Errorf("--log-encoding is %q: use json or console", encoding)
	}
	ctrl.SetLogger(zap.New(zap.Level(l), encoder))
	return nil
}

// The API server tells of a CRD's fields some time after it has called the CRD Established: an operator that is installed
// together with its CRDs must not fail for that.
const (
	preflightPatience = 5 * time.Second
	preflightPause    = 250 * time.Millisecond
)

func preflight(config *rest.Config) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	for begin := time.Now(); ; time.Sleep(preflightPause) {
		err := controller.Preflight(client.OpenAPIV3())
		if err == nil || time.Since(begin) > preflightPatience {
			return err
		}
	}
}

// leaseRetry is how often the leader renews its lease, and about how often the others look at it. A leader that dies is followed
// within 20 s: by one that saw its last renewal up to 2.2 s later, waited the lease's 15 s, and looked once more.
const leaseRetry = time.Second

func newManager(config *rest.Config, s settings) (ctrl.Manager, error) {
	options, err := s.Manager()
	if err != nil {
		return nil, err
	}
	options.Metrics = metrics.Options{BindAddress: s.metricsAddr}
	options.HealthProbeBindAddress = s.healthAddr
	options.LeaderElection = s.leaderElection
	options.LeaderElectionID = s.LeaseName()
	options.LeaderElectionNamespace = os.Getenv("RUNTIME_NAMESPACE")
	options.LeaderElectionReleaseOnCancel = true
	options.RetryPeriod = new(leaseRetry)
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, err
	}
	return mgr, mgr.AddHealthzCheck("healthz", healthz.Ping) // controller.Setup says when it is ready
}
