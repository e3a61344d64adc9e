// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"sort"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
	"github.com/sluice-gateway/sluice/internal/fluxstatus"
)

// Revision is one revision of the Helm release. What it changed is told against the revision before it that is known.
type Revision struct {
	Revision     int64  `json:"revision"`
	ChartVersion string `json:"chartVersion,omitempty"`
	AppVersion   string `json:"appVersion,omitempty"`
	// Chart tells whether the chart changed: yes, no or unknown; empty for the oldest.
	Chart Changed `json:"chartChanged,omitempty"`
	// Values tells the same of the values, by the digest that Flux keeps of them.
	Values   Changed      `json:"valuesChanged,omitempty"`
	Action   string       `json:"action,omitempty"`
	Status   string       `json:"status,omitempty"`
	Deployed *metav1.Time `json:"deployed,omitempty"`

	chart, config, contents string
}

// Changed is an answer to whether something changed.
type Changed string

// Answers.
const (
	ChangedYes     Changed = "yes"
	ChangedNo      Changed = "no"
	ChangedUnknown Changed = "unknown"
)

// revisions joins the gateway's history, which keeps five, with Flux's, which shrinks to two on success but knows more of each.
// The newest comes first.
func revisions(status v1alpha1.APIGatewayStatus, snapshots helmv2.Snapshots) []Revision {
	var all []Revision
	for _, entry := range status.History {
		all = append(all, Revision{
			Revision: entry.Revision, ChartVersion: entry.ChartVersion, Action: entry.Action, Status: entry.Status,
			Deployed: entry.Deployed, contents: entry.DesiredHash,
		})
	}
	for _, s := range snapshots {
		if s != nil {
			all = merge(all, s)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return newer(all[i], all[j]) })
	for i := range len(all) - 1 {
		all[i].Chart, all[i].Values = difference(all[i], all[i+1])
	}
	return all
}

func merge(all []Revision, s *helmv2.Snapshot) []Revision {
	i := 0
	for i < len(all) && (all[i].Revision != int64(s.Version) || !s.LastDeployed.Equal(all[i].Deployed)) {
		i++
	}
	if i == len(all) {
		deployed := s.LastDeployed
		all = append(all, Revision{
			Revision: int64(s.Version), ChartVersion: fluxstatus.AuthorVersion(s.ChartVersion), Action: string(s.Action), Deployed: &deployed,
		})
	}
	r := &all[i]
	// What Flux says now is newer than the gateway's status; its action is not: see internal/gatewaystatus.
	r.Status, r.AppVersion, r.chart, r.config = s.Status, s.AppVersion, s.ChartName+"@"+s.ChartVersion, s.ConfigDigest
	return all
}

func newer(a, b Revision) bool {
	if a.Deployed != nil && b.Deployed != nil && !a.Deployed.Time.Equal(b.Deployed.Time) {
		return a.Deployed.Time.After(b.Deployed.Time)
	}
	return a.Revision > b.Revision
}

// difference between a revision and the one before it. Equal hashes of the contents answer where Flux has forgotten the rest.
func difference(now, before Revision) (chart, values Changed) {
	chart, values = compare(now.chart, before.chart), compare(now.config, before.config)
	if chart == ChangedUnknown && now.ChartVersion != before.ChartVersion {
		chart = ChangedYes
	}
	if now.contents != "" && now.contents == before.contents {
		chart, values = ChangedNo, ChangedNo
	}
	return chart, values
}

func compare(now, before string) Changed {
	switch {
	case now == "" || before == "":
		return ChangedUnknown
	case now == before:
		return ChangedNo
	}
	return ChangedYes
}
