// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// sarifShape is what SARIF 2.1.0 asks of the parts that are written. Unlike SARIF it refuses other properties, so that none is
// misspelt.
const sarifShape = `{
  "type": "object", "additionalProperties": false, "required": ["$schema", "version", "runs"],
  "properties": {
    "$schema": {"type": "string", "format": "uri"},
    "version": {"const": "2.1.0"},
    "runs": {"type": "array", "minItems": 1, "items": {
      "type": "object", "additionalProperties": false, "required": ["tool", "results"],
      "properties": {
        "tool": {"type": "object", "additionalProperties": false, "required": ["driver"], "properties": {"driver": {
          "type": "object", "additionalProperties": false, "required": ["name", "rules"],
          "properties": {
            "name": {"type": "string", "minLength": 1}, "version": {"type": "string"},
            "informationUri": {"type": "string", "format": "uri"},
            "rules": {"type": "array", "uniqueItems": true, "items": {
              "type": "object", "additionalProperties": false, "required": ["id"],
              "properties": {"id": {"type": "string"}, "shortDescription": {"$ref": "#/definitions/message"}}
            }}
          }
        }}},
        "results": {"type": "array", "items": {
          "type": "object", "additionalProperties": false, "required": ["message", "ruleId", "ruleIndex", "level"],
          "properties": {
            "ruleId": {"type": "string"}, "ruleIndex": {"type": "integer", "minimum": 0},
            "level": {"enum": ["none", "note", "warning", "error"]},
            "message": {"$ref": "#/definitions/message"},
            "locations": {"type": "array", "items": {
              "type": "object", "additionalProperties": false,
              "properties": {
                "physicalLocation": {
                  "type": "object", "additionalProperties": false, "required": ["artifactLocation"],
                  "properties": {
                    "artifactLocation": {"type": "object", "additionalProperties": false, "properties": {"uri": {"type": "string", "format": "uri-reference"}}},
                    "region": {"type": "object", "additionalProperties": false, "properties": {"startLine": {"type": "integer", "minimum": 1}}}
                  }
                },
                "logicalLocations": {"type": "array", "uniqueItems": true, "items": {
                  "type": "object", "additionalProperties": false,
                  "properties": {"name": {"type": "string"}, "fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}}
                }}
              }
            }}
          }
        }}
      }
    }}
  },
  "definitions": {"message": {"type": "object", "additionalProperties": false, "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}}
}`

func TestFindingsAreSARIF(t *testing.T) {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(sarifShape))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("sarif.json", document); err != nil {
		t.Fatal(err)
	}
	shape := compiler.MustCompile("sarif.json")
	for _, test := range []string{"lint-refused", "lint-values", "lint-against-folder", "lint-no-gateway", "lint-other-controller", "lint-clean"} {
		t.Run(test, func(t *testing.T) {
			c := readCase(t, "testdata/"+test+".txt")
			c.head = strings.Replace(c.head, "sluice lint", "sluice lint -o sarif", 1)
			c.run(t)
			out, err := jsonschema.UnmarshalJSON(strings.NewReader(c.section("stdout")))
			if err != nil {
				t.Fatal(err)
			}
			if err := shape.Validate(out); err != nil {
				t.Errorf("%v\nin %s", err, c.section("stdout"))
			}
			checkRules(t, c.section("stdout"))
		})
	}
}

// checkRules holds each result's index against the rule that it is of.
func checkRules(t *testing.T, text string) {
	t.Helper()
	type rule struct{ ID string }
	var log struct {
		Runs []struct {
			Tool    struct{ Driver struct{ Rules []rule } }
			Results []struct {
				RuleID    string
				RuleIndex int
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err)
	}
	for _, result := range log.Runs[0].Results {
		if got := log.Runs[0].Tool.Driver.Rules[result.RuleIndex].ID; got != result.RuleID {
			t.Errorf("result of rule %s points at rule %s", result.RuleID, got)
		}
	}
}

func (c *testCase) section(name string) string {
	for _, s := range c.sections {
		if s.name == name {
			return s.text
		}
	}
	return ""
}
