// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// given is the value of a flag that says something wherever it stands. An empty one, such as a pipeline passes whose variable
// is not set, would act as if the flag were not there, and nobody would notice.
type given string

// addGiven adds such a flag.
func addGiven(f *pflag.FlagSet, p *string, name, value, usage string) {
	*p = value
	f.Var((*given)(p), name, usage)
}

func (g *given) Set(text string) error {
	if text == "" {
		return errors.New("it is empty; give it a value, or leave the flag out")
	}
	*g = given(text)
	return nil
}

func (g *given) String() string { return string(*g) }

// Type is that of StringVar: help and completion make no difference.
func (g *given) Type() string { return "string" }

// givenList is a flag that may be repeated, each time with a value that says something.
type givenList []string

func (g *givenList) Set(text string) error {
	var one given
	if err := one.Set(text); err != nil {
		return err
	}
	*g = append(*g, text)
	return nil
}

func (g *givenList) String() string { return strings.Join(*g, ",") }

// Type is that of StringArrayVar, by which completion knows that the flag may be repeated.
func (g *givenList) Type() string { return "stringArray" }

// span is a time that something may take. Without any, what is waited for would have failed before it began.
type span time.Duration

func (s *span) Set(text string) error {
	read, err := time.ParseDuration(text)
	if err == nil && read <= 0 {
		err = errors.New("must be longer than 0")
	}
	*s = span(read)
	return err
}

func (s *span) String() string { return time.Duration(*s).String() }

// Type is that of DurationVar.
func (s *span) Type() string { return "duration" }
