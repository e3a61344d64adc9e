// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// helms is how helm writes numbers.
var helms = message.NewPrinter(language.English)

// Numbers that Kubernetes keeps in 32 bits with a sign, and Envoy in 32 bits without one.
func TestNumbersBeyondWhatIsTakenAreRefused(t *testing.T) {
	t.Parallel()
	const signed, unsigned = 1<<31 - 1, 1<<32 - 1
	for path, most := range map[string]int{
		"replicaCount":                                  signed,
		"autoscaling/maxReplicas":                       signed,
		"autoscaling/targetCPUUtilizationPercentage":    signed,
		"autoscaling/targetMemoryUtilizationPercentage": signed,
		"podDisruptionBudget/maxUnavailable":            signed,
		"startupProbe/initialDelaySeconds":              signed,
		"startupProbe/periodSeconds":                    signed,
		"readinessProbe/timeoutSeconds":                 signed,
		"livenessProbe/failureThreshold":                signed,
		"http/maxConnections":                           signed,
		"http/trustedHops":                              100,
		"concurrency":                                   1024,
		"drain/seconds":                                 3600,
		"terminationGracePeriodSeconds":                 7200,
		"upstreams/0/healthCheck/healthyThreshold":      unsigned,
		"upstreams/0/healthCheck/unhealthyThreshold":    unsigned,
		"listeners/0/nodePort":                          65535,
		"listeners/0/servicePort":                       65535,
		"listeners/0/routes/0/redirect/port":            65535,
		"listeners/0/routes/0/retries/attempts":         10,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			want := helms.Sprintf("at '/%s': maximum: got %v, want %v", path, float64(most+1), float64(most))
			assert.Equal(t, []string{want}, faults(refusal(t, aNumberAt(path, most+1))))
		})
	}
}

// aNumberAt is the values file with number at the path, and around it what the schema wants there.
func aNumberAt(path string, number int) string {
	const route = "listeners: [{name: a, port: 8080, protocol: HTTP, routes: [{upstream: a, %s: {%s: %d}}]}]"
	keys := strings.Split(path, "/")
	last := keys[len(keys)-1]
	switch strings.Join(keys[:len(keys)-1], "/") {
	case "upstreams/0/healthCheck":
		return fmt.Sprintf("upstreams: [{name: a, hosts: [\"a:1\"], healthCheck: {path: /, %s: %d}}]", last, number)
	case "listeners/0":
		return fmt.Sprintf("listeners: [{name: a, port: 8080, protocol: HTTP, %s: %d}]", last, number)
	case "listeners/0/routes/0/redirect", "listeners/0/routes/0/retries":
		return fmt.Sprintf(route, keys[4], last, number)
	}
	return strings.Join(keys, ": {") + fmt.Sprint(": ", number) + strings.Repeat("}", len(keys)-1)
}

func TestTheGreatestNumbersThatAreTakenArriveWhole(t *testing.T) {
	t.Parallel()
	const most = 1<<31 - 1
	values := fmt.Sprintf(`
replicaCount: %[1]d
autoscaling: {enabled: true, maxReplicas: %[1]d, targetCPUUtilizationPercentage: %[1]d}
podDisruptionBudget: {maxUnavailable: %[1]d}
livenessProbe: {initialDelaySeconds: %[1]d, periodSeconds: %[1]d, timeoutSeconds: %[1]d, failureThreshold: %[1]d}
upstreams: [{name: a, hosts: ["a:1"], healthCheck: {path: /, healthyThreshold: %[2]d, unhealthyThreshold: %[2]d}}]
`, most, 1<<32-1)
	o := renderObjects(t, values)
	assert.Equal(t, ptr.To(int32(most)), o.Autoscaler.Spec.MinReplicas)
	assert.Equal(t, int32(most), o.Autoscaler.Spec.MaxReplicas)
	assert.Equal(t, ptr.To(int32(most)), o.Autoscaler.Spec.Metrics[0].Resource.Target.AverageUtilization)
	assert.Equal(t, ptr.To(intstr.FromInt32(most)), o.Disruption.Spec.MaxUnavailable)
	probe := o.Deployment.Spec.Template.Spec.Containers[0].LivenessProbe
	assert.Equal(t, []int32{most, most, most, most}, []int32{probe.InitialDelaySeconds, probe.PeriodSeconds, probe.TimeoutSeconds, probe.FailureThreshold})
	check := findCluster(t, bootstrap(t, values), "a").GetHealthChecks()[0]
	assert.Equal(t, []uint32{1<<32 - 1, 1<<32 - 1}, []uint32{check.GetHealthyThreshold().GetValue(), check.GetUnhealthyThreshold().GetValue()})
}

