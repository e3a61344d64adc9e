// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/stream/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/health_check/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/resource_monitors/downstream_connections/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"sigs.k8s.io/yaml"
)

// parseEnvoy reads Envoy's YAML into message as strictly as Envoy does: unknown fields and unknown extension types are
// errors, also within typed_config, and so is what Envoy's validation rules forbid. Stricter than Envoy, which warns, it
// refuses deprecated fields, since the next Envoy drops them.
func parseEnvoy(text string, message proto.Message) error {
	json, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return err
	}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: false}).Unmarshal(json, message); err != nil {
		return err
	}
	return protorange.Range(message.ProtoReflect(), checkStep)
}

// checkStep looks at one field or message. ValidateAll stops at an Any, and protorange goes on within it.
func checkStep(path protopath.Values) error {
	last := path.Index(-1)
	if last.Step.Kind() == protopath.FieldAccessStep {
		options, ok := last.Step.FieldDescriptor().Options().(*descriptorpb.FieldOptions)
		if ok && options.GetDeprecated() {
			return fmt.Errorf("%s: the field is deprecated", path.Path)
		}
	}
	message, ok := last.Value.Interface().(protoreflect.Message)
	if !ok {
		return nil
	}
	if v, ok := message.Interface().(interface{ ValidateAll() error }); ok {
		if err := v.ValidateAll(); err != nil {
			return fmt.Errorf("%s: %w", path.Path, err)
		}
	}
	return nil
}

// checkReferences finds what Envoy refuses beyond its protobuf rules, as far as this chart could get it wrong.
func checkReferences(bootstrap *bootstrapv3.Bootstrap) error {
	clusters := map[string]bool{}
	for _, c := range bootstrap.GetStaticResources().GetClusters() {
		if clusters[c.GetName()] {
			return fmt.Errorf("cluster %s is there twice", c.GetName())
		}
		clusters[c.GetName()] = true
	}
	for _, listener := range bootstrap.GetStaticResources().GetListeners() {
		manager, err := connectionManager(listener)
		if err != nil {
			return err
		}
		if err := checkRoutes(manager, clusters); err != nil {
			return fmt.Errorf("listener %s: %w", listener.GetName(), err)
		}
	}
	return nil
}

func checkRoutes(manager *hcmv3.HttpConnectionManager, clusters map[string]bool) error {
	domains := map[string]bool{}
	for _, host := range manager.GetRouteConfig().GetVirtualHosts() {
		for _, domain := range host.GetDomains() {
			if domains[domain] {
				return fmt.Errorf("domain %s is in two virtual hosts", domain)
			}
			domains[domain] = true
		}
		for _, route := range host.GetRoutes() {
			if name := route.GetRoute().GetCluster(); route.GetRoute() != nil && !clusters[name] {
				return fmt.Errorf("cluster %q is unknown", name)
			}
		}
	}
	return nil
}

func connectionManager(listener *listenerv3.Listener) (*hcmv3.HttpConnectionManager, error) {
	message, err := listener.GetFilterChains()[0].GetFilters()[0].GetTypedConfig().UnmarshalNew()
	if err != nil {
		return nil, err
	}
	return message.(*hcmv3.HttpConnectionManager), nil
}

// bootstrap renders the values and returns what Envoy would start with.
func bootstrap(t *testing.T, values string) *bootstrapv3.Bootstrap {
	t.Helper()
	files := renderObjects(t, values).ConfigMap.Data
	b := &bootstrapv3.Bootstrap{}
	require.NoError(t, parseEnvoy(files["envoy.yaml"], b), files["envoy.yaml"])
	require.NoError(t, checkReferences(b))
	for name, text := range files {
		if name != "envoy.yaml" {
			require.NoError(t, parseEnvoy(text, &discoveryv3.DiscoveryResponse{}), "%s:\n%s", name, text)
		}
	}
	return b
}

func findListener(t *testing.T, b *bootstrapv3.Bootstrap, name string) *listenerv3.Listener {
	t.Helper()
	for _, l := range b.GetStaticResources().GetListeners() {
		if l.GetName() == name {
			return l
		}
	}
	require.Fail(t, "no listener "+name)
	return nil
}

func findCluster(t *testing.T, b *bootstrapv3.Bootstrap, name string) *clusterv3.Cluster {
	t.Helper()
	for _, c := range b.GetStaticResources().GetClusters() {
		if c.GetName() == name {
			return c
		}
	}
	require.Fail(t, "no cluster "+name)
	return nil
}

// requireEnvoy compares a message with the wanted one, given in Envoy's YAML, and shows the difference as JSON.
func requireEnvoy(t *testing.T, want string, got proto.Message) {
	t.Helper()
	wanted := got.ProtoReflect().New().Interface()
	require.NoError(t, parseEnvoy(want, wanted))
	wantJSON, err := protojson.Marshal(wanted)
	require.NoError(t, err)
	gotJSON, err := protojson.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, string(wantJSON), string(gotJSON))
}
