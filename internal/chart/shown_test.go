// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/chart"
)

// The value is told, but for what may be confidential.
func TestWhatIsToldOfValuesThatTheSchemaRefuses(t *testing.T) {
	const numbers = `{"type": "integer"}`
	for what, c := range map[string]struct{ schema, given, want string }{
		"a text":                      {numbers, `{"a": "x <y>"}`, `a: got string, want integer; it is "x <y>"`},
		"a boolean":                   {numbers, `{"a": true}`, "a: got boolean, want integer; it is true"},
		"a large integer":             {`{"type": "string"}`, `{"a": 9007199254740993}`, "a: got number, want string; it is 9007199254740993"},
		"a null":                      {`{"type": "array", "items": {"type": "integer"}}`, `{"a": [null]}`, "a[0]: got null, want integer"},
		"a map":                       {numbers, `{"a": {"b": 1}}`, "a: got object, want integer"},
		"a long text":                 {numbers, `{"a": "` + strings.Repeat("é ", 100) + `"}`, `a: got string, want integer; it is "` + strings.Repeat("é ", 29) + "é…"},
		"an element":                  {`{"type": "array", "items": ` + numbers + `}`, `{"a": [1, "b"]}`, `a[1]: got string, want integer; it is "b"`},
		"one of several":              {`{"enum": ["x", "y"]}`, `{"a": "z"}`, `a: value must be one of "x", "y"; it is "z"`},
		"a pattern":                   {`{"pattern": "^b'+$"}`, `{"a": "x"}`, `a: does not match the pattern ^b'+$; it is "x"`},
		"a length":                    {`{"minLength": 3}`, `{"a": "x"}`, `a: minLength: got 1, want 3; it is "x"`},
		"a number out of range":       {`{"minimum": 3}`, `{"a": 2}`, "a: minimum: got 2, want 3"},
		"a password":                  {numbers, `{"adminPassword": "x"}`, "adminPassword: got string, want integer"},
		"a pattern of a password":     {`{"pattern": "^b$"}`, `{"adminPassword": "x"}`, "adminPassword: does not match the pattern ^b$"},
		"a length of a password":      {`{"minLength": 3}`, `{"adminPassword": "x"}`, "adminPassword: minLength: want 3"},
		"a number that is a token":    {`{"minimum": 3}`, `{"token": 2}`, "token: minimum: want 3"},
		"what lies within a secret":   {`{"type": "object", "additionalProperties": ` + numbers + `}`, `{"secrets": {"b": "x"}}`, "secrets.b: got string, want integer"},
		"a variable for a password":   {`{"type": "array", "items": {"properties": {"value": ` + numbers + `}}}`, `{"env": [{"name": "DB_PASSWORD", "value": "x"}]}`, "env[0].value: got string, want integer"},
		"a variable for something":    {`{"type": "array", "items": {"properties": {"value": ` + numbers + `}}}`, `{"env": [{"name": "DB_NAME", "value": "x"}]}`, `env[0].value: got string, want integer; it is "x"`},
		"a number that is one":        {`{"type": "array", "items": {"properties": {"value": {"minimum": 3}}}}`, `{"env": [{"name": "DB_PASSWORD", "value": 2}]}`, "env[0].value: minimum: want 3"},
		"the name of a key":           {`{"propertyNames": {"pattern": "^b"}}`, `{"a": {"x": 1}}`, `: has the key "x", which the chart does not allow there: it does not match the pattern ^b`},
		"a pass":                      {numbers, `{"pass": "x"}`, "pass: got string, want integer"},
		"a variable PWD":              {numbers, `{"DB_PWD": "x"}`, "DB_PWD: got string, want integer"},
		"a PIN":                       {`{"maximum": 10}`, `{"pinCode": 4711}`, "pinCode: maximum: want 10"},
		"a key with more to its name": {numbers, `{"accessKeyId": "x"}`, "accessKeyId: got string, want integer"},
		"a webhook":                   {numbers, `{"slackWebhookUrl": "https://hooks.example.com/T0/B0/x"}`, "slackWebhookUrl: got string, want integer"},
		"an argument after the flag of a password": {`{"type": "array", "items": ` + numbers + `}`, `{"args": ["--password", "x"]}`,
			`args[0]: got string, want integer; it is "--password"` + "\nargs[1]: got string, want integer"},
		"an address with a token":      {numbers, `{"a": "https://x@git.example.com"}`, "a: got string, want integer"},
		"an address with a signature":  {numbers, `{"a": "https://example.com/x?sig=y"}`, "a: got string, want integer"},
		"a connection with a password": {numbers, `{"a": "Server=x;Pwd=y"}`, "a: got string, want integer"},
		"a token of a known service":   {numbers, `{"a": "glpat-x"}`, "a: got string, want integer"},
		"an address with a password":   {numbers, `{"a": "postgres://me:x@db.example.com"}`, "a: got string, want integer"},
		"an argument with a password":  {numbers, `{"a": "--db-password=x"}`, "a: got string, want integer"},
		"a PEM block":                  {numbers, `{"a": "-----BEGIN RSA PRIVATE KEY-----\nx"}`, "a: got string, want integer"},
		"a JSON web token":             {numbers, `{"a": "eyJhbGciOiJI.e30.x"}`, "a: got string, want integer"},
		"a long word without meaning":  {numbers, `{"a": "` + strings.Repeat("0aZ/", 8) + `"}`, "a: got string, want integer"},
		"an image with a digest":       {numbers, `{"a": "gw@sha256:` + strings.Repeat("0a", 4) + `"}`, `a: got string, want integer; it is "gw@sha256:0a0a0a0a"`},
	} {
		t.Run(what, func(t *testing.T) {
			given, err := chart.Decode([]byte(c.given))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range read(t, map[string]string{"values.schema.json": `{"additionalProperties": ` + c.schema + `}`}).Validate(given) {
				got = append(got, v.Path.String()+": "+v.Message)
			}
			if text := strings.Join(got, "\n"); text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}
