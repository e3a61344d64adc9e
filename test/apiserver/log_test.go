// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// logged is all that the operators of this process log.
var logged = &lines{}

type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) logger() logr.Logger {
	return funcr.New(func(_, line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, line)
	}, funcr.Options{})
}

var logLine = regexp.MustCompile(`"msg"="([^"]*)" .*"namespace"="([^"]*)" "name"="([^"]*)" .*"reason"="([^"]*)" "message"="((?:[^"\\]|\\.)*)" "phase"="([^"]*)"`)

// about are the lines about a gateway, as "Ready is False, reason Conflict, phase Failed: message".
func (l *lines) about(namespace, name string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var said []string
	for _, line := range l.all {
		if m := logLine.FindStringSubmatch(line); m != nil && m[2] == namespace && m[3] == name {
			said = append(said, fmt.Sprintf("%s, reason %s, phase %s: %s", m[1], m[4], m[6], m[5]))
		}
	}
	return said
}

func TestTheLogTellsOfEachTransitionOnce(t *testing.T) {
	w := newWorld(t)
	w.running("web", "values: {}")
	const unmapped = "spec.infrastructure.labels: class CLASS does not map this field; remove it, or set the chart's own key in spec.values"
	w.gateway("web", "infrastructure: {labels: {a: b}}")
	w.awaitReason("web", "Accepted", v1alpha1.ReasonUnmappedField)
	w.patch(&helmv2.HelmRelease{}, "web", `{"metadata":{"annotations":{"nudge":"1"}}}`)
	w.gateway("web", "infrastructure: {labels: {a: c}}") // the same once more
	w.awaitReason("web", "Accepted", v1alpha1.ReasonUnmappedField)
	w.gateway("web", "values: {}")
	w.awaitReason("web", "Ready", v1alpha1.ReasonReady)
	want := []string{
		"Accepted is True, reason Accepted, phase Pending: spec, class and config are valid",
		"Ready is Unknown, reason Pending, phase Pending: waiting for the chart: OCIRepository NS/SOURCE has no artifact yet",
		"Ready is Unknown, reason Progressing, phase Progressing: waiting for Flux to act on the desired state",
		"Ready is True, reason Ready, phase Ready: chart gateway 1.0.0 is deployed as revision 1",
		"Ready is False, reason UnmappedField, phase Degraded: " + unmapped,
		"Accepted is True, reason Accepted, phase Ready: spec, class and config are valid",
		"Ready is True, reason Ready, phase Ready: chart gateway 1.0.0 is deployed as revision 1",
	}
	names := strings.NewReplacer("CLASS", w.class, "NS", w.ns, "SOURCE", w.sources()[0].Name)
	w.await("the lines", func() error {
		got := logged.about(w.ns, "web")
		if text := strings.Join(got, "\n"); text != names.Replace(strings.Join(want, "\n")) {
			return fmt.Errorf("are\n%s", text)
		}
		return nil
	})
}
