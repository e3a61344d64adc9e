// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/sluice-gateway/sluice/internal/plan"
)

// maxShown is how much of a value a message shows.
const maxShown = 60

var (
	// confidential are the names of what is nobody else's business. Findings go into the logs of pipelines.
	confidential = regexp.MustCompile(`(?i)passw|passphrase|secret|token|credential|auth|private|key$`)
	// revealing are texts that hold such a thing, whatever they are called: a PEM block, a JSON web token, a password within an
	// address or an argument, and what is long, without a blank, and no word, name or address.
	revealing = regexp.MustCompile(`(?i)-----BEGIN|^eyJ|://[^/@]*:[^/@]*@|(passw|passphrase|secret|token|credential|auth|key)[a-z_-]*["']?[=: ]|^[a-z0-9+/_=]{32,}$`)
)

// shown is the scalar at the path as JSON, cut short; empty where it is none, or may be confidential. Of maps and lists the type is
// told, and no more.
func shown(path plan.Path, values any) string {
	for _, step := range path {
		if step.IsIndex {
			list, _ := values.([]any)
			if step.Index >= len(list) {
				return ""
			}
			values = list[step.Index]
			continue
		}
		parent, _ := values.(map[string]any)
		if name, _ := parent["name"].(string); confidential.MatchString(step.Key) || confidential.MatchString(name) {
			return ""
		}
		values = parent[step.Key]
	}
	switch v := values.(type) {
	case nil, map[string]any, []any:
		return ""
	case string:
		if revealing.MatchString(v) {
			return ""
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(values) != nil {
		return ""
	}
	short := []rune(strings.TrimSpace(text.String()))
	if len(short) > maxShown {
		return string(short[:maxShown]) + "…"
	}
	return string(short)
}

// isConfidential says whether the name of a value on the path is such that the value is not told of.
func isConfidential(path plan.Path) bool {
	for _, step := range path {
		if confidential.MatchString(step.Key) {
			return true
		}
	}
	return false
}
