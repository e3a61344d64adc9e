// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// layered is a class whose every layer sets a path of its own and one that the next layer overrides.
const layered = `
spec:
  values: {own: 1, v: class}
  capabilityValues:
  - {apiVersion: cert-manager.io/v1, present: {cert: present, v: cert}, absent: {cert: absent}}
  - {apiVersion: route.openshift.io/v1/Route, present: {route: present, v: route}, absent: {route: null}}
  exposure:
    gatewayAPIValues: {mode: gateway-api, v: gatewayAPI}
    routeValues: {mode: route, v: routes}
    externalCAIssuerNamePaths: [ca.issuer, 'issuers[1]']
  valueMappings:
  - {field: storage.type, paths: [v], whenSet: {v: whenSet, when: set}}
  policy: {allowRemoteClusters: true}
`

const (
	certManager = "cert-manager.io/v1"
	routes      = "route.openshift.io/v1/Route"
	gatewayAPI  = "gateway.networking.k8s.io/v1"
)

func TestWhatTheClusterServesAndHowItExposesDecideValues(t *testing.T) {
	for name, c := range map[string]struct {
		serves  []string
		mode    v1alpha1.ExposureMode
		gateway string
		want    string
	}{
		"nothing served, not exposed":       {nil, "", "{}", `{"cert":"absent","own":1,"route":null,"v":"class"}`},
		"none is not exposed":               {nil, "none", "{}", `{"cert":"absent","own":1,"route":null,"v":"class"}`},
		"served, later ones win":            {[]string{certManager, routes}, "", "{}", `{"cert":"present","own":1,"route":"present","v":"route"}`},
		"another kind is not the kind":      {[]string{"route.openshift.io/v1/Host"}, "", "{}", `{"cert":"absent","own":1,"route":null,"v":"class"}`},
		"with a kind its version is served": {[]string{certManager + "/Certificate"}, "", "{}", `{"cert":"present","own":1,"route":null,"v":"cert"}`},
		"Gateway API above capabilities":    {[]string{certManager}, "gateway-api", "{}", `{"cert":"present","mode":"gateway-api","own":1,"route":null,"v":"gatewayAPI"}`},
		"routes with their issuer":          {nil, "route", "{}", `{"ca":{"issuer":"corp"},"cert":"absent","issuers":[null,"corp"],"mode":"route","own":1,"route":null,"v":"routes"}`},
		"auto, with Gateway API":            {[]string{gatewayAPI}, "auto", "{}", `{"cert":"absent","mode":"gateway-api","own":1,"route":null,"v":"gatewayAPI"}`},
		"auto, without":                     {nil, "auto", "{}", `{"ca":{"issuer":"corp"},"cert":"absent","issuers":[null,"corp"],"mode":"route","own":1,"route":null,"v":"routes"}`},
		"mapped fields above all":           {nil, "gateway-api", "spec: {storage: {type: x}}", `{"cert":"absent","mode":"gateway-api","own":1,"route":null,"v":"x","when":"set"}`},
		"spec.values above the issuer":      {nil, "route", "spec: {values: {ca: {issuer: mine}, issuers: []}}", `{"ca":{"issuer":"mine"},"cert":"absent","issuers":[],"mode":"route","own":1,"route":null,"v":"routes"}`},
		"a remote cluster, by what it says": {[]string{certManager}, "gateway-api", "spec: {cluster: {kubeConfig: {secretRef: {name: eu}}, apiVersions: [" + routes + "]}}",
			`{"cert":"absent","mode":"gateway-api","own":1,"route":"present","v":"gatewayAPI"}`},
		"a remote cluster, exposed in its own way": {nil, "gateway-api", "spec: {cluster: {kubeConfig: {secretRef: {name: eu}}, apiVersions: [a/v1], exposureMode: auto, externalCAIssuerName: theirs}}",
			`{"ca":{"issuer":"theirs"},"cert":"absent","issuers":[null,"theirs"],"mode":"route","own":1,"route":null,"v":"routes"}`},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, layered, c.gateway)
			in.Environment = Environment{APIs: ServedAPIs(c.serves), ExposureMode: c.mode, ExternalCAIssuerName: "corp"}
			require.Equal(t, c.want, string(made(t, in).Release.Values))
		})
	}
}

