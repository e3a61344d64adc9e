// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"strings"
	"time"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
)

// byTest begins the requests that a test makes of Flux itself.
const byTest = "test-"

// looked has Flux look at the release once more, and waits until it has. A source that gets its artifact just when Flux looks
// for it has Flux look again, up to a second after the install is over and the gateway Ready: it corrects unasked what somebody
// does then, and writes the HelmRelease's status. Requests for one HelmRelease are one, so that after this none is left.
func (m *team) looked(name string) {
	m.Helper()
	asked := byTest + time.Now().Format(time.RFC3339Nano)
	m.patch(&helmv2.HelmRelease{}, name, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, meta.ReconcileRequestAnnotation, asked))
	m.releases.await(m.T, soon, name, "looked at", func(hr *helmv2.HelmRelease) error {
		if hr.Status.LastHandledReconcileAt != asked {
			return fmt.Errorf("not at the request %s: %s", asked, describe(hr))
		}
		return helmReady(hr)
	})
}

// wasAsked passes a HelmRelease of which the operator asked something.
func wasAsked(hr *helmv2.HelmRelease) error {
	if asked := hr.Annotations[meta.ReconcileRequestAnnotation]; asked == "" || strings.HasPrefix(asked, byTest) {
		return fmt.Errorf("the operator asked for nothing; the last request is %q", asked)
	}
	return nil
}

// decided are the times at which the operator decided to ask, which its requests carry; on their way they take longer or shorter.
func (m *team) decided(name string) []time.Time {
	m.Helper()
	var times []time.Time
	last := ""
	for _, s := range m.releases.all(name) {
		asked := s.object.Annotations[meta.ReconcileRequestAnnotation]
		if asked == last || wasAsked(s.object) != nil {
			continue
		}
		last = asked
		when, err := time.Parse(time.RFC3339Nano, asked)
		if err != nil {
			m.Fatal(err)
		}
		times = append(times, when)
	}
	return times
}

// awaitHandled waits until Flux has done what the operator asked.
func (m *team) awaitHandled(name string) {
	m.Helper()
	m.releases.await(m.T, soon, name, "handled", both(wasAsked, helmReady, func(hr *helmv2.HelmRelease) error {
		if asked := hr.Annotations[meta.ReconcileRequestAnnotation]; hr.Status.LastHandledReconcileAt != asked {
			return fmt.Errorf("asked %s, handled %s", asked, hr.Status.LastHandledReconcileAt)
		}
		return nil
	}))
}
