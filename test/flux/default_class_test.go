// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"strings"
	"testing"
	"time"
)

// This test runs alone: which class is the default concerns the whole cluster.
func TestADefaultClassServesOnlyWhileThereIsOne(t *testing.T) {
	m := newTeam(t, "defaults")
	plain := webClass()
	marked := strings.Replace(plain, "name: $TEAM", `name: $TEAM, annotations: {gateway.sluice.dev/is-default-class: "true"}`, 1)
	second := strings.Replace(marked, "name: $TEAM", "name: $TEAM-too", 1)

	m.commit("Add a gateway without a class, and no default", files{"class.yaml": plain, "web.yaml": gatewayOf("", "web")})
	m.gateways.await(t, soon, "web", "refused", notReady("ClassNotFound",
		"spec.className: no class is named and no APIGatewayClass carries the annotation", "name one of: defaults"))

	m.commit("Make the class the default", files{"class.yaml": marked})
	g := m.gateways.await(t, release, "web", "ready", isReady(1)).object
	equal(m, "class", g.Status.ClassName, "defaults")
	generations, pods := m.generations(), m.pods("web")

	begin := time.Now()
	m.commit("Add a second default, and another gateway without a class", files{"too.yaml": second, "other.yaml": gatewayOf("", "other")})
	m.gateways.await(t, soon, "other", "refused", notReady("ClassNotFound",
		"no class is named and 2 APIGatewayClasses carry the annotation", "name one of: defaults, defaults-too"))
	m.commit("Take the mark from the first", files{"class.yaml": plain})
	g = m.gateways.await(t, release, "other", "ready", isReady(1)).object
	equal(m, "class of the other", g.Status.ClassName, "defaults-too")

	// Who runs keeps the class.
	web := m.gateways.latest()["web"]
	equal(m, "class of the first", web.Status.ClassName, "defaults")
	equal(m, "phase of the first", web.Status.Phase, "Ready")
	m.nothingWasWritten(begin, "web")
	equal(m, "generation", m.generations()["web"], generations["web"])
	equal(m, "pods", m.pods("web"), pods)
}
