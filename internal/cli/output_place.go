// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// apartFrom refuses an output folder that is mixed up with a folder that is read: what is written would be read by the next
// run, and what people wrote would lie among what is generated. Files that are named themselves may lie anywhere.
func apartFrom(read []string, output string) error {
	out, err := futurePath(output)
	if err != nil {
		return err
	}
	for _, path := range directories(read) {
		in, err := realPath(path)
		switch {
		case err != nil:
			return err
		case out == in:
			return fmt.Errorf("--output-dir %s: is the folder that -f %s reads; name a folder apart from it", output, path)
		case liesIn(out, in):
			return fmt.Errorf("--output-dir %s: lies in the folder that -f %s reads; name a folder apart from it", output, path)
		case liesIn(in, out):
			return fmt.Errorf("--output-dir %s: holds the folder that -f %s reads; name a folder apart from it", output, path)
		}
	}
	return nil
}

// directories are those among the paths, and those that globs match.
func directories(paths []string) []string {
	var all []string
	for _, path := range paths {
		matches := []string{path}
		if _, err := os.Stat(path); err != nil {
			matches, _ = filepath.Glob(path) // what is wrong with a pattern is told when it is read
		}
		for _, match := range matches {
			if info, err := os.Stat(match); err == nil && info.IsDir() {
				all = append(all, filepath.Clean(match))
			}
		}
	}
	return all
}

// futurePath is the absolute path without links of a folder that may not be there yet.
func futurePath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil || !os.IsNotExist(err) || filepath.Dir(path) == path {
		return real, err
	}
	parent, err := futurePath(filepath.Dir(path))
	return filepath.Join(parent, filepath.Base(path)), err
}

func liesIn(path, folder string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}
