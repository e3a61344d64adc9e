// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// extensions of the files that are read of a directory. A file that is named itself is read whatever its name.
var extensions = []string{".yaml", ".yml", ".json"}

// expand replaces globs by what they match and directories by their files, in lexical order. What has two names, by links
// or otherwise, is taken once, under its first.
func expand(paths []string) *collector {
	c := &collector{seen: map[string]bool{}}
	for _, path := range paths {
		c.add(path)
	}
	return c
}

type collector struct {
	// seen files and directories, by their absolute paths without links.
	seen   map[string]bool
	files  []string
	failed []error
	// unread are the directories that were named, and have no file that is read.
	unread []unreadDirectory
	// inputs counts the files of directories that are read, also those that were taken before.
	inputs int
	// others are files of the present directory that are not read.
	others []string
}

type unreadDirectory struct{ path, why string }

// add takes what is on the command line: a file that is there, or else a glob.
func (c *collector) add(path string) {
	if path == stdin {
		c.file(stdin, stdin)
		return
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		c.named(filepath.Clean(path))
	case err == nil:
		c.path(filepath.Clean(path))
	case os.IsNotExist(err) && strings.ContainsAny(path, "*?["):
		c.glob(path)
	default:
		c.failed = append(c.failed, err)
	}
}

// maxOthers is how many files that are not read are told of.
const maxOthers = 3

// named takes a directory that is on the command line, where a file with a name like web.YAML may be thought to be read.
func (c *collector) named(path string) {
	inputs, failed := c.inputs, len(c.failed)
	c.others = nil
	c.path(path)
	if c.inputs > inputs || len(c.failed) > failed {
		return
	}
	why := "no file of it is read: of a directory only *.yaml, *.yml and *.json are"
	switch others := len(c.others); {
	case others > maxOthers:
		why += fmt.Sprintf(", and it has %s and %d more", strings.Join(c.others[:maxOthers], ", "), others-maxOthers)
	case others > 0:
		why += ", and it has " + strings.Join(c.others, ", ")
	}
	c.unread = append(c.unread, unreadDirectory{path, why})
}

// glob takes what a pattern matches. Two asterisks would match as one does, and thus one level of folders alone.
func (c *collector) glob(pattern string) {
	if strings.Contains(pattern, "**") {
		c.fail("%s: ** is not understood; name the directory, which is read with all below it", pattern)
		return
	}
	matches, err := filepath.Glob(pattern)
	switch {
	case err != nil:
		c.fail("%s: %w", pattern, err)
	case len(matches) == 0:
		c.fail("%s: no file matches", pattern)
	}
	for _, match := range matches {
		c.path(match)
	}
}

// path takes a file, or all files of a directory.
func (c *collector) path(path string) {
	info, err := os.Stat(path)
	if err != nil {
		c.failed = append(c.failed, err)
		return
	}
	real, err := realPath(path)
	switch {
	case err != nil && !info.IsDir(): // a pipe that a shell gave a name
		c.file(path, path)
	case err != nil:
		c.failed = append(c.failed, err)
	case info.IsDir():
		c.directory(path, real)
	default:
		c.file(path, real)
	}
}

func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

func (c *collector) file(path, real string) {
	if !c.seen[real] {
		c.seen[real] = true
		c.files = append(c.files, path)
	}
}

// directory takes the files of a directory and of all below it. Links to directories are followed; that each directory is
// read once ends every cycle. The files of git itself are no input.
func (c *collector) directory(path, real string) {
	if c.seen[real] {
		c.inputs++
		return
	}
	c.seen[real] = true
	entries, err := os.ReadDir(path)
	if err != nil {
		c.failed = append(c.failed, err)
	}
	for _, entry := range entries {
		name := entry.Name()
		switch within := filepath.Join(path, name); {
		case name == ".git":
		case entry.Type()&fs.ModeSymlink != 0:
			c.link(within)
		case entry.IsDir():
			c.directory(within, filepath.Join(real, name))
		case isInput(name):
			c.input(within, filepath.Join(real, name), entry.Type())
		default:
			c.others = append(c.others, name)
		}
	}
}

// link takes what a link in a directory leads to. Whether one that leads nowhere was meant for a directory or a file
// nobody can tell, so it is an error.
func (c *collector) link(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		c.failed = append(c.failed, err)
	case info.IsDir():
		c.path(path)
	case isInput(path):
		real, err := realPath(path)
		if err != nil {
			c.failed = append(c.failed, err)
			return
		}
		c.input(path, real, info.Mode().Type())
	}
}

// input takes a file of a directory. Of a pipe, nobody knows whether it ever ends: it is read where it is named itself.
func (c *collector) input(path, real string, kind fs.FileMode) {
	c.inputs++
	if !kind.IsRegular() {
		c.fail("%s: is a pipe, a socket or a device, which are not read of a directory", path)
		return
	}
	c.file(path, real)
}

func isInput(name string) bool {
	return slices.Contains(extensions, filepath.Ext(name))
}

func (c *collector) fail(format string, args ...any) {
	c.failed = append(c.failed, fmt.Errorf(format, args...))
}
