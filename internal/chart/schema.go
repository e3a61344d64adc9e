// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/sluice-gateway/sluice/internal/plan"
)

// schemaAddress is the one under which Helm compiles schemas, so that references resolve alike.
const schemaAddress = "file:///values.schema.json"

// offline loads no schema: what one refers to elsewhere would have to be downloaded.
type offline struct{}

func (offline) Load(address string) (any, error) {
	return nil, fmt.Errorf("refers to %s, which is not looked up", address)
}

func (c *Chart) readSchema(data []byte) error {
	if data == nil {
		return nil
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(offline{})
	if err := compiler.AddResource(schemaAddress, document); err != nil {
		return err
	}
	c.schema, err = compiler.Compile(schemaAddress)
	c.HasSchema = true
	if err != nil {
		return errors.New(shortened(err))
	}
	return nil
}

// shortened drops the address, which nobody knows of.
func shortened(err error) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), schemaAddress, schemaFile)), " ")
}

// Violation is one way in which values are not as a schema wants them.
type Violation struct {
	// Path of the value at fault; empty for the values as a whole.
	Path plan.Path
	// Message goes on from the path.
	Message string
	// Lacking says that something is missing, which values from elsewhere may bring.
	Lacking bool
	// Unknown says that the schema has no such key.
	Unknown bool
	// told says that the message tells of the value already.
	told bool
}

// Validate holds merged values against the schema, and those of subcharts that are always installed against theirs.
func (c *Chart) Validate(merged map[string]any) []Violation {
	var all []Violation
	if c.schema != nil {
		var invalid *jsonschema.ValidationError
		if errors.As(c.schema.Validate(merged), &invalid) {
			all = violations(invalid, merged)
		}
		for i, v := range all {
			if value := shown(v.Path, merged); value != "" && !v.Lacking && !v.Unknown && !v.told {
				all[i].Message += "; it is " + value
			}
		}
	}
	for _, sub := range c.Subcharts {
		own, isMap := merged[sub.Key].(map[string]any)
		if sub.Conditional || !isMap {
			continue
		}
		for _, v := range sub.Chart.Validate(own) {
			v.Path = append(plan.Path{{Key: sub.Key}}, v.Path...)
			all = append(all, v)
		}
	}
	slices.SortStableFunc(all, func(a, b Violation) int { return strings.Compare(a.Path.String(), b.Path.String()) })
	return slices.CompactFunc(all, func(a, b Violation) bool { return a.Path.String() == b.Path.String() && a.Message == b.Message })
}

var english = message.NewPrinter(language.English)

// violations are the leaves of the validator's tree.
func violations(e *jsonschema.ValidationError, instance any) []Violation {
	path := pathOf(e.InstanceLocation, instance)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		return unknownKeys(path, k.Properties)
	case *kind.Required:
		return []Violation{{Path: path, Message: "lacks " + strings.Join(k.Missing, ", ") + ", which the chart requires", Lacking: true}}
	case *kind.PropertyNames:
		return []Violation{{Message: refusedKey(k.Property, e), told: true}}
	case *kind.AnyOf, *kind.OneOf:
		if len(e.Causes) > 0 {
			return []Violation{alternatives(path, e, instance)}
		}
	}
	if len(e.Causes) == 0 {
		message, told := phrase(e.ErrorKind, path, instance)
		return []Violation{{Path: path, Message: message, told: told}}
	}
	var all []Violation
	for _, cause := range e.Causes {
		all = append(all, violations(cause, instance)...)
	}
	return all
}

// phrase is the validator's text, without the address under which the schema was compiled, and whether it tells the value. A
// text's value is left to shown.
func phrase(k jsonschema.ErrorKind, path plan.Path, instance any) (text string, told bool) {
	switch k := k.(type) {
	case *kind.Pattern:
		return "does not match the pattern " + k.Want, false
	case *kind.Format:
		return "is not of the format " + k.Want, false
	case *kind.Minimum, *kind.Maximum, *kind.ExclusiveMinimum, *kind.ExclusiveMaximum, *kind.MultipleOf:
		told = true
	}
	text = strings.ReplaceAll(k.LocalizedString(english), schemaAddress, schemaFile)
	if _, isConfidential := look(path, instance); isConfidential {
		text = gotNumber.ReplaceAllString(text, "")
	}
	return quotes.ReplaceAllString(text, "\"$1\""), told
}

// gotNumber is what the validator says of a number, or of a length.
var gotNumber = regexp.MustCompile(`got [-+.e0-9,]+, `)

// quotes of the validator; everybody else here writes double ones.
var quotes = regexp.MustCompile(`'([^' ]*)'`)

func unknownKeys(path plan.Path, keys []string) []Violation {
	var all []Violation
	for _, key := range keys {
		all = append(all, Violation{
			Path: append(slices.Clone(path), plan.Step{Key: key}), Message: "is no value of the chart", Unknown: true,
		})
	}
	return all
}

// alternatives says in one what keeps a value from each of the forms that are allowed.
func alternatives(path plan.Path, e *jsonschema.ValidationError, instance any) Violation {
	var reasons []string
	lacking := true
	for _, cause := range e.Causes {
		for _, v := range violations(cause, instance) {
			lacking = lacking && v.Lacking
			reason := v.Message
			if rest := v.Path[min(len(path), len(v.Path)):]; len(rest) > 0 {
				reason = rest.String() + " " + reason
			}
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	return Violation{Path: path, Message: "has none of the forms that the chart allows: " + strings.Join(reasons, "; or: "), Lacking: lacking}
}

// refusedKey says what is wrong with a key. To the validator a key is an instance of its own, and it does not tell where that lies.
func refusedKey(key string, e *jsonschema.ValidationError) string {
	var reasons []string
	for _, cause := range e.Causes {
		for _, v := range violations(cause, nil) {
			reasons = append(reasons, v.Message)
		}
	}
	return fmt.Sprintf("has the key %q, which the chart does not allow there: it %s", key, strings.Join(reasons, "; it "))
}

// pathOf tells list elements from keys that are numbers.
func pathOf(location []string, instance any) plan.Path {
	var path plan.Path
	for _, token := range location {
		switch node := instance.(type) {
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(node) {
				return path
			}
			path = append(path, plan.Step{Index: i, IsIndex: true})
			instance = node[i]
		case map[string]any:
			path = append(path, plan.Step{Key: token})
			instance = node[token]
		default:
			return path
		}
	}
	return path
}
