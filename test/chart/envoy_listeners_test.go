// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// A whole bootstrap, so that nothing can slip into it unseen: values in testdata, and what Envoy must get for them.
func TestWholeBootstrap(t *testing.T) {
	t.Parallel()
	requireEnvoy(t, testdata(t, "default.bootstrap.yaml"), bootstrap(t, ""))
}

func TestAdminIsOnLoopbackAlone(t *testing.T) {
	t.Parallel()
	b := bootstrap(t, "admin: {port: 19000}\nhttp: {bindAddress: '::'}")
	requireEnvoy(t, "socket_address: {address: 127.0.0.1, port_value: 19000}", b.GetAdmin().GetAddress())
	requireEnvoy(t, "socket_address: {address: 127.0.0.1, port_value: 19000}",
		findCluster(t, b, "envoy_admin").GetLoadAssignment().GetEndpoints()[0].GetLbEndpoints()[0].GetEndpoint().GetAddress())
}

func TestListenersBindWhereTold(t *testing.T) {
	t.Parallel()
	values := `
http: {bindAddress: "::"}
status: {port: 15000}
listeners:
  - {name: one, port: 8081, protocol: HTTP}
  - {name: two, port: 8082, protocol: HTTP}
`
	b := bootstrap(t, values)
	for name, want := range map[string]string{
		"status": `socket_address: {address: "::", port_value: 15000, ipv4_compat: true}`,
		"one":    `socket_address: {address: "::", port_value: 8081, ipv4_compat: true}`,
		"two":    `socket_address: {address: "::", port_value: 8082, ipv4_compat: true}`,
	} {
		requireEnvoy(t, want, findListener(t, b, name).GetAddress())
	}
	assert.Len(t, b.GetStaticResources().GetListeners(), 3)
}

func TestHTTPSListenerReadsItsCertificateFromAWatchedFile(t *testing.T) {
	t.Parallel()
	values := `
listeners: [{name: https, port: 8443, protocol: HTTPS}]
tls: {enabled: true, minVersion: TLSv1_3, secret: {name: cert, certKey: chain.pem, privateKeyKey: key.pem}}
`
	requireEnvoy(t, `
name: envoy.transport_sockets.tls
typed_config:
  "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
  common_tls_context:
    alpn_protocols: [h2, http/1.1]
    tls_params: {tls_minimum_protocol_version: TLSv1_3}
    tls_certificate_sds_secret_configs:
      - name: listener
        sds_config: {resource_api_version: V3, path_config_source: {path: /etc/gateway/config/listener-certificate.yaml}}
`, findListener(t, bootstrap(t, values), "https").GetFilterChains()[0].GetTransportSocket())

	o := renderObjects(t, values)
	assert.YAMLEq(t, `
resources:
  - "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
    name: listener
    tls_certificate:
      certificate_chain: {filename: /etc/gateway/tls/chain.pem}
      private_key: {filename: /etc/gateway/tls/key.pem}
      watched_directory: {path: /etc/gateway/tls}
`, o.ConfigMap.Data["listener-certificate.yaml"])
	assert.Equal(t, "cert", secretVolumes(o)["/etc/gateway/tls"])
}

func TestTrustedCAIsMountedWhereEnvoyLooks(t *testing.T) {
	t.Parallel()
	o := renderObjects(t, "trustedCA: {name: corporate, key: bundle.pem}")
	assert.YAMLEq(t, `
resources:
  - "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
    name: trusted-ca
    validation_context:
      trusted_ca: {filename: /etc/gateway/trusted-ca/bundle.pem}
      watched_directory: {path: /etc/gateway/trusted-ca}
`, o.ConfigMap.Data["trusted-ca.yaml"])
	assert.Equal(t, "corporate", secretVolumes(o)["/etc/gateway/trusted-ca"])
}

// secretVolumes has the Secret or ConfigMap that is mounted at each path.
func secretVolumes(o objects) map[string]string {
	sources := map[string]string{}
	for _, v := range o.Deployment.Spec.Template.Spec.Volumes {
		if v.Secret != nil {
			sources[v.Name] = v.Secret.SecretName
		} else {
			sources[v.Name] = v.ConfigMap.Name
		}
	}
	mounted := map[string]string{}
	for _, m := range o.Deployment.Spec.Template.Spec.Containers[0].VolumeMounts {
		mounted[m.MountPath] = sources[m.Name]
	}
	return mounted
}

func TestConnectionSettings(t *testing.T) {
	t.Parallel()
	b := bootstrap(t, `
http: {trustedHops: 2, idleTimeout: 90s, streamIdleTimeout: 10m, requestTimeout: 0s, maxConnections: 1500000}
accessLog: {enabled: false}
`)
	manager, err := connectionManager(findListener(t, b, "http"))
	require.NoError(t, err)
	assert.Empty(t, manager.GetAccessLog())
	assert.Equal(t, uint32(2), manager.GetXffNumTrustedHops())
	assert.Equal(t, "1m30s", manager.GetCommonHttpProtocolOptions().GetIdleTimeout().AsDuration().String())
	assert.Equal(t, "10m0s", manager.GetStreamIdleTimeout().AsDuration().String())
	assert.Equal(t, "0s", manager.GetRequestTimeout().AsDuration().String())
	assert.Equal(t, wrapperspb.Bool(true), manager.GetUseRemoteAddress())
	assert.Equal(t, int64(1500000), maxConnections(t, b))
}

func TestAccessLogFormats(t *testing.T) {
	t.Parallel()
	for sentence, c := range map[string]struct{ values, want string }{
		"fields are added and removed": {
			`accessLog: {json: {extra: "%REQ(X-TENANT)%", ` + noDefaultFields + `}}`,
			`log_format: {json_format: {extra: "%REQ(X-TENANT)%", time: "%START_TIME%"}}`},
		"a line of text ends in a newline": {
			`accessLog: {format: text, text: '%START_TIME% "%REQ(:METHOD)%"'}`,
			`log_format: {text_format_source: {inline_string: "%START_TIME% \"%REQ(:METHOD)%\"\n"}}`},
		"Envoy's own line": {
			`accessLog: {format: text}`, `{}`},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			manager, err := connectionManager(findListener(t, bootstrap(t, c.values), "http"))
			require.NoError(t, err)
			got, err := manager.GetAccessLog()[0].GetTypedConfig().UnmarshalNew()
			require.NoError(t, err)
			requireEnvoy(t, c.want, got)
		})
	}
}

const noDefaultFields = `method: null, authority: null, path: null, protocol: null, status: null, flags: null,
  duration: null, bytes_received: null, bytes_sent: null, client: null, user_agent: null, request_id: null,
  route_name: null, upstream: null, upstream_host: null`

func maxConnections(t *testing.T, b *bootstrapv3.Bootstrap) int64 {
	t.Helper()
	message, err := b.GetOverloadManager().GetResourceMonitors()[0].GetTypedConfig().UnmarshalNew()
	require.NoError(t, err)
	return message.(interface{ GetMaxActiveDownstreamConnections() int64 }).GetMaxActiveDownstreamConnections()
}
