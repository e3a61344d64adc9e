// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

func TestPlay(t *testing.T) {
	shows := func(text string) action {
		return func(context.Context) (string, error) { return text, nil }
	}
	never := (&demo{}).until(func(context.Context) (string, error) { return "", errors.New("2 pods are not ready") })
	cases := map[string]struct {
		steps []step
		out   string // with N.N for seconds
		err   string
	}{
		"each step is a line, more that it shows stands below": {
			steps: []step{{"first", time.Minute, "", shows("")}, {"second", time.Minute, "", shows("a\nb\n")}},
			out:   "\nTitle\n    N.Ns  first\n    N.Ns  second                     a\n          b\n",
		},
		"a step that does not come says what was seen last, and none follows": {
			steps: []step{{"pods running", 50 * time.Millisecond, "", never}, {"second", time.Minute, "", shows("")}},
			out:   "\nTitle\n",
			err:   "pods running: it did not come within 50ms; seen last: 2 pods are not ready",
		},
		"an error that is no matter of time is itself": {
			steps: []step{{"commit", time.Minute, "", func(context.Context) (string, error) { return "", errors.New("no git") }}},
			out:   "\nTitle\n",
			err:   "commit: no git",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			err = play(t.Context(), newReport(out, time.Now()), []chapter{{"Title", c.steps}})
			if got := message(err); got != c.err {
				t.Errorf("error %q, want %q", got, c.err)
			}
			text, err := os.ReadFile(out.Name())
			if err != nil {
				t.Fatal(err)
			}
			if text = seconds.ReplaceAll(text, []byte("N.N")); !bytes.Equal(text, []byte(c.out)) {
				t.Errorf("printed\n%q, want\n%q", text, c.out)
			}
		})
	}
}

var seconds = regexp.MustCompile(`\d+\.\d`)

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
