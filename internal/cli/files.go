// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"github.com/sluice-gateway/sluice/internal/render"
)

const stdin = "-"

// inputs are what -f and -k name.
type inputs struct {
	paths   []string
	folders []string
}

func (i *inputs) add(f *pflag.FlagSet) {
	f.VarP((*givenList)(&i.paths), "filename", "f", "file, directory or quoted glob to read, - for stdin; may be repeated")
	f.VarP((*givenList)(&i.folders), "kustomize", "k", "folder of a kustomization to build and read; may be repeated")
}

// readSet reads everything that the flags name, each file once. Every file that cannot be read is an error of its own.
func readSet(streams Streams, in inputs) (*render.Set, error) {
	if len(in.paths)+len(in.folders) == 0 {
		return nil, errors.New("render: -f is missing: name a file, a directory, or - for stdin; or name a kustomization's folder with -k")
	}
	set := &render.Set{}
	failed := addFiles(set, streams.In, in.paths)
	for _, folder := range in.folders {
		if err := addKustomization(set, folder); err != nil {
			failed = append(failed, err)
		}
	}
	for _, err := range failed {
		fmt.Fprintln(streams.Err, fileError(err))
	}
	if len(failed) > 0 {
		return nil, errReported
	}
	return set, nil
}

// addFiles reads the files that the paths stand for into the set.
func addFiles(set *render.Set, in io.Reader, paths []string) (failed []error) {
	found := expand(paths)
	failed = found.failed
	for _, file := range found.files {
		data, err := readFile(in, file)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		set.Add(displayName(file), data)
	}
	for _, directory := range found.unread {
		set.Note(directory.path, directory.why)
	}
	return failed
}

func readFile(in io.Reader, file string) ([]byte, error) {
	if file == stdin {
		return io.ReadAll(in)
	}
	return os.ReadFile(file)
}

func displayName(file string) string {
	if file == stdin {
		return "stdin"
	}
	return file
}

// fileError is file: what is wrong, without the name of the system call.
func fileError(err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Path + ": " + at.Err.Error()
	}
	return err.Error()
}
