// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package suite is what the suites have in common that start a cluster for all of their tests.
package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// Main runs the tests of the suite test/<name> between setUp and tearDown, and ends the process. The directory, with the logs in
// it, is removed unless something failed; the context ends after the last test. tearDown is called also if setUp has failed.
func Main(m *testing.M, name string, setUp func(ctx context.Context, dir string) error, tearDown func() error) {
	code, err := run(m, name, setUp, tearDown)
	if err != nil {
		fmt.Fprintf(os.Stderr, "test/%s: %v\n", name, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(m *testing.M, name string, setUp func(context.Context, string) error, tearDown func() error) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir, err := os.MkdirTemp("", "sluice-"+name+"-")
	if err != nil {
		return 1, err
	}
	code := 1
	if err = setUp(ctx, dir); err == nil {
		code = m.Run()
	}
	err = errors.Join(err, tearDown())
	if code != 0 || err != nil {
		return code, errors.Join(err, fmt.Errorf("logs are in %s", filepath.Join(dir, "logs")))
	}
	return code, os.RemoveAll(dir)
}

// Number is that of an environment variable, or another where it is not set.
func Number(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}
