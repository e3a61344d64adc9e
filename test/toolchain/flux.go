// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"context"
	"os"
	"path/filepath"
)

const fluxModule = "github.com/fluxcd/flux2/v2"

// buildFlux builds the flux command from a copy of its module. The command embeds manifests/*.yaml, which Flux's release
// process generates and the module lacks; any one file satisfies the compiler, and only `flux install` and `flux bootstrap`
// would read it. A build overlay is no way out: go refuses one for files of the module cache.
func buildFlux(ctx context.Context, run runner) error {
	cached, err := run.moduleDir(ctx, fluxModule)
	if err != nil {
		return err
	}
	work := run.layout.source(run.tool.name)
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	if err := copyModule(cached, filepath.Join(work, "flux2")); err != nil {
		return err
	}
	manifest := filepath.Join(work, "flux2", "cmd", "flux", "manifests", "none.yaml")
	if err := writeFile(manifest, []byte("# This build cannot install Flux.\n")); err != nil {
		return err
	}
	// The pinned module file moves along, and takes Flux itself from the copy: all else stays as pinned.
	for _, end := range []string{".mod", ".sum"} {
		text, err := os.ReadFile(filepath.Join(run.layout.moduleFiles(), run.tool.family+end))
		if err != nil {
			return err
		}
		if err := writeFile(filepath.Join(work, "go"+end), text); err != nil {
			return err
		}
	}
	if _, err := run.goCommand(ctx, work, "mod", "edit", "-replace="+fluxModule+"=./flux2"); err != nil {
		return err
	}
	return run.goBuild(ctx, work)
}

// copyModule copies a module out of the read-only module cache; the copy is writable.
func copyModule(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return writeFile(filepath.Join(to, name), text)
	})
}
