// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// things is a CRD of a group of the test's own.
func (w *world) things() string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.%[1]s.example.com}
spec:
  group: %[1]s.example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`, w.ns)
}

func TestValuesFollowWhatTheClusterServes(t *testing.T) {
	w := newWorld(t)
	w.patchClass(fmt.Sprintf(`{"spec":{"capabilityValues":[
		{"apiVersion":"%[1]s.example.com/v1/Thing","present":{"things":"present"},"absent":{"things":"absent"}},
		{"apiVersion":"apps/v1/Deployment","present":{"deployments":"present"},"absent":{"deployments":"absent"}},
		{"apiVersion":"v1/Pod","present":{"pods":"present"}}]}}`, w.ns))
	w.running("web", "values: {}")
	since := time.Now()
	for _, line := range []string{"things: absent", "deployments: present", "pods: present"} {
		w.awaitRelease("web", "has "+line, hasValue(line))
	}
	w.apply(w.things())
	w.awaitRelease("web", "knows of the CRD", hasValue("things: present"))
	if _, err := env.Kubectl(w.ctx, "delete", "crd", "things."+w.ns+".example.com"); err != nil {
		t.Fatal(err)
	}
	w.awaitRelease("web", "knows that it is gone", hasValue("things: absent"))
	w.wroteOf("helmreleases", since, "update helmreleases web", "update helmreleases web")
}

func TestExposureFollowsTheOperatorsFlags(t *testing.T) {
	w := newWorld(t)
	w.patchClass(`{"spec":{"exposure":{"gatewayAPIValues":{"mode":"gateway-api"},"routeValues":{"mode":"route"},"externalCAIssuerNamePaths":["ca.issuer"]}}}`)
	w.gateway("web", "values: {}")
	w.awaitRelease("web", "is not exposed", func(hr *helmv2.HelmRelease) bool { return !strings.Contains(inYAML(hr.Spec.Values), "mode") })
	exposed := options()
	exposed.ExposureMode, exposed.ExternalCAIssuerName = "auto", "corp-ca"
	restart(t, exposed)
	defer restart(t, options())
	w.awaitRelease("web", "is exposed by routes, since Gateway API is not served", hasValue("mode: route"))
	w.awaitRelease("web", "has its issuer", hasValue("issuer: corp-ca"))
}

func TestTheOperatorDoesNotStartWithoutAnIssuerForItsRoutes(t *testing.T) {
	for _, mode := range []string{"route", "auto"} {
		o := options()
		o.ExposureMode, o.ClusterName = v1alpha1.ExposureMode(mode), "hub"
		started, err := start(o)
		if err == nil {
			must(t, started.stop())
			t.Fatalf("mode %s: it started", mode)
		}
		equal(t, "mode "+mode, err.Error(), "EXTERNAL_CA_ISSUER_NAME required for Route passthrough mode on cluster hub")
	}
}
