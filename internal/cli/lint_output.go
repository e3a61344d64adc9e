// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/sluice-gateway/sluice/internal/lint"
)

func findingsWriter(output, version string) (func(io.Writer, []lint.Finding) error, error) {
	switch output {
	case "text":
		return writeFindings, nil
	case "json":
		return writeFindingsJSON, nil
	case "sarif":
		return func(w io.Writer, findings []lint.Finding) error { return writeIndented(w, sarifOf(findings, version)) }, nil
	}
	return nil, fmt.Errorf("--output %q: must be text, json or sarif", output)
}

func writeFindings(w io.Writer, findings []lint.Finding) error {
	for _, f := range findings {
		if _, err := fmt.Fprintln(w, f); err != nil {
			return err
		}
	}
	return nil
}

// finding is the JSON of one; what is not known is left out.
type finding struct {
	Severity string `json:"severity"`
	Rule     string `json:"rule"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Object   string `json:"object,omitempty"`
	Field    string `json:"field,omitempty"`
	Message  string `json:"message"`
}

func writeFindingsJSON(w io.Writer, findings []lint.Finding) error {
	report := struct {
		Errors   int       `json:"errors"`
		Warnings int       `json:"warnings"`
		Findings []finding `json:"findings"`
	}{countOf(findings, lint.Error), countOf(findings, lint.Warning), []finding{}}
	for _, f := range findings {
		report.Findings = append(report.Findings, finding{string(f.Severity), f.Rule, f.File, f.Line, f.Object, f.Field, f.Message})
	}
	return writeIndented(w, report)
}

func writeIndented(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
