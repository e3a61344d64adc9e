// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// loopCases have redirects on a listener of HTTP at the Service's port 80, and on one of HTTPS at 443.
var loopCases = map[string]struct {
	http, https string
	want        []string
}{
	"to HTTPS, from HTTP and from HTTPS": {
		`[{redirect: {https: true}}]`, `[{redirect: {https: true}}]`,
		[]string{loop("[1] (https): routes[0] (/)", "*")}},
	"to the port that the request came to": {
		`[{pathPrefix: /a, redirect: {port: 80}}, {pathPrefix: /b, redirect: {port: 8080}}]`, `[{redirect: {port: 443}}]`,
		[]string{loop("[0] (http): routes[0] (/a)", "*"), loop("[1] (https): routes[0] (/)", "*")}},
	"to one of the route's own hosts": {
		`[{hosts: [example.com, www.example.com], redirect: {host: www.example.com}}]`, `[]`,
		[]string{loop("[0] (http): routes[0] (/)", "www.example.com")}},
	"to a host that only a wildcard of the route answers, and that may be elsewhere": {
		`[{hosts: ["*.example.com", "*"], redirect: {host: a.b.example.com}}]`,
		`[{pathPrefix: /docs, redirect: {host: docs.example.com}}, {redirect: {host: www.example.com}}]`, nil},
	"to a host that another route answers": {
		`[{redirect: {host: www.example.com}}, {hosts: [www.example.com], upstream: a}]`,
		`[{hosts: ["*.example.com"], redirect: {host: b.a.example.com}}, {hosts: ["*.a.example.com"], upstream: a}]`, nil},
	"to a host that nobody answers here": {
		`[{hosts: [example.com], redirect: {host: example.org}}]`, `[]`, nil},
	"to the own host, by another scheme": {
		`[{hosts: [example.com], redirect: {host: example.com, https: true}}]`, `[]`, nil},
	"to the own path": {
		`[{path: /a, redirect: {path: /a}}]`, `[{path: /a, redirect: {path: /b}}]`,
		[]string{loop("[0] (http): routes[0] (/a)", "*")}},
	"to a path below the prefix": {
		`[{pathPrefix: /a, redirect: {path: /a/b}}]`, `[{pathPrefix: /a, redirect: {path: /ab}}]`,
		[]string{loop("[0] (http): routes[0] (/a)", "*")}},
	"to a path below the prefix that an earlier route takes": {
		`[{path: /a/b, upstream: a}, {pathPrefix: /a, redirect: {path: /a/b}}]`,
		`[{path: /, upstream: a}, {redirect: {path: /}}]`, nil},
	"to a path that an earlier route takes for one of two hosts": {
		`[{hosts: [a.example.com], path: /new, upstream: a}, {hosts: [a.example.com, b.example.com], redirect: {path: /new}}]`, `[]`,
		[]string{loop("[0] (http): routes[1] (/)", "b.example.com")}},
	"to another path of the own host and port": {
		`[{path: /a, redirect: {host: www.example.com, port: 80, path: /b}}]`, `[]`, nil},
	"to the own path of the own host and port": {
		`[{hosts: [www.example.com], path: /a, redirect: {host: www.example.com, port: 80, path: /a}}]`, `[]`,
		[]string{loop("[0] (http): routes[0] (/a)", "www.example.com")}},
}

func loop(where, host string) string {
	return "listeners" + where + ": redirect leads back to itself for host " + host +
		"; change its https, host, port or path, or put a route for its target before it"
}

func TestARedirectThatLeadsBackToItselfIsRefused(t *testing.T) {
	t.Parallel()
	for sentence, c := range loopCases {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			values := `
tls: {enabled: true, secret: {name: cert}}
upstreams: [{name: a, hosts: ["a:80"]}]
listeners:
  - {name: http, port: 8080, servicePort: 80, protocol: HTTP, routes: ` + c.http + `}
  - {name: https, port: 8443, servicePort: 443, protocol: HTTPS, routes: ` + c.https + `}
`
			if len(c.want) == 0 {
				bootstrap(t, values)
				return
			}
			assert.ElementsMatch(t, c.want, faults(refusal(t, values)))
		})
	}
}

// Envoy leaves the port out when it names another host, so that the client goes to 80 or 443.
func TestARedirectToItsHostAtAnotherPortIsNoLoop(t *testing.T) {
	t.Parallel()
	const values = `
listeners:
  - {name: http, port: 8080, protocol: HTTP, routes: [{hosts: [example.com], redirect: {host: example.com}}]}
`
	bootstrap(t, values)
}

// The redirect to a site's one name, as most sites have it: the name itself has a route before.
func TestARouteThatIsReachedForOneOfItsHostsIsTaken(t *testing.T) {
	t.Parallel()
	bootstrap(t, `
hostnames: [example.com, www.example.com]
upstreams: [{name: a, hosts: ["a:80"]}]
listeners:
  - {name: http, port: 8080, servicePort: 80, protocol: HTTP, routes: [{hosts: [www.example.com], upstream: a}, {redirect: {host: www.example.com}}]}
`)
	assert.Equal(t, []string{
		"listeners[0] (http): routes[2] (/) is never reached for host example.com, since routes[1] (/) matches first; put the more specific one first",
		"listeners[0] (http): routes[2] (/) is never reached for host www.example.com, since routes[0] (/) matches first; put the more specific one first",
		"listeners[0] (http): routes[2] (/) is never reached for host www.example.com, since routes[1] (/) matches first; put the more specific one first",
	}, faults(refusal(t, `
hostnames: [example.com, www.example.com]
upstreams: [{name: a, hosts: ["a:80"]}]
listeners:
  - {name: http, port: 8080, servicePort: 80, protocol: HTTP, routes: [{hosts: [www.example.com], upstream: a}, {redirect: {host: www.example.com}}, {upstream: a}]}
`)))
}
