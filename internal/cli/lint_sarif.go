// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"net/url"
	"path/filepath"
	"strings"

	"github.com/sluice-gateway/sluice/internal/lint"
)

// The parts of SARIF 2.1.0 that findings need.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Version        string      `json:"version"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name               string `json:"name"`
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
)

func sarifOf(findings []lint.Finding, version string) sarifLog {
	driver := sarifDriver{Name: programName, InformationURI: "https://github.com/sluice-gateway/sluice", Version: version}
	index := map[string]int{}
	for i, rule := range lint.Rules {
		index[rule.ID] = i
		driver.Rules = append(driver.Rules, sarifRule{rule.ID, sarifText{rule.Description}})
	}
	results := []sarifResult{}
	for _, f := range findings {
		results = append(results, sarifResult{
			RuleID: f.Rule, RuleIndex: index[f.Rule], Level: string(f.Severity), Message: sarifText{sarifMessage(f)}, Locations: sarifLocations(f),
		})
	}
	return sarifLog{
		Schema:  "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{sarifTool{driver}, results}},
	}
}

// sarifMessage names object and field too, since viewers show little else.
func sarifMessage(f lint.Finding) string {
	var parts []string
	for _, part := range []string{f.Object, f.Field, f.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// sarifLocations leaves out files that are no longer as the finding says.
func sarifLocations(f lint.Finding) []sarifLocation {
	var at sarifLocation
	if f.File != "" && !f.Before {
		at.Physical = &sarifPhysical{Artifact: sarifArtifact{URI: fileURI(f.File)}}
		if f.Line > 0 {
			at.Physical.Region = &sarifRegion{f.Line}
		}
	}
	if f.Object != "" {
		name := strings.TrimSuffix(f.Object+" "+f.Field, " ")
		at.Logical = []sarifLogical{{f.Object, name, "resource"}}
	}
	if at.Physical == nil && at.Logical == nil {
		return []sarifLocation{}
	}
	return []sarifLocation{at}
}

// fileURI of a path as it was given: a relative one stays relative.
func fileURI(file string) string {
	u := url.URL{Path: filepath.ToSlash(file)}
	if filepath.IsAbs(file) {
		u.Scheme = "file"
	}
	return u.String()
}