func TestABudgetIsAShareOfAllPodsAtMost(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{`at '/podDisruptionBudget/maxUnavailable': '101%' does not match pattern '^([0-9]{1,2}|100)%$'`},
		faults(refusal(t, "podDisruptionBudget: {maxUnavailable: 101%}")))
	for _, share := range []string{"0%", "25%", "100%"} {
		o := renderObjects(t, "podDisruptionBudget: {maxUnavailable: "+share+"}")
		assert.Equal(t, ptr.To(intstr.FromString(share)), o.Disruption.Spec.MaxUnavailable)
	}
}

// Text that goes into a request has no control characters: they would end its line, or be refused.
func TestControlCharactersAreRefused(t *testing.T) {
	t.Parallel()
	const values = `
listeners:
  - name: http
    port: 8080
    protocol: HTTP
    routes:
      - {upstream: a, path: "/a%[1]s"}
      - {upstream: a, pathPrefix: "/a%[1]s"}
      - {upstream: a, prefixRewrite: "/a%[1]s"}
      - {redirect: {path: "/a%[1]s"}}
      - {upstream: a, hostRewrite: "a%[1]s"}
upstreams: [{name: a, hosts: ["a:1"], healthCheck: {path: "/a%[1]s", host: "a%[1]s"}}]
`
	const path, prefix = `^/[^?#\x00-\x20\x7f-\x9f]*$`, `^/([^?#\x00-\x20\x7f-\x9f]*[^?#/\x00-\x20\x7f-\x9f])?$`
	const host = `^[-a-zA-Z0-9.]+(:[1-9][0-9]{0,4})?$`
	for _, character := range []string{"\x00", "\n", "\v", "\x1f", " ", "\x7f", "\u0085"} {
		t.Run(strconv.Quote(character), func(t *testing.T) {
			t.Parallel()
			var want []string
			for at, pattern := range map[string]string{
				"/listeners/0/routes/0/path":          path,
				"/listeners/0/routes/1/pathPrefix":    prefix,
				"/listeners/0/routes/2/prefixRewrite": prefix,
				"/listeners/0/routes/3/redirect/path": path,
				"/listeners/0/routes/4/hostRewrite":   host,
				"/upstreams/0/healthCheck/path":       `^/[^\x00-\x20\x7f-\x9f]*$`,
				"/upstreams/0/healthCheck/host":       host,
			} {
				value := "/a"
				if pattern == host {
					value = "a"
				}
				want = append(want, "at '"+at+"': '"+value+escaped(character)+"' does not match pattern '"+escaped(pattern)+"'")
			}
			assert.ElementsMatch(t, want, innermost(refusal(t, fmt.Sprintf(values, escaped(character)))))
		})
	}
}

// innermost are the faults that helm shows below one another, where there are several in one object.
func innermost(message string) []string {
	var found []string
	for _, line := range strings.Split(message, "\n") {
		if fault, ok := strings.CutPrefix(strings.TrimLeft(line, " "), "- "); ok && !strings.HasSuffix(fault, ": validation failed") {
			found = append(found, fault)
		}
	}
	return found
}

// escaped is text as it stands between the quotes of YAML, and as helm shows it.
func escaped(text string) string {
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}
