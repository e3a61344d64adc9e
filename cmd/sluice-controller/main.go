// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Command sluice-controller is the operator: it serves APIGateways and their classes. All it does is in internal/controller.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/controller"
)

// settings are the command line.
type settings struct {
	controller.Options
	leaderElection          bool
	metricsAddr, healthAddr string
	logLevel, logEncoding   string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sluice-controller:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
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

// parse reads the command line into the global flag set, where controller-runtime has put --kubeconfig.
func parse(args []string) (settings, error) {
	var s settings
	var namespaces string
	f := flag.CommandLine
	f.IntVar(&s.Concurrent, "concurrent", 4, "The number of gateways reconciled at the same time.")
	f.StringVar(&namespaces, "watch-namespaces", "", "The namespaces whose gateways are served, separated by commas. Empty: all.")
	f.StringVar(&s.ControllerName, "controller-name", v1alpha1.DefaultControllerName, "The controllerName of the classes that are served.")
	f.BoolVar(&s.leaderElection, "enable-leader-election", false, "Let one of several replicas work at a time.")
	f.StringVar(&s.metricsAddr, "metrics-addr", ":8080", "The address of the metrics endpoint; 0 turns it off.")
	f.StringVar(&s.healthAddr, "health-addr", ":9440", "The address of the health endpoint.")
	f.StringVar(&s.logLevel, "log-level", "info", "How much to log: debug, info or error.")
	f.StringVar(&s.logEncoding, "log-encoding", "json", "How to log: json or console.")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	s.WatchNamespaces = split(namespaces)
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
	return setLogger(s.logLevel, s.logEncoding)
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

func preflight(config *rest.Config) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	return controller.Preflight(client.OpenAPIV3())
}

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
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, err
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("readyz", healthz.Ping)
}