func TestWhatIsNotKnownOfTheClusterRefusesGatewaysOfClassesThatAsk(t *testing.T) {
	const remote = "kubeConfig: {secretRef: {name: eu}}"
	plainClass := "spec: {policy: {allowRemoteClusters: true}}"
	for name, c := range map[string]struct {
		class, gateway string
		env            Environment
		want           []string
	}{
		"nobody told": {layered, "{}", Environment{}, []string{
			"CapabilityUnknown spec.className: class wso2 asks whether cluster in-cluster serves cert-manager.io/v1, which is not known: nobody told",
			"CapabilityUnknown spec.className: class wso2 asks whether cluster in-cluster serves route.openshift.io/v1/Route, which is not known: nobody told",
		}},
		"one group could not be asked": {layered, "{}", Environment{ClusterName: "hub", APIs: ServedAPIs(nil).Except("cert-manager.io/v1", "no answer")}, []string{
			"CapabilityUnknown spec.className: class wso2 asks whether cluster hub serves cert-manager.io/v1, which is not known: no answer",
		}},
		"the version alone does not tell its kinds": {layered, "{}", Environment{APIs: ServedAPIs([]string{"route.openshift.io/v1"})}, []string{
			"CapabilityUnknown spec.className: class wso2 asks whether cluster in-cluster serves route.openshift.io/v1/Route, which is not known: of route.openshift.io/v1 no kinds are listed",
		}},
		"auto needs to know": {"spec: {exposure: {routeValues: {a: 1}}}", "{}", Environment{ExposureMode: "auto"}, []string{
			"CapabilityUnknown spec.className: class wso2 asks whether cluster in-cluster serves gateway.networking.k8s.io/v1, which is not known: nobody told",
		}},
		"a class that does not ask":   {plainClass, "{}", Environment{ExposureMode: "auto"}, nil},
		"a class that is not exposed": {"spec: {exposure: {routeValues: {}}}", "{}", Environment{ExposureMode: "none"}, nil},
		"a remote cluster that says nothing": {layered, "spec: {cluster: {name: paris, " + remote + "}}", Environment{APIs: ServedAPIs(nil)}, []string{
			"InvalidSpec spec.cluster.apiVersions: class wso2 asks whether cluster paris serves cert-manager.io/v1; list here what it serves, with its kinds",
			"InvalidSpec spec.cluster.apiVersions: class wso2 asks whether cluster paris serves route.openshift.io/v1/Route; list here what it serves, with its kinds",
		}},
		"routes without an issuer": {layered, "{}", Environment{APIs: ServedAPIs(nil), ExposureMode: "auto"}, []string{
			"IssuerRequired spec.className: EXTERNAL_CA_ISSUER_NAME required for Route passthrough mode on cluster in-cluster",
		}},
		"routes without an issuer, elsewhere": {layered, "spec: {cluster: {" + remote + ", apiVersions: [a/v1], exposureMode: route}}", Environment{}, []string{
			"IssuerRequired spec.cluster.externalCAIssuerName: EXTERNAL_CA_ISSUER_NAME required for Route passthrough mode on cluster eu",
		}},
		"a remote cluster without a name": {plainClass, "spec: {cluster: {kubeConfig: {secretRef: {name: ''}}}}", Environment{}, []string{
			"InvalidSpec spec.cluster.kubeConfig.secretRef.name: is empty",
		}},
		"what only a remote cluster has": {plainClass, "spec: {cluster: {name: a, apiVersions: [a/v1], exposureMode: route, externalCAIssuerName: b}}", Environment{}, []string{
			"InvalidSpec spec.cluster.name: describes a remote cluster; name that in spec.cluster.kubeConfig, or remove it",
			"InvalidSpec spec.cluster.apiVersions: describes a remote cluster; name that in spec.cluster.kubeConfig, or remove it",
			"InvalidSpec spec.cluster.exposureMode: describes a remote cluster; name that in spec.cluster.kubeConfig, or remove it",
			"InvalidSpec spec.cluster.externalCAIssuerName: describes a remote cluster; name that in spec.cluster.kubeConfig, or remove it",
		}},
		"what no cluster could be": {plainClass, "spec: {cluster: {" + remote + ", apiVersions: [certs], exposureMode: open}}", Environment{}, []string{
			`InvalidSpec spec.cluster.apiVersions[0]: "certs" is neither group/version nor group/version/Kind, such as cert-manager.io/v1 or cert-manager.io/v1/Certificate`,
			`InvalidSpec spec.cluster.exposureMode: "open" is not one of "none", "auto", "gateway-api", "route"`,
		}},
		"a remote cluster that the class does not allow": {"{}", "spec: {cluster: {" + remote + "}}", Environment{}, []string{
			"NotAllowed spec.cluster.kubeConfig: class wso2 does not let gateways choose a cluster (policy.allowRemoteClusters); remove it",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(t, c.class, c.gateway)
			in.Environment = c.env
			require.Equal(t, c.want, refusal(t, in))
		})
	}
}

