// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sluice-gateway/sluice/internal/render"
)

const stdin = "-"

// extensions of the files that are read of a directory. A file that is named itself is read whatever its name.
var extensions = []string{".yaml", ".yml", ".json"}

// readSet reads everything that -f names, each file once. Every file that cannot be read is an error of its own.
func readSet(streams Streams, paths []string) (*render.Set, error) {
	if len(paths) == 0 {
		return nil, errors.New("render: -f is missing: name a file, a directory, or - for stdin")
	}
	files, failed := expand(paths)
	set := &render.Set{}
	for _, file := range files {
		data, err := readFile(streams.In, file)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		set.Add(displayName(file), data)
	}
	for _, err := range failed {
		fmt.Fprintln(streams.Err, fileError(err))
	}
	if len(failed) > 0 {
		return nil, errReported
	}
	return set, nil
}

// expand replaces directories by their files and leaves out what was named before.
func expand(paths []string) (files []string, failed []error) {
	seen := map[string]bool{}
	for _, path := range paths {
		found, err := walk(path)
		if err != nil {
			failed = append(failed, err)
		}
		for _, file := range found {
			if !seen[file] {
				seen[file] = true
				files = append(files, file)
			}
		}
	}
	return files, failed
}

// walk lists a directory's files in lexical order; a file is its own list. The files of git itself are no input.
func walk(path string) ([]string, error) {
	if path == stdin {
		return []string{stdin}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	path = filepath.Clean(path)
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	// With the separator a link to a directory is read as the directory.
	err = filepath.WalkDir(path+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".git":
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains(extensions, filepath.Ext(file)):
			files = append(files, file)
		}
		return nil
	})
	return files, err
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
