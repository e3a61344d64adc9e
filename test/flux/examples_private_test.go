// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/test/cluster"
)

// A chart without a signature is said to be one, and what runs is left alone, until it has its signature.
func TestAPrivateRegistryWhoseChartsAreSigned(t *testing.T) {
	t.Parallel()
	m := newTeamWithoutNamespace(t, "payments", waits("2m"))
	registry, err := local.StartPrivateRegistry(t.Context(), "private-registry")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m.sign(registry, m.pushTo(registry, "1.0.0"), key)
	unsigned := m.pushTo(registry, "1.1.0")
	manifests := readExample(t, "private-registry")
	manifests.useRegistry(t, registry.Address)
	manifests["cosign-key.yaml"] = withKey(m, manifests["cosign-key.yaml"], &key.PublicKey)
	m.create(manifests["namespace.yaml"])
	m.logIn(registry)
	m.runExample("private-registry", manifests, 2)

	before, pods := m.releases.latest()["web"], m.readyPods(podsOf("web"))
	revision := m.push("A chart that nobody has signed", files{
		"gateway.yaml": strings.Replace(manifests["gateway.yaml"], "className: verified\n", "className: verified\n  chart: {tag: 1.1.0}\n", 1)})
	m.saysThatItIsNotSigned(unsigned)
	equal(m, "HelmRelease", m.releases.latest()["web"].Spec, before.Spec)
	equal(m, "pods", m.readyPods(podsOf("web")), pods)
	equal(m, "Helm's revisions", m.helmRevisions("web"), []string{"1 deployed"})

	m.sign(registry, unsigned, key)
	m.awaitReady(revision)
	equal(m, "source", m.gateways.latest()["web"].Status.Source.Revision, "1.1.0@"+unsigned.Digest)
	m.neverWithoutSource("web")
}

func (m *team) pushTo(registry *cluster.PrivateRegistry, version string) cluster.Chart {
	m.Helper()
	chart, err := registry.PushChart(m.Context(), filepath.Join(root, "charts", "gateway"), version)
	if err != nil {
		m.Fatal(err)
	}
	return chart
}

func (m *team) sign(registry *cluster.PrivateRegistry, chart cluster.Chart, key *ecdsa.PrivateKey) {
	m.Helper()
	if err := registry.Sign(m.Context(), chart, key); err != nil {
		m.Fatal(err)
	}
}

// logIn makes the Secret that is not in git.
func (m *team) logIn(registry *cluster.PrivateRegistry) {
	m.Helper()
	_, err := local.Kubectl(m.Context(), "create", "secret", "docker-registry", "registry-login", "--namespace", m.name,
		"--docker-server", registry.Address, "--docker-username", registry.User, "--docker-password", registry.Password)
	if err != nil {
		m.Fatal(err)
	}
}

// saysThatItIsNotSigned: the gateway says so, and goes on saying so while Flux tries again.
func (m *team) saysThatItIsNotSigned(chart cluster.Chart) {
	m.Helper()
	const reason, complaint = sourcev1.VerificationError, "failed to verify the signature using provider 'cosign': no matching signatures were found"
	said := m.gateways.await(m.T, release, "web", "refused", both(
		says(v1alpha1.ConditionSourceReady, metav1.ConditionFalse, reason, complaint, chart.Digest),
		notReady(reason, complaint, chart.Digest), inPhase(v1alpha1.PhaseDegraded)))
	tries := 0
	m.sources.awaitState(m.T, release, "tried again", func(s state[*sourcev1.OCIRepository]) error {
		c := apimeta.FindStatusCondition(s.object.Status.Conditions, sourcev1.SourceVerifiedCondition)
		if c != nil && c.Status == metav1.ConditionFalse && version(m.T, s.object) > version(m.T, said.object) {
			tries++
		}
		if tries < 4 {
			return fmt.Errorf("%d tries: %s", tries, describe(s.object))
		}
		return nil
	})
	for _, s := range m.gateways.sinceMark("web") {
		if version(m.T, s.object) > version(m.T, said.object) && condition(s.object, v1alpha1.ConditionReady).Reason != reason {
			m.Errorf("not said any more: %s", describe(s.object))
		}
	}
}

var publicKey = regexp.MustCompile(`(?s) *-----BEGIN PUBLIC KEY-----.*-----END PUBLIC KEY-----\n`)

// withKey puts a public key in the place of the example's.
func withKey(m *team, manifest string, key *ecdsa.PublicKey) string {
	m.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		m.Fatal(err)
	}
	if !publicKey.MatchString(manifest) {
		m.Fatalf("no public key in\n%s", manifest)
	}
	text := strings.TrimSpace(string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	return publicKey.ReplaceAllLiteralString(manifest, "    "+strings.ReplaceAll(text, "\n", "\n    ")+"\n")
}
