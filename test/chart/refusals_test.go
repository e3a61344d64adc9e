// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What the schema refuses, and the lines in which helm says so.
var schemaCases = map[string]struct{ values, want string }{
	"an unknown key at the top":        {`replicas: 3`, `at '': additional properties 'replicas' not allowed`},
	"an unknown key in a section":      {`image: {name: envoy}`, `at '/image': additional properties 'name' not allowed`},
	"an unknown key two sections down": {`tls: {secret: {nam: x}}`, `at '/tls/secret': additional properties 'nam' not allowed`},
	"an unknown key of a probe":        {`readinessProbe: {httpGet: {}}`, `at '/readinessProbe': additional properties 'httpGet' not allowed`},
	"an unknown key of an upstream":    {`upstreams: [{name: a, hosts: ["a:1"], host: x}]`, `at '/upstreams/0': additional properties 'host' not allowed`},
	"no time to connect": {`upstreams: [{name: a, hosts: ["a:1"], connectTimeout: 0s}]`,
		`at '/upstreams/0/connectTimeout': '0s' does not match pattern '^0{0,5}[1-9][0-9]{0,5}(ms|s|m|h)$'`},
	"no time between health checks": {`upstreams: [{name: a, hosts: ["a:1"], healthCheck: {path: /, interval: 00ms}}]`,
		`at '/upstreams/0/healthCheck/interval': '00ms' does not match pattern '^0{0,5}[1-9][0-9]{0,5}(ms|s|m|h)$'`},
	"an unknown key of a health check":    {`upstreams: [{name: a, hosts: ["a:1"], healthCheck: {path: /, every: 1s}}]`, `at '/upstreams/0/healthCheck': additional properties 'every' not allowed`},
	"an unknown key of a route":           {listener(`[{upstream: a, rewrite: /}]`), `at '/listeners/0/routes/0': additional properties 'rewrite' not allowed`},
	"an unknown key of a redirect":        {listener(`[{redirect: {scheme: https}}]`), `at '/listeners/0/routes/0/redirect': additional properties 'scheme' not allowed`},
	"a route that leads nowhere":          {listener(`[{path: /a}]`), `at '/listeners/0/routes/0': missing property 'upstream'`},
	"an upstream without hosts":           {`upstreams: [{name: a}]`, `at '/upstreams/0': missing property 'hosts'`},
	"a host without a port":               {`upstreams: [{name: a, hosts: [a]}]`, `at '/upstreams/0/hosts/0': 'a' does not match pattern`},
	"a port that needs privileges":        {`listeners: [{name: a, port: 80, protocol: HTTP}]`, `at '/listeners/0/port': minimum: got 80, want 1,024`},
	"a port beyond all ports":             {`status: {port: 65536}`, `at '/status/port': maximum: got 65,536, want 65,535`},
	"a listener without a protocol":       {`listeners: [{name: a, port: 8080}]`, `at '/listeners/0': missing property 'protocol'`},
	"a protocol that is not there":        {`listeners: [{name: a, port: 8080, protocol: TCP}]`, `at '/listeners/0/protocol': value must be one of 'HTTP', 'HTTPS'`},
	"no listener":                         {`listeners: []`, `at '/listeners': minItems: got 0, want 1`},
	"a name too long for a port of a pod": {`listeners: [{name: a234567890123456, port: 8080, protocol: HTTP}]`, `at '/listeners/0/name': maxLength: got 16, want 15`},
	"a duration without a unit":           {`http: {idleTimeout: "30"}`, `at '/http/idleTimeout': '30' does not match pattern`},
	"a service type that is not there":    {`service: {type: ExternalName}`, `at '/service/type': value must be one of 'ClusterIP', 'NodePort', 'LoadBalancer'`},
	"a host name with a port":             {`hostnames: ["a.example.com:80"]`, `at '/hostnames/0': 'a.example.com:80' does not match pattern`},
	"a prefix that ends in a slash":       {listener(`[{pathPrefix: /a/, upstream: a}]`), `at '/listeners/0/routes/0/pathPrefix': '/a/' does not match pattern`},
	"a retry condition that is not there": {listener(`[{upstream: a, retries: {attempts: 1, conditions: [always]}}]`), `at '/listeners/0/routes/0/retries/conditions/0': value must be one of`},
	"a section removed":                   {`service: null`, `at '': missing property 'service'`},
	"a digest that is not one":            {`image: {digest: latest}`, `at '/image/digest': 'latest' does not match pattern`},
	"a label that is a number":            {`commonLabels: {version: 1}`, `at '/commonLabels/version': got number, want null or string`},
}

func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	for sentence, c := range schemaCases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			assert.Contains(t, refusal(t, c.values), c.want)
		})
	}
}

const https = `listeners: [{name: https, port: 8443, protocol: HTTPS}]`

const neverMatches = `never matches, since Envoy normalizes the path of a request first; ` +
	`write it without //, /./, /../, %2F and %5C, and characters beyond ASCII percent-encoded`

