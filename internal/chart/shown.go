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
	confidential = regexp.MustCompile(`(?i)pass|pwd|^pw$|pin(_?code)?$|secret|token|credential|auth|private|key|bearer|cookie|salt|seed|hmac|` +
		`signature|signing|jwt|dsn|webhook|licen[cs]e|conn(ection)?_?str`)
	// revealing are texts that hold such a thing, whatever they are called: a PEM block, a JSON web token, a password or a token within
	// an address or an argument, what begins as the tokens of known services do, and what is long, without a blank, and no word, name
	// or address.
	revealing = regexp.MustCompile(`(?i)-----BEGIN|^eyJ|://[^/@]*@|[?&][^=]+=|(pass|pwd|secret|token|credential|auth|key)[a-z_-]*["']?[=: ]|` +
		`^(sk|gh[opsu]|github_pat|glpat|xox[a-z]|hvs|npm)[-_.]|^(AKIA|ASIA|AIza)|^[a-z0-9+/_=]{32,}$`)
)

// shown is the scalar at the path as JSON, cut short; empty where it is none, or may be confidential. Of maps and lists the type is
// told, and no more.
func shown(path plan.Path, values any) string {
	value, isConfidential := look(path, values)
	if isConfidential {
		return ""
	}
	switch v := value.(type) {
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
	if encoder.Encode(value) != nil {
		return ""
	}
	short := []rune(strings.TrimSpace(text.String()))
	if len(short) > maxShown {
		return string(short[:maxShown]) + "…"
	}
	return string(short)
}

// look finds the value at the path, nil where there is none, and says whether it may be confidential by a name on the way: a key, the
// name of a variable, which stands beside its value, or an argument, which stands before it.
func look(path plan.Path, values any) (value any, isConfidential bool) {
	for _, step := range path {
		if step.IsIndex {
			list, _ := values.([]any)
			if step.Index >= len(list) {
				return nil, isConfidential
			}
			if step.Index > 0 {
				argument, _ := list[step.Index-1].(string)
				isConfidential = isConfidential || strings.HasPrefix(argument, "-") && confidential.MatchString(argument)
			}
			values = list[step.Index]
			continue
		}
		parent, _ := values.(map[string]any)
		name, _ := parent["name"].(string)
		isConfidential = isConfidential || confidential.MatchString(step.Key) || confidential.MatchString(name)
		values = parent[step.Key]
	}
	return values, isConfidential
}
