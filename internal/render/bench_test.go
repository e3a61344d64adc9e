// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/sluice-gateway/sluice/internal/fluxobjects"
)

const classOfMany = `apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGatewayClass
metadata: {name: sluice}
spec:
  chart:
    url: oci://registry.example.com/charts/gateway
    ref: {tag: 1.0.0}
  values: {admin: {enabled: false}}
  valueMappings:
    - {field: infrastructure.replicas, paths: [replicaCount]}
    - {field: infrastructure.resources, paths: [resources]}
    - {field: infrastructure.labels, paths: [commonLabels]}
    - {field: exposure.hostnames, paths: [hostnames]}
    - {field: exposure.serviceType, paths: [service.type], allowed: [ClusterIP, LoadBalancer]}
    - {field: exposure.tlsSecretRef.name, paths: [tls.secret.name], whenSet: {tls: {enabled: true}}}
  imageMappings:
    - name: gateway
      paths: [{registry: image.registry, repository: image.repository, tag: image.tag, digest: image.digest}]
`

// manyGateways is a file of gateways such as the README shows, and their class.
func manyGateways(n int) []byte {
	var text bytes.Buffer
	text.WriteString(classOfMany)
	for i := range n {
		fmt.Fprintf(&text, `---
apiVersion: gateway.sluice.dev/v1alpha1
kind: APIGateway
metadata:
  name: web-%d
  namespace: apis
spec:
  className: sluice
  infrastructure:
    replicas: 3
    resources:
      requests: {cpu: 100m, memory: 128Mi}
    images:
      gateway: docker.io/envoyproxy/envoy:v1.39.6
  exposure:
    hostnames: [api-%d.example.com]
    tlsSecretRef:
      name: web-tls
  values:
    listeners:
      - name: http
        port: 8080
        servicePort: 80
        protocol: HTTP
        routes:
          - {pathPrefix: /orders, upstream: orders}
          - {pathPrefix: /users, upstream: users}
    upstreams:
      - name: orders
        hosts: ["orders.shop.svc:8080"]
      - name: users
        hosts: ["users.shop.svc:8080"]
`, i, i)
	}
	return text.Bytes()
}

func renderAll(tb testing.TB, in []byte, out io.Writer) {
	set := &Set{}
	set.Add("file", in)
	result := set.Render(Options{Naming: fluxobjects.OwnSources})
	for _, problem := range result.Problems {
		tb.Fatal(problem)
	}
	if err := WriteYAML(out, result.Objects); err != nil {
		tb.Fatal(err)
	}
}

// trees are what the YAML library decodes of every document.
func trees(tb testing.TB, text []byte) []any {
	var all []any
	for document := range strings.SplitSeq(string(text), "---\n") {
		var tree any
		if err := yaml.NewDecoder(strings.NewReader(document)).Decode(&tree); err != nil {
			tb.Fatal(err)
		}
		all = append(all, tree)
	}
	return all
}

func encodeAll(tb testing.TB, objects []any, out io.Writer) {
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			tb.Fatal(err)
		}
		if _, err := out.Write(text); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkTenThousandGateways puts rendering beside what the YAML library alone takes to decode the same input and to
// encode the same output. It is to take no more than half as long again. Rendering uses all processors; cpu-s/op is the time of
// all together.
func BenchmarkTenThousandGateways(b *testing.B) {
	in := manyGateways(10_000)
	b.Run("rendered", func(b *testing.B) {
		measured(b, func() { renderAll(b, in, io.Discard) })
	})
	b.Run("decoded and encoded alone", func(b *testing.B) {
		var out bytes.Buffer
		renderAll(b, in, &out)
		objects := trees(b, out.Bytes())
		measured(b, func() {
			trees(b, in)
			encodeAll(b, objects, io.Discard)
		})
	})
}

func measured(b *testing.B, f func()) {
	b.ReportAllocs()
	runtime.GC()
	before := processorTime(b)
	for b.Loop() {
		f()
	}
	b.ReportMetric((processorTime(b)-before).Seconds()/float64(b.N), "cpu-s/op")
}

// processorTime is what the process has used so far, on all processors.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// A gateway among many takes as much work and memory as one among few.
func TestManyGatewaysTakeNoMoreThanFewEach(t *testing.T) {
	allocations := func(n int) float64 {
		in := manyGateways(n)
		return testing.AllocsPerRun(1, func() { renderAll(t, in, io.Discard) }) / float64(n)
	}
	few, many := allocations(100), allocations(800)
	if many > 2500 || many > 1.05*few {
		t.Errorf("%.0f allocations for each of few gateways, %.0f for each of many", few, many)
	}
	few, many = kept(100), kept(800)
	if many > 20_000 || many > 1.1*few {
		t.Errorf("%.0f bytes are kept for each of few gateways, %.0f for each of many", few, many)
	}
}

// kept is how much memory a rendered gateway takes until it is written, input included.
func kept(n int) float64 {
	live := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := live()
	set := &Set{}
	set.Add("file", manyGateways(n))
	result := set.Render(Options{Naming: fluxobjects.OwnSources})
	bytes := live() - before
	runtime.KeepAlive(set)
	runtime.KeepAlive(result)
	return float64(bytes) / float64(n)
}
