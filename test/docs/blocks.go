// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

// Package docs reads the commands that README.md and its like show, so that tests can run them: those that need no
// cluster here, the others in test/flux and test/apiserver. A command that no test runs must be listed, with the reason.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// block of code in a document: fenced, or indented by four.
type block struct {
	file string // from the root, with slashes
	line int    // of its first line
	// language that a fence names; empty for an indented block, and for a fence that names none.
	language string
	fenced   bool
	lines    []string
}

// folders that hold documents, beside the root. Those of docs are generated: their examples are those of the help texts, which name
// files that people have.
var folders = []string{"charts", "examples", "flux"}

// markdown are the paths of all of them, from the root.
func markdown(root string) ([]string, error) {
	found := []string{"README.md"}
	for _, folder := range folders {
		err := fs.WalkDir(os.DirFS(root), folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// blocks of all documents.
func blocks(root string) ([]block, error) {
	files, err := markdown(root)
	if err != nil {
		return nil, err
	}
	var all []block
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		all = append(all, blocksOf(file, string(text))...)
	}
	return all, nil
}

var fence = regexp.MustCompile("^ {0,3}```+ *([a-z]*)$")

// blocksOf reads Markdown as far as these documents use it.
func blocksOf(file, text string) []block {
	var all []block
	var open *block
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		marks := fence.FindStringSubmatch(line)
		indented := strings.HasPrefix(line, "    ")
		switch {
		case open != nil && open.fenced && marks != nil:
			all, open = append(all, *open), nil
		case open != nil && open.fenced:
			open.lines = append(open.lines, line)
		case marks != nil:
			open = &block{file: file, line: i + 2, language: marks[1], fenced: true}
		case open != nil && (indented || line == ""):
			open.lines = append(open.lines, strings.TrimPrefix(line, "    "))
		case open != nil:
			all, open = append(all, open.trimmed()), nil
		case indented && i > 0 && lines[i-1] == "":
			open = &block{file: file, line: i + 1, lines: []string{line[4:]}}
		}
	}
	if open != nil {
		all = append(all, open.trimmed())
	}
	return all
}

// trimmed is the block without empty lines at its end.
func (b block) trimmed() block {
	for len(b.lines) > 0 && b.lines[len(b.lines)-1] == "" {
		b.lines = slices.Delete(b.lines, len(b.lines)-1, len(b.lines))
	}
	return b
}

var key = regexp.MustCompile(`^[A-Za-z]+:`)

// kind is the block's language, guessed where it names none: YAML begins with a key, and what is indented is for a shell.
func (b block) kind() string {
	switch {
	case b.language != "":
		return b.language
	case b.fenced:
		return "text"
	case key.MatchString(b.lines[0]):
		return "yaml"
	}
	return "sh"
}
