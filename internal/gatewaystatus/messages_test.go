// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package gatewaystatus

import "testing"

// kubectl shows the first line of a message alone, so that a message has one.
func TestMessagesHaveOneLine(t *testing.T) {
	for message, want := range map[string]string{
		"one line": "one line",
		"values don't meet the specifications of the schema(s) in the following chart(s):\ngateway:\n- (root): Additional property servicePrt is not allowed\n\n": "values don't meet the specifications of the schema(s) in the following chart(s):; gateway:; - (root): Additional property servicePrt is not allowed",
	} {
		if got := oneLine(message); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}
