// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"time"
)

// chapter is what happens under one heading.
type chapter struct {
	title string
	steps []step
}

// step is one thing that the demo does, or that it waits to see.
type step struct {
	name   string
	within time.Duration
	// process is the one whose log says more when the step fails.
	process string
	run     action
}

// action does something, or waits for something, and returns in a few words what there is to see then.
type action func(context.Context) (string, error)

// stepError is the step that failed, and why.
type stepError struct {
	step step
	err  error
}

func (e *stepError) Error() string { return fmt.Sprintf("%s: %v", e.step.name, e.err) }

func (e *stepError) Unwrap() error { return e.err }

// play runs the chapters up to the first step that fails; the error is a *stepError.
func play(ctx context.Context, report *report, chapters []chapter) error {
	for _, c := range chapters {
		report.heading(c.title)
		for _, s := range c.steps {
			if err := s.play(ctx, report); err != nil {
				return &stepError{step: s, err: err}
			}
		}
	}
	return nil
}

func (s step) play(ctx context.Context, report *report) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.within, fmt.Errorf("it did not come within %s", s.within))
	defer cancel()
	end := report.begin(s.name)
	shown, err := s.run(ctx)
	end()
	if err == nil {
		report.result(s.name, shown)
		return nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w; seen last: %w", context.Cause(ctx), err)
	}
	return err
}
