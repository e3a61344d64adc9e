// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// module is Sluice's own module, by which its root folder is known.
const module = "github.com/sluice-gateway/sluice"

// Layout says where things lie in one checkout.
type Layout struct {
	root string
}

// Find returns the layout of the checkout that holds the current folder.
func Find() (Layout, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Layout{}, err
	}
	for at := dir; ; at = filepath.Dir(at) {
		text, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && bytes.Contains(text, []byte("module "+module+"\n")) {
			return Layout{root: at}, nil
		}
		if at == filepath.Dir(at) {
			return Layout{}, fmt.Errorf("%s is not inside a checkout of %s", dir, module)
		}
	}
}

// Root is the checkout's root folder.
func (l Layout) Root() string { return l.root }

// Bin is the path of a tool's program, built or not.
func (l Layout) Bin(tool string) string { return filepath.Join(l.dir(), tool) }

// CRDs is the folder of Flux's CustomResourceDefinitions, one YAML file each.
func (l Layout) CRDs() string { return filepath.Join(l.dir(), crdFolder) }

// Stages is the folder of kwok's Stages for nodes and pods, one YAML file each, as kwok's authors wrote them.
func (l Layout) Stages() string { return filepath.Join(l.dir(), stageFolder) }

// Require says which of the tools have not been built, and what to do about it. It does not look whether they are current.
func (l Layout) Require(tools ...string) error {
	for _, name := range tools {
		if _, err := os.Stat(l.Bin(name)); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s has not been built (no file %s): run `go run ./test/cmd/toolchain` first", name, l.Bin(name))
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (l Layout) dir() string             { return filepath.Join(l.root, "bin", "tools") }
func (l Layout) moduleFiles() string     { return filepath.Join(l.root, "test", "tools") }
func (l Layout) log(tool string) string  { return filepath.Join(l.dir(), "log", tool+".log") }
func (l Layout) lock(tool string) string { return filepath.Join(l.dir(), "lock", tool) }
func (l Layout) stamp(tool string) string {
	return filepath.Join(l.dir(), "stamp", tool)
}

// source is a folder for sources that a build changes, which the module cache does not allow.
func (l Layout) source(tool string) string { return filepath.Join(l.dir(), "src", tool) }
