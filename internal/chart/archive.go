// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Limits of what is read, so that a hostile archive costs little. The first two are Helm's own.
const (
	maxFile     = 5 << 20
	maxUnpacked = 100 << 20
	maxEntries  = 20_000
	maxNesting  = 5
)

// reader counts over a chart and all that is packed within it.
type reader struct {
	left, entries, nesting int64
}

func newReader() *reader {
	return &reader{left: maxUnpacked, entries: maxEntries}
}

// FromArchive reads a chart from a .tgz as Helm packs it: one folder that holds the chart's files.
func FromArchive(in io.Reader) (*Chart, error) {
	return newReader().archive(in)
}

func (r *reader) archive(in io.Reader) (*Chart, error) {
	r.nesting++
	defer func() { r.nesting-- }()
	if r.nesting > maxNesting {
		return nil, fmt.Errorf("holds archives within archives, more than %d deep", maxNesting)
	}
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("is no .tgz: %w", err)
	}
	// One byte more than is allowed tells what ends at the limit from what goes on.
	counted := &io.LimitedReader{R: unzipped, N: r.left + 1}
	files, err := r.unpack(tar.NewReader(counted))
	if counted.N <= 0 {
		return nil, fmt.Errorf("unpacks to more than %d MiB", maxUnpacked>>20)
	}
	if err != nil {
		return nil, err
	}
	r.left = counted.N - 1
	return r.chart(files)
}

// unpack reads the wanted files of the archive's one folder.
func (r *reader) unpack(archive *tar.Reader) (map[string][]byte, error) {
	files := map[string][]byte{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("is no .tgz: %w", err)
		}
		if r.entries--; r.entries < 0 {
			return nil, fmt.Errorf("holds more than %d files", maxEntries)
		}
		file, err := withinFolder(header.Name)
		if err != nil {
			return nil, err
		}
		if header.Typeflag != tar.TypeReg || !Wanted(file) {
			continue
		}
		if files[file], err = readEntry(archive, header); err != nil {
			return nil, err
		}
	}
}

// withinFolder is the path below the archive's folder.
func withinFolder(name string) (string, error) {
	name = strings.ReplaceAll(name, "\\", "/")
	cleaned := path.Clean(name)
	if path.IsAbs(cleaned) || cleaned == ".." || strings.HasPrefix(cleaned, "../") {
		return "", fmt.Errorf("holds %q, which leads out of the chart", name)
	}
	_, file, _ := strings.Cut(cleaned, "/")
	return file, nil
}

func readEntry(archive *tar.Reader, header *tar.Header) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(archive, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("is no .tgz: %w", err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: is larger than %d MiB", header.Name, maxFile>>20)
	}
	return data, nil
}
