// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package fluxstatus_test

import (
	"reflect"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/internal/fluxstatus"
	flux "github.com/sluice-gateway/sluice/internal/fluxstatus/fluxtest"
)

func TestObserveWithoutARelease(t *testing.T) {
	unknown := fluxstatus.Statement{Status: "Unknown"}
	for what, c := range map[string]struct {
		in   fluxstatus.Input
		want fluxstatus.Observation
	}{
		"nothing is wanted and nothing is there": {
			fluxstatus.Input{},
			fluxstatus.Observation{Source: fluxstatus.Source{Ready: unknown}, Ready: unknown},
		},
		"nothing is there yet: the chart's digest is unknown, and with it what is desired": {
			fluxstatus.Input{Desired: desired()},
			fluxstatus.Observation{Source: fluxstatus.Source{Ready: unknown}, Ready: unknown},
		},
		"the source is there, the HelmRelease is not": {
			fluxstatus.Input{Desired: desired(), Source: flux.ReadySource()},
			seen(func(o *fluxstatus.Observation) { o.Exists, o.Carries, o.Attempt = false, false, "" }),
		},
	} {
		t.Run(what, func(t *testing.T) { compare(t, fluxstatus.Observe(c.in), c.want) })
	}
}

func TestObserveWhetherTheDesiredSpecIsCarried(t *testing.T) {
	unseen := func(carries bool) fluxstatus.Observation {
		return seen(func(o *fluxstatus.Observation) { o.Carries, o.Activity = carries, fluxstatus.Unseen })
	}
	for what, c := range map[string]struct {
		hr   *helmv2.HelmRelease
		want fluxstatus.Observation
	}{
		"it is": {flux.Release(desired(), 1), unseen(true)},
		"its values are spelled otherwise": {
			flux.Release(desired(), 1, func(hr *helmv2.HelmRelease) {
				hr.Spec.Values = &apiextensionsv1.JSON{Raw: []byte(`{ "replicas": 3.0 }`)}
			}),
			unseen(true),
		},
		"a field was added by hand": {
			flux.Release(desired(), 1, func(hr *helmv2.HelmRelease) { hr.Spec.ServiceAccountName = "admin" }), unseen(false),
		},
		"it points at another source": {
			flux.Release(desired(), 1, func(hr *helmv2.HelmRelease) { hr.Spec.ChartRef.Name = "wso2-00000000" }), unseen(false),
		},
		"it is suspended, which is not ours to decide": {
			flux.Release(desired(), 1, flux.Suspended),
			seen(func(o *fluxstatus.Observation) { o.Suspended, o.Activity = true, fluxstatus.Idle }),
		},
		"it is being deleted: it does not stay": {
			flux.Release(desired(), 1, func(hr *helmv2.HelmRelease) { hr.DeletionTimestamp = &flux.Noon }),
			seen(func(o *fluxstatus.Observation) { o.Carries, o.Deleting, o.Activity = false, true, fluxstatus.Unseen }),
		},
	} {
		t.Run(what, func(t *testing.T) {
			compare(t, fluxstatus.Observe(fluxstatus.Input{Desired: desired(), Release: c.hr, Source: flux.ReadySource()}), c.want)
		})
	}
}

func TestObserveRequests(t *testing.T) {
	hr := flux.Release(desired(), 1, func(hr *helmv2.HelmRelease) {
		hr.Annotations = map[string]string{"reconcile.fluxcd.io/requestedAt": "b", "reconcile.fluxcd.io/forceAt": "b"}
		hr.Status.LastHandledReconcileAt, hr.Status.LastHandledForceAt = "a", "b"
	})
	want := seen(func(o *fluxstatus.Observation) {
		o.Activity, o.Attempt = fluxstatus.Unseen, "0//b"
		o.RequestedAt, o.HandledRequestAt, o.ForceAt, o.HandledForceAt = "b", "a", "b", "b"
	})
	compare(t, fluxstatus.Observe(fluxstatus.Input{Desired: desired(), Release: hr, Source: flux.ReadySource()}), want)
}

