// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

// everything uses each part of the chart at once.
const everything = `
hostnames: [api.example.com, "*.example.org"]
listeners:
  - name: http
    port: 8080
    servicePort: 80
    nodePort: 30080
    protocol: HTTP
    routes:
      - redirect: {https: true}
  - name: https
    port: 8443
    servicePort: 443
    protocol: HTTPS
    routes:
      - {name: health, path: /health, upstream: orders}
      - {pathPrefix: /orders, upstream: orders, prefixRewrite: /, timeout: 10s, retries: {attempts: 2}}
      - {hosts: [pay.example.com], upstream: pay, hostRewrite: pay.example.net}
upstreams:
  - {name: orders, hosts: ["orders.shop.svc:8080"], healthCheck: {path: /healthz}}
  - {name: pay, hosts: ["pay.example.net:443"], http2: true, tls: {enabled: true}}
tls:
  enabled: true
  secret: {name: api-cert}
trustedCA: {name: corporate-ca}
commonLabels: {team: shop}
commonAnnotations: {owner: shop@example.com}
podLabels: {tier: edge}
podAnnotations: {example.com/scrape: "true"}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: edge, operator: Exists}]
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms: [{matchExpressions: [{key: edge, operator: Exists}]}]
imagePullSecrets: [{name: registry}]
priorityClassName: edge
concurrency: 2
service: {type: LoadBalancer, externalTrafficPolicy: Local, loadBalancerClass: example.com/lb, loadBalancerSourceRanges: [10.0.0.0/8]}
autoscaling: {enabled: true, targetMemoryUtilizationPercentage: 70, behavior: {scaleDown: {stabilizationWindowSeconds: 300}}}
networkPolicy:
  enabled: true
  ingressFrom: [{namespaceSelector: {matchLabels: {edge: "true"}}}]
  egress: [{to: [{namespaceSelector: {}}]}]
`
