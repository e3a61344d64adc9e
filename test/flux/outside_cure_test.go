// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

const quota = `apiVersion: v1
kind: ResourceQuota
metadata: {name: $NAME, namespace: $TEAM}
spec: {hard: {$WHAT: "0"}}
`

// forbid lets no more objects of a kind come to be in the team's namespace.
func (m *team) forbid(name, what string) *corev1.ResourceQuota {
	m.Helper()
	m.create(strings.NewReplacer("$NAME", name, "$WHAT", what).Replace(quota))
	made := &corev1.ResourceQuota{}
	m.eventually(soon, "the quota to hold", func(ctx context.Context) error {
		if err := api.Get(ctx, client.ObjectKey{Namespace: m.name, Name: name}, made); err != nil {
			return err
		}
		if len(made.Status.Hard) == 0 {
			return fmt.Errorf("its status is %s", show(made.Status))
		}
		return nil
	})
	return made
}

// There is no kubelet here to hold a pod whose Secret is missing. The API server does it: in the team's namespace it takes no
// pod that asks for the Secret while that does not exist.
const podsNeedTheirSecret = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: pods-need-their-secret}
spec:
  paramKind: {apiVersion: v1, kind: Secret}
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: $TEAM}}
    objectSelector: {matchLabels: {needs: credentials}}
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: "params != null"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: pods-need-their-secret}
spec:
  policyName: pods-need-their-secret
  validationActions: [Deny]
  paramRef: {name: credentials, namespace: $TEAM, parameterNotFoundAction: Deny}
`

func (m *team) letPodsNeedTheirSecret() {
	m.Helper()
	m.create(podsNeedTheirSecret)
	m.Cleanup(func() {
		ctx := context.WithoutCancel(m.Context())
		if _, err := local.Kubectl(ctx, "delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", "pods-need-their-secret"); err != nil {
			m.Error(err)
		}
	})
	m.eventually(soon, "the policy to hold", func(ctx context.Context) error {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: m.name, Name: "probe", Labels: map[string]string{"needs": "credentials"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "probe", Image: "probe"}}},
		}
		if err := api.Create(ctx, pod, client.DryRunAll); err == nil {
			return fmt.Errorf("a pod is let pass")
		}
		return nil
	})
}

// Flux has given up, and so has Sluice, but for a seldom round. Nobody edits the gateway, nor Flux's objects: the missing Secret
// appears, and the next round finds the world mended.
func TestWhatIsStalledIsCuredFromOutsideAlone(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "outside")
	const remediation = "remediation: {failureThreshold: 1, backoff: {initial: 2s, max: 2s, afterThreshold: 4s}}"
	const needs = "values: {podLabels: {needs: credentials}}"
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web", remediation, shortTimeout)})
	m.gateways.await(t, release, "web", "ready", isReady(1))

	m.letPodsNeedTheirSecret()
	m.commit("An upgrade, and a new gateway, that need a Secret which is missing", files{
		"web.yaml":  gateway("web", remediation, shortTimeout, needs),
		"new.yaml":  gateway("new", remediation, shortTimeout, needs),
		"told.yaml": gateway("told", "remediation: {failureThreshold: 1}", shortTimeout, needs),
	})
	m.gateways.await(t, release, "told", "stalled", both(notReady("InstallFailed"), failedTimes(1),
		says(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonRetriesExceeded)))
	m.treeIs("given-up", "told")
	for name, reason := range map[string]string{"web": "RolledBack", "new": "InstallFailed"} {
		g := m.gateways.await(t, release, name, "failed twice", both(notReady(reason), failedTimes(2))).object
		next := "the next attempt starts at " + g.Status.NextRetryTime.UTC().Format(time.RFC3339)
		equal(m, "complaints", says(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonRetriesExceeded, "failed rounds: 2", next)(g), nil)
		m.neverTrue(name, g.Generation)
	}

	m.mark()
	m.create("apiVersion: v1\nkind: Secret\nmetadata: {name: credentials, namespace: $TEAM}\nstringData: {token: secret}\n")
	web := m.gateways.await(t, release, "web", "ready", ready).object
	fresh := m.gateways.await(t, release, "new", "ready", ready).object
	equal(m, "generations of the gateways", []int64{web.Generation, fresh.Generation}, []int64{2, 1})
	equal(m, "generations of the HelmReleases", m.generations(), map[string]int64{"web": 2, "new": 1, "told": 1})
	for _, g := range []*v1alpha1.APIGateway{web, fresh} {
		equal(m, "failures", g.Status.Failures, 0)
		equal(m, "conditions", conditions(g), []string{
			"Accepted=True Accepted", "Programmed=True Deployed", "Ready=True Ready", "SourceReady=True Ready",
		})
	}
}

// A Secret that valuesFrom names is Flux's to read.
func TestASecretThatIsMissingAppears(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "secret")
	from := "valuesFrom: [{kind: Secret, name: late, valuesKey: values.yaml}]"
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: late, namespace: $TEAM, labels: {reconcile.fluxcd.io/watch: Enabled}}\nstringData: {values.yaml: 'message: secret'}\n"
	m.commit("Add gateways, one of which lacks its Secret", files{
		"class.yaml": webClass(), "new.yaml": gateway("new", from), "web.yaml": gateway("web", "values: {extra: true}")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	m.gateways.await(t, release, "new", "failed", both(notReady("ValuesError", "late"), inPhase(v1alpha1.PhaseFailed)))
	m.commit("The other one too", files{"web.yaml": gateway("web", "values: {extra: true}", from)})
	g := m.gateways.await(t, release, "web", "failed", both(notReady("ValuesError", "late"), inPhase(v1alpha1.PhaseDegraded))).object
	equal(m, "failures", g.Status.Failures, 0)
	m.treeIs("values-missing", "web")
	equal(m, "settings", m.configs.latest()["web-settings"].Data["message"], "hello")

	m.create(secret)
	m.gateways.await(t, release, "web", "ready", isReady(2))
	m.gateways.await(t, release, "new", "ready", isReady(1))
	for _, name := range []string{"web", "new"} {
		equal(m, "settings of "+name, m.configs.latest()[name+"-settings"].Data["message"], "secret")
	}
	m.went("web", "Progressing Unknown Progressing", "Degraded False ValuesError", "Progressing Unknown Progressing", "Ready True Ready")
}
