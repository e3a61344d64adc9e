// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/plan"
)

// clusterFlags say offline what the operator knows of its cluster.
type clusterFlags struct {
	apiVersions  []string
	exposureMode string
	issuer       string
	clusterName  string
}

func (c *clusterFlags) add(f *pflag.FlagSet) {
	f.StringSliceVar(&c.apiVersions, "api-versions", nil, "what the cluster serves, as group/version or group/version/Kind: "+
		"for classes with capabilityValues, and for --exposure-mode auto; may be repeated")
	f.StringVar(&c.exposureMode, "exposure-mode", string(v1alpha1.ExposureNone), "none, gateway-api, route, or auto, which is gateway-api "+
		"if --api-versions has "+v1alpha1.GatewayAPIVersion+" and route if not")
	f.StringVar(&c.issuer, "external-ca-issuer-name", "", "the issuer of certificates in exposure mode route")
	addGiven(f, &c.clusterName, "cluster-name", v1alpha1.DefaultClusterName, "the cluster's name, for messages")
}

// environment refuses what the operator would refuse at its start.
func (c *clusterFlags) environment() (plan.Environment, error) {
	env := plan.Environment{
		ClusterName:          c.clusterName,
		ExposureMode:         v1alpha1.ExposureMode(c.exposureMode),
		ExternalCAIssuerName: c.issuer,
	}
	if c.apiVersions != nil {
		env.APIs = plan.ServedAPIs(c.apiVersions)
	}
	for _, apiVersion := range c.apiVersions {
		if err := plan.CheckAPIVersion(apiVersion); err != nil {
			return env, fmt.Errorf("--api-versions: %w", err)
		}
	}
	if slices.Contains(plan.ExposureModes, env.ExposureMode) {
		return env, nil
	}
	return env, fmt.Errorf("--exposure-mode %q: must be none, auto, gateway-api or route", c.exposureMode)
}