func TestObserveSource(t *testing.T) {
	pullFailed := says("False", "OCIArtifactPullFailed", flux.PullFailed)
	fetchFailed := flux.SourceCondition("FetchFailed", "True", "OCIArtifactPullFailed", flux.PullFailed)
	notVerified := flux.SourceCondition("SourceVerified", "False", "VerificationError", flux.NotSigned)
	whole := func(set func(*fluxstatus.Source)) fluxstatus.Source {
		s := fluxstatus.Source{Exists: true, Usable: true, Revision: flux.Revision, Digest: flux.Digest, Ready: fluxstatus.Statement{Status: "Unknown"}}
		set(&s)
		return s
	}
	without := func(ready fluxstatus.Statement) fluxstatus.Source {
		return fluxstatus.Source{Exists: true, Ready: ready}
	}
	for what, c := range map[string]struct {
		source    *sourcev1.OCIRepository
		known     string
		want      fluxstatus.Source
		refreshes bool
	}{
		"it is new": {flux.Source(flux.NeverObserved, flux.NoArtifact), "", without(fluxstatus.Statement{Status: "Unknown"}), false},
		"it is pulled for the first time": {
			flux.NewSource(), "", without(says("Unknown", "Progressing", flux.Building)), false,
		},
		"its tag does not exist": {
			flux.FailedSource(), "", without(pullFailed), false,
		},
		"it is ready": {flux.ReadySource(), "", seen(func(*fluxstatus.Observation) {}).Source, true},
		"the registry is down: the artifact serves all the same": {
			flux.Source(flux.PullFails), "", whole(func(s *fluxstatus.Source) { s.Ready = pullFailed }), false,
		},
		"it is pulled again after a failure, which stands until it succeeds": {
			flux.Source(fetchFailed, flux.SourceCondition("Ready", "Unknown", "Progressing", flux.Building)), "",
			whole(func(s *fluxstatus.Source) { s.Ready = pullFailed }), false,
		},
		"it is verified again, and what was wrong with its signature stands until it is right": {
			flux.Source(flux.NeverObserved, flux.NoArtifact, notVerified, flux.SourceCondition("Ready", "Unknown", "Progressing", flux.Building)), "",
			without(says("False", "VerificationError", flux.NotSigned)), false,
		},
		"it is pulled, since its signature is right": {
			flux.Source(flux.NeverObserved, flux.NoArtifact, flux.SourceCondition("SourceVerified", "True", "Succeeded", flux.Signed),
				flux.SourceCondition("Ready", "Unknown", "Progressing", flux.Building)), "",
			without(says("Unknown", "Progressing", flux.Building)), false,
		},
		"the failure was that of an older generation": {
			flux.Source(fetchFailed, flux.NextGeneration, flux.SourceCondition("Ready", "Unknown", "Progressing", flux.Building)), "",
			whole(func(s *fluxstatus.Source) { s.Ready, s.Usable = says("Unknown", "Progressing", flux.Building), false }), false,
		},
		"somebody edited its tag to one that does not exist: the artifact is that of the old spec": {
			flux.Source(flux.NextGeneration, flux.PullFails), "",
			whole(func(s *fluxstatus.Source) { s.Ready, s.Usable = pullFailed, false }), false,
		},
		"somebody suspended it: helm-controller waits for the new generation": {
			func() *sourcev1.OCIRepository { s := flux.ReadySource(); flux.NextGeneration(s); return s }(), "",
			whole(func(s *fluxstatus.Source) {
				s.Ready = fluxstatus.Statement{Status: "True", Reason: "Succeeded", Message: flux.Stored}
				s.Usable = false
			}), false,
		},
		"it is stalled": {
			flux.Source(flux.SourceCondition("Ready", "False", "URLInvalid", "no scheme"), flux.SourceCondition("Stalled", "True", "URLInvalid", "no scheme")), "",
			whole(func(s *fluxstatus.Source) { s.Ready, s.Usable = says("False", "URLInvalid", "no scheme"), false }), false,
		},
		"its artifact is lost: the last known revision stands in": {
			flux.Source(flux.NoArtifact, flux.SourceCondition("Ready", "Unknown", "Progressing", flux.Lost)), flux.Revision,
			whole(func(s *fluxstatus.Source) { s.Ready, s.Usable = says("Unknown", "Progressing", flux.Lost), false }), false,
		},
		"it was deleted by hand: the last known revision stands in": {
			nil, flux.Revision, whole(func(s *fluxstatus.Source) { s.Exists, s.Usable = false, false }), false,
		},
		"its artifact is newer than the last known revision": {
			flux.ReadySource(), flux.OldVersion + "@" + flux.OldDigest, seen(func(*fluxstatus.Observation) {}).Source, true,
		},
		"it is a digest without a tag": {
			flux.Source(func(s *sourcev1.OCIRepository) { s.Status.Artifact.Revision = flux.Digest }), "",
			whole(func(s *fluxstatus.Source) { s.Revision = flux.Digest }), false,
		},
	} {
		t.Run(what, func(t *testing.T) {
			got := fluxstatus.Observe(fluxstatus.Input{Source: c.source, KnownRevision: c.known}).Source
			if got != c.want || got.Refreshes() != c.refreshes {
				t.Errorf("got %+v, refreshes %v\nwant %+v, refreshes %v", got, got.Refreshes(), c.want, c.refreshes)
			}
		})
	}
}

func compare(t *testing.T, got, want fluxstatus.Observation) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		a, _ := yaml.Marshal(got)
		b, _ := yaml.Marshal(want)
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
}
