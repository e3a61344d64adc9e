// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/kustomize/api/konfig"

	k8syaml "sigs.k8s.io/yaml"

	"github.com/sluice-gateway/sluice/internal/render"
)

// temporary is how the names of files begin that are not written to their end.
const temporary = ".sluice-render-"

// writeFolder makes a folder hold the files and no other that was written by an earlier run. Whoever builds it meanwhile
// finds all that its kustomization lists: that one is written after what is new, and before what is gone goes. Files of
// others stay; one that is in the way is an error before anything is written.
func writeFolder(folder string, files []render.File) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	ours, err := filesInTheWay(folder, files)
	if err != nil {
		return err
	}
	if err := replaceFiles(folder, files); err != nil {
		return err
	}
	return removeOthers(folder, ours, files)
}

// filesInTheWay are those of the folder that are ours to overwrite or remove; an error names all that are not, and should
// be overwritten.
func filesInTheWay(folder string, files []render.File) (ours []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	taken := konfig.RecognizedKustomizationFileNames()
	for _, file := range files {
		taken = append(taken, file.Name)
	}
	slices.Sort(taken)
	listed := listedBefore(folder)
	var inTheWay []error
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		mine, unread := isOurs(path, entry)
		if mine {
			ours = append(ours, entry.Name())
			continue
		}
		_, wanted := slices.BinarySearch(taken, entry.Name())
		if err := blocks(path, wanted, slices.Contains(listed, entry.Name()), unread); err != nil {
			inTheWay = append(inTheWay, err)
		}
	}
	return ours, errors.Join(inTheWay...)
}

// blocks says why a file that does not show itself as ours is in the way: its name is wanted, or an earlier run listed it, so
// that it is to be removed. Of any other it makes no difference that it cannot be read.
func blocks(path string, wanted, listed bool, unread error) error {
	const instead = "move it, or choose another --output-dir"
	switch {
	case unread != nil && wanted:
		return fmt.Errorf("%s: is opened to see whether sluice render wrote it, since its name is wanted: %w; %s", path, pathless(unread), instead)
	case unread != nil && listed:
		return fmt.Errorf("%s: is opened to see whether sluice render wrote it, since kustomization.yaml lists it: %w; %s", path, pathless(unread), instead)
	case wanted:
		return fmt.Errorf("%s: was not written by sluice render; %s", path, instead)
	}
	return nil
}

// listedBefore are the files that an earlier run's kustomization lists. One that cannot be read is in the way itself.
func listedBefore(folder string) []string {
	data, err := os.ReadFile(filepath.Join(folder, konfig.DefaultKustomizationFileName()))
	var list struct {
		Resources []string `json:"resources"`
	}
	if err != nil || !render.IsOurs(data) || k8syaml.Unmarshal(data, &list) != nil {
		return nil
	}
	return list.Resources
}

// isOurs looks for the mark of an earlier run. What is no plain file has none.
func isOurs(path string, entry fs.DirEntry) (bool, error) {
	if !entry.Type().IsRegular() {
		return false, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	beginning, err := io.ReadAll(io.LimitReader(file, int64(render.MarkerLength)))
	return render.IsOurs(beginning), err
}

// replaceFiles first writes all that is to change beside the files that are there, so that a full disk changes none.
func replaceFiles(folder string, files []render.File) error {
	var changed []string
	for _, file := range files {
		before, err := os.ReadFile(filepath.Join(folder, file.Name))
		if err == nil && bytes.Equal(before, file.Data) {
			continue
		}
		changed = append(changed, file.Name)
		if err := writeNew(filepath.Join(folder, temporary+file.Name), file.Data); err != nil {
			return errors.Join(err, removeAll(folder, temporary, changed))
		}
	}
	for _, name := range changed {
		if err := os.Rename(filepath.Join(folder, temporary+name), filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	return nil
}

// writeNew writes a file that is not there, or is left of a run that was killed.
func writeNew(path string, data []byte) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// removeOthers removes what earlier runs wrote and this one did not.
func removeOthers(folder string, ours []string, files []render.File) error {
	written := map[string]bool{}
	for _, file := range files {
		written[file.Name] = true
	}
	gone := slices.DeleteFunc(ours, func(name string) bool { return written[name] })
	return removeAll(folder, "", gone)
}

func removeAll(folder, prefix string, names []string) error {
	var failed []error
	for _, name := range names {
		if err := os.Remove(filepath.Join(folder, prefix+name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}
