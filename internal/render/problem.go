// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"strings"

	"github.com/sluice-gateway/sluice/api/v1alpha1"
)

// Problem is one thing about the input that people must know. Every part but the message may be missing.
type Problem struct {
	// File as it was given, and the line in it, from 1.
	File string
	Line int
	// Object is its kind and name, as APIGateway apis/web, and APIVersion what goes with the kind.
	Object, APIVersion string
	// Field is its dotted path within the object.
	Field string
	// Message says what is wrong and what would be right.
	Message string
	// Reason is the one that the operator would report in the condition Accepted.
	Reason string
	// TextLine is the line that is meant of the text which the field holds, from 1; 0 for the field as a whole, and once Line or
	// the message tell it.
	TextLine int
	// unbuilt says that a kustomization might have mended it, had it been built.
	unbuilt bool
}

// ConfigField is the path within a ConfigMap to the text that configRef reads.
var ConfigField = keyPath("data", v1alpha1.ConfigKey)

// String is one line: file:line: object: field: message (reason).
func (p Problem) String() string {
	var parts []string
	for _, part := range []string{p.position(), p.Object, p.Field, oneLine(p.Message)} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	text := strings.Join(parts, ": ")
	if p.Reason != "" {
		text += " (" + p.Reason + ")"
	}
	return text
}

func (p Problem) position() string {
	if p.File == "" || p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "\n", " ")), " ")
}