func TestWhatIsWrongWithCapabilitiesAndExposureOfAClass(t *testing.T) {
	class := aClass(t, `
spec:
  valueMappings: [{field: storage.type, paths: [ca]}]
  capabilityValues: [{apiVersion: certs, present: {}, absent: {}}]
  exposure: {gatewayAPIValues: {}, externalCAIssuerNamePaths: [ca.issuer, 'a[']}
`)
	class.Spec.CapabilityValues[0].Present.Raw = []byte(`{"n":1e30}`)
	class.Spec.CapabilityValues[0].Absent.Raw = []byte(`[]`)
	class.Spec.Exposure.GatewayAPIValues.Raw = []byte(`1`)
	require.Equal(t, []string{
		`InvalidSpec APIGatewayClass/wso2 spec.capabilityValues[0].apiVersion: "certs" is neither group/version nor group/version/Kind, such as cert-manager.io/v1 or cert-manager.io/v1/Certificate`,
		"InvalidSpec APIGatewayClass/wso2 spec.capabilityValues[0].present.n: the API server would round this integer, which does not fit 64 bits; put it in quotes",
		"InvalidSpec APIGatewayClass/wso2 spec.capabilityValues[0].absent: a list is not a map, and values are one",
		"InvalidSpec APIGatewayClass/wso2 spec.exposure.gatewayAPIValues: a number is not a map, and values are one",
		"InvalidSpec APIGatewayClass/wso2 spec.exposure.externalCAIssuerNamePaths[0]: ca.issuer lies within ca, which spec.valueMappings[0].paths[0] sets",
		"InvalidSpec APIGatewayClass/wso2 spec.exposure.externalCAIssuerNamePaths[1]: \"a[\" is not a path: a [ has no ]",
	}, inWords(ClassFaults(&class)))
}

func TestShardAndAdoptionAreChecked(t *testing.T) {
	require.Equal(t, []string{
		`InvalidSpec metadata.labels[sharding.fluxcd.io/key]: "a b" is not a label's value: letters, digits, -, _ and ., at most 63`,
		`InvalidSpec metadata.annotations[gateway.sluice.dev/adopt]: "yes" is neither "true" nor "false"`,
	}, refusal(t, input(t, "{}", `metadata: {labels: {sharding.fluxcd.io/key: a b}, annotations: {gateway.sluice.dev/adopt: "yes"}}`)))
	require.Equal(t, []string{
		"NotAllowed metadata.annotations[gateway.sluice.dev/adopt]: class wso2 does not let gateways take over a HelmRelease (policy.allowAdoption); remove it",
	}, refusal(t, input(t, "{}", `metadata: {annotations: {gateway.sluice.dev/adopt: "true"}}`)))
}
