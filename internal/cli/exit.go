// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "errors"

// exitError ends a command with an exit code other than 1.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string { return e.err.Error() }

func (e exitError) Unwrap() error { return e.err }

// exitCode of a command that ended in an error.
func exitCode(err error) int {
	if e, ok := errors.AsType[exitError](err); ok {
		return e.code
	}
	return 1
}
