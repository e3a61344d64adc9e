// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// IssuerRequiredError ends the start of an operator whose exposure mode is route, and that has no issuer for it.
type IssuerRequiredError struct{ ClusterName string }

func (e *IssuerRequiredError) Error() string { return plan.IssuerRequired(e.ClusterName) }

// discoveryTimeout bounds each request: a server that hangs must not end the looking.
const discoveryTimeout = 10 * time.Second

// environment is what plans depend on beside what people commit: the flags, and what the cluster serves. That is read anew
// every interval and remembered: what cannot be read changes nothing.
type environment struct {
	client   discovery.DiscoveryInterface
	interval time.Duration
	flags    plan.Environment

	mu     sync.Mutex
	served map[string][]string // by group version: itself, and its kinds as group/version/Kind
	doubts map[string][]string // a reading that lacks what was served before, to be seen twice
	apis   plan.APIs
	// wake has the gateways looked at whose class asks what the cluster serves; nil until the controller runs.
	wake func(context.Context)
}

func newEnvironment(mgr ctrl.Manager, o Options) (*environment, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.Timeout = discoveryTimeout
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	e := &environment{client: discoverer, interval: o.DiscoveryInterval, flags: plan.Environment{
		ClusterName:          o.ClusterName,
		ExposureMode:         o.ExposureMode,
		ExternalCAIssuerName: o.ExternalCAIssuerName,
	}}
	if _, err := e.refresh(); err != nil {
		return nil, fmt.Errorf("cannot read what the cluster serves: %w", err)
	}
	return e, e.checkExposure()
}

// checkExposure fails where gateways would be exposed by routes without an issuer.
func (e *environment) checkExposure() error {
	mode, unknown := plan.ResolveExposure(e.flags.ExposureMode, e.apis)
	switch {
	case unknown != "":
		return fmt.Errorf("--exposure-mode=auto: cannot tell whether the cluster serves %s: %s", v1alpha1.GatewayAPIVersion, unknown)
	case mode == v1alpha1.ExposureRoute && e.flags.ExternalCAIssuerName == "":
		return &IssuerRequiredError{e.flags.ClusterName}
	}
	return nil
}

// current is the environment of a plan.
func (e *environment) current() plan.Environment {
	e.mu.Lock()
	defer e.mu.Unlock()
	env := e.flags
	env.APIs = e.apis
	return env
}

// refresh reads what the cluster serves, and says whether that has changed.
func (e *environment) refresh() (bool, error) {
	_, lists, err := e.client.ServerGroupsAndResources()
	var partial *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &partial) {
		return false, err
	}
	served := map[string][]string{}
	for _, list := range lists {
		names := []string{list.GroupVersion}
		for _, resource := range list.APIResources {
			if strings.Contains(resource.Name, "/") {
				continue // a subresource, often of another group's kind
			}
			names = append(names, list.GroupVersion+"/"+resource.Kind)
		}
		served[list.GroupVersion] = names
	}
	// An API server that starts answers for a while without any CRD's group, and ours is one.
	if own := v1alpha1.GroupVersion.String(); served[own] == nil && (partial == nil || partial.Groups[v1alpha1.GroupVersion] == nil) {
		return false, fmt.Errorf("the API server answers, and without %s", own)
	}
	if partial == nil {
		return e.learn(served, nil), nil
	}
	return e.learn(served, partial.Groups), nil
}

// learn takes over what was read. Of group versions that could not be read the last that is known stays; of one that never
// could be, it is only known why. That something is gone is believed when it was read twice: a wrong reading would upgrade
// every gateway of a class that asks, and the next one again.
func (e *environment) learn(served map[string][]string, failures map[schema.GroupVersion]error) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	failed := map[string]string{}
	for gv, err := range failures {
		if known, ok := e.served[gv.String()]; ok {
			served[gv.String()] = known
		} else {
			failed[gv.String()] = err.Error()
		}
	}
	if lacks(served, e.served) && !reflect.DeepEqual(served, e.doubts) {
		e.doubts = served
		return false
	}
	e.served, e.doubts = served, nil
	var all []string
	for _, names := range served {
		all = append(all, names...)
	}
	apis := plan.ServedAPIs(all)
	for gv, why := range failed {
		apis = apis.Except(gv, why)
	}
	changed := !reflect.DeepEqual(apis, e.apis)
	e.apis = apis
	return changed
}

// lacks says whether something that was served is not any more.
func lacks(now, before map[string][]string) bool {
	for version, names := range before {
		for _, name := range names {
			if !slices.Contains(now[version], name) {
				return true
			}
		}
	}
	return false
}

// Start reads again and again until the context ends. It runs in every replica, so that one that takes over knows.
func (e *environment) Start(ctx context.Context) error {
	ticker := time.NewTicker(e.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		changed, err := e.refresh()
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot read what the cluster serves; what was last known stays")
		}
		if changed {
			e.wakeUp(ctx)
		}
	}
}

// NeedLeaderElection is false: see Start.
func (e *environment) NeedLeaderElection() bool { return false }

func (e *environment) wakeUp(ctx context.Context) {
	e.mu.Lock()
	wake := e.wake
	e.mu.Unlock()
	if wake != nil {
		wake(ctx)
	}
}

// wakes is the source of the gateways' controller: from its start on it is told of changes.
func (e *environment) wakes(reader client.Reader, gatewaysOf func(context.Context, client.Object) []ctrl.Request) func(context.Context, workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	return func(_ context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.wake = func(ctx context.Context) {
			classes := &v1alpha1.APIGatewayClassList{}
			if err := reader.List(ctx, classes); err != nil {
				ctrl.LoggerFrom(ctx).Error(err, "cannot list classes in the cache")
			}
			for i := range classes.Items {
				if !plan.AsksForAPIs(&classes.Items[i]) {
					continue
				}
				for _, request := range gatewaysOf(ctx, &classes.Items[i]) {
					queue.Add(request)
				}
			}
		}
		return nil
	}
}