// Faults that lie between values: the whole list of what the chart says, without the leading dashes.
var faultCases = map[string]struct {
	values string
	want   []string
}{
	"a route to an unknown upstream": {listener(`[{upstream: c}]`), []string{
		`listeners[0] (http): routes[0]: upstream c is not in upstreams; known are a, b`}},
	"a route to an upstream when there is none": {`listeners: [{name: web, port: 8080, protocol: HTTP, routes: [{upstream: c}]}]`, []string{
		`listeners[0] (web): routes[0]: upstream c is not in upstreams; add it, upstreams is empty`}},
	"two listeners with one port": {`listeners: [{name: one, port: 8080, servicePort: 80, protocol: HTTP}, {name: two, port: 8080, protocol: HTTP}]`, []string{
		`listeners[1] (two): port 8080 is taken by listeners[0] (one); give each listener a port of its own`}},
	"two listeners with one port of the Service": {`listeners: [{name: one, port: 8080, servicePort: 8081, protocol: HTTP}, {name: two, port: 8081, protocol: HTTP}]`, []string{
		`listeners[1] (two): servicePort 8081 is taken by listeners[0] (one); give each listener a servicePort of its own`}},
	"two listeners with one name": {`listeners: [{name: one, port: 8080, protocol: HTTP}, {name: one, port: 8081, protocol: HTTP}]`, []string{
		`listeners[1] (one): the name is taken by listeners[0]; give each listener a name of its own`}},
	"a listener with the name and port of the probes'": {`listeners: [{name: status, port: 9902, protocol: HTTP}]`, []string{
		`listeners[0] (status): the name is taken by the listener of the probes; give each listener a name of its own`,
		`listeners[0] (status): port 9902 is taken by status.port; give each listener a port of its own`}},
	"probes on the admin port": {`status: {port: 9901}`, []string{
		`status.port: 9901 is taken by admin.port; choose another`}},
	"HTTPS without a certificate": {https, []string{
		`listeners[0] (https): protocol HTTPS needs a certificate; set tls.enabled: true and tls.secret.name, or protocol: HTTP`}},
	"TLS without the name of a Secret": {https + "\ntls: {enabled: true}", []string{
		`tls.secret.name: is empty while tls.enabled is true; name a Secret with tls.crt and tls.key`}},
	"a certificate that no listener uses": {`tls: {enabled: true, secret: {name: cert}}`, []string{
		`tls.enabled: is true, but no listener has protocol HTTPS, so the certificate would not be used; add such a listener, or set tls.enabled: false`}},
	"a certificate that is turned off": {`tls: {secret: {name: cert}}`, []string{
		`tls.secret.name: is set while tls.enabled is false, so the certificate would not be used; set tls.enabled: true, or remove the name`}},
	"two upstreams with one name": {`upstreams: [{name: a, hosts: ["a:1"]}, {name: a, hosts: ["b:1"]}]`, []string{
		`upstreams[1] (a): the name is taken by upstreams[0]; give each upstream a name of its own`}},
	"hosts that do not fit the type": {`upstreams: [{name: a, type: STATIC, hosts: ["10.0.0.1:1", "b:1"]}, {name: b, type: LOGICAL_DNS, hosts: ["a:1", "b:1"]}]`, []string{
		`upstreams[0] (a): type STATIC takes IP addresses, and b:1 is a name; use STRICT_DNS`,
		`upstreams[1] (b): type LOGICAL_DNS takes one host, and 2 are given; keep one, or use STRICT_DNS`}},
	"a port of an upstream beyond all ports": {`upstreams: [{name: a, hosts: ["a:99999"]}]`, []string{
		`upstreams[0] (a): a:99999 has a port above 65535`}},
	"TLS to hosts of several names": {`upstreams: [{name: a, hosts: ["a:1", "b:1"], tls: {enabled: true}}]`, []string{
		`upstreams[0] (a): tls.sni is needed, since the hosts are not one single name whose certificate could be asked for`}},
	"a route with two paths, and one with two ends": {listener(`[{path: /a, pathPrefix: /b, upstream: a}, {upstream: a, redirect: {https: true}}]`), []string{
		`listeners[0] (http): routes[0]: has path and pathPrefix; keep one of them`,
		`listeners[0] (http): routes[1]: has upstream and redirect; keep one of them`}},
	"a redirect that forwards": {listener(`[{redirect: {https: true}, timeout: 5s, hostRewrite: a}]`), []string{
		`listeners[0] (http): routes[0]: hostRewrite is for routes with an upstream, and this one has a redirect; remove it`,
		`listeners[0] (http): routes[0]: timeout is for routes with an upstream, and this one has a redirect; remove it`}},
	"a redirect to itself": {listener(`[{redirect: {code: 302}}]`), []string{
		`listeners[0] (http): routes[0]: redirect leads back to itself; set https, host, port or path`}},
	"routes that earlier ones hide": {listener(`[{pathPrefix: /a, upstream: a}, {hosts: ["x.example.com"], upstream: a}, {path: /a/b, upstream: b}, {pathPrefix: /ab, upstream: b}, {pathPrefix: /a, upstream: b}]`), []string{
		`listeners[0] (http): routes[2] (/a/b) is never reached for host *, since routes[0] (/a) matches first; put the more specific one first`,
		`listeners[0] (http): routes[4] (/a) is never reached for host *, since routes[0] (/a) matches first; put the more specific one first`}},
	"a pod that ends before it has drained": {`drain: {seconds: 60}`, []string{
		`terminationGracePeriodSeconds: 30 ends the pod before drain.seconds (60) have passed; make it greater`}},
	"a label and an annotation that the chart sets": {`{podLabels: {app.kubernetes.io/name: x}, commonAnnotations: {checksum/config: x}}`, []string{
		`podLabels: app.kubernetes.io/name is set by the chart; remove it (nameOverride changes the name)`,
		`commonAnnotations: checksum/config is set by the chart; remove it`}},
	"a text format that is not used": {`accessLog: {text: "%PROTOCOL%"}`, []string{
		`accessLog.text: is set while accessLog.format is json, so it would not be used; set accessLog.format: text`}},
	"an access log without fields": {`accessLog: {json: null}`, []string{
		`accessLog.json: has no field left while accessLog.format is json, so there is nothing to log; keep one, or set accessLog.enabled: false`}},
	"an access log whose every field is removed": {`accessLog: {format: null, json: {time: null, ` + noDefaultFields + `}}`, []string{
		`accessLog.json: has no field left while accessLog.format is json, so there is nothing to log; keep one, or set accessLog.enabled: false`}},
	"two listeners with one port of the nodes": {`{listeners: [{name: one, port: 8080, nodePort: 30080, protocol: HTTP}, {name: two, port: 8081, nodePort: 30080, protocol: HTTP}], service: {type: NodePort}}`, []string{
		`listeners[1] (two): nodePort 30080 is taken by listeners[0] (one); give each listener a nodePort of its own`}},
	"ports of rewritten and checked hosts beyond all ports": {`{listeners: [{name: web, port: 8080, protocol: HTTP, routes: [{upstream: a, hostRewrite: "b70000:65536"}]}], upstreams: [{name: a, hosts: ["a:1"], healthCheck: {path: /, host: "b70000:99999"}}]}`, []string{
		`listeners[0] (web): routes[0]: hostRewrite b70000:65536 has a port above 65535`,
		`upstreams[0] (a): healthCheck.host b70000:99999 has a port above 65535`}},
	"paths that Envoy never sees": {listener(`[{path: /a//b, upstream: a}, {pathPrefix: /a/../b, upstream: a}, {path: /c/., upstream: a}, {path: /d%2fe, upstream: a}, {path: /ä, upstream: a}]`), []string{
		`listeners[0] (http): routes[0]: path /a//b ` + neverMatches,
		`listeners[0] (http): routes[1]: pathPrefix /a/../b ` + neverMatches,
		`listeners[0] (http): routes[2]: path /c/. ` + neverMatches,
		`listeners[0] (http): routes[3]: path /d%2fe ` + neverMatches,
		`listeners[0] (http): routes[4]: path /ä ` + neverMatches}},
	"an autoscaler from nothing": {`{replicaCount: 0, autoscaling: {enabled: true}}`, []string{
		`replicaCount: 0 cannot be the minimum of an autoscaler; raise it, or set autoscaling.enabled: false`}},
	"settings of another type of Service": {`{listeners: [{name: a, port: 8080, nodePort: 30080, protocol: HTTP}], service: {externalTrafficPolicy: Local, loadBalancerClass: x}}`, []string{
		`listeners[0] (a): nodePort needs service.type NodePort or LoadBalancer, and it is ClusterIP; change the type, or remove nodePort`,
		`service.externalTrafficPolicy: needs service.type NodePort or LoadBalancer, and it is ClusterIP; remove it`,
		`service.loadBalancerClass: needs service.type LoadBalancer, and it is ClusterIP; remove it`}},
	"an autoscaler that could not scale": {`{replicaCount: 3, autoscaling: {enabled: true, maxReplicas: 2}, resources: {requests: {cpu: null}}}`, []string{
		`autoscaling.maxReplicas: 2 is below replicaCount (3), which is the minimum; raise it, or lower replicaCount`,
		`autoscaling: a target for cpu is a share of resources.requests.cpu, which is not set; set it, or set the target to 0`}},
	"an autoscaler without a target": {`autoscaling: {enabled: true, targetCPUUtilizationPercentage: 0}`, []string{
		`autoscaling: has no target; set targetCPUUtilizationPercentage or targetMemoryUtilizationPercentage`}},
}

func TestFaultsAreNamed(t *testing.T) {
	t.Parallel()
	for sentence, c := range faultCases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			assert.ElementsMatch(t, c.want, faults(refusal(t, c.values)))
		})
	}
}

func faults(message string) []string {
	var found []string
	for _, line := range strings.Split(message, "\n") {
		if fault, ok := strings.CutPrefix(line, "- "); ok {
			found = append(found, fault)
		}
	}
	return found
}
