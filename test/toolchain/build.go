// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Build builds those of the named tools (none: all) that are not current, one after the other, and reports progress to out.
// It stops at the first that fails. The error names the tool, the command and its log. Two calls at once, also in two
// processes, share the work: each waits for a tool that the other is building.
func (l Layout) Build(ctx context.Context, out io.Writer, names ...string) error {
	chosen, err := choose(names)
	if err != nil {
		return err
	}
	report := newReport(out, chosen)
	for _, t := range chosen {
		if err := l.bring(ctx, t, report); err != nil {
			return err
		}
	}
	report.total()
	return nil
}

// bring makes one tool current.
func (l Layout) bring(ctx context.Context, t tool, report *report) error {
	stamp, err := l.wantedStamp(t)
	if err != nil {
		return err
	}
	if l.isCurrent(t, stamp) {
		report.current()
		return nil
	}
	stop := report.building(t)
	unlock, err := lockFile(ctx, l.lock(t.name))
	if err == nil {
		defer unlock()
		if !l.isCurrent(t, stamp) { // else another process built it while we waited
			err = l.make(ctx, t, stamp)
		}
	}
	stop(err)
	return err
}

// make builds a tool, lays out its files and writes its stamp last, so that a stamp vouches for all of them.
func (l Layout) make(ctx context.Context, t tool, stamp string) error {
	log, err := createFile(l.log(t.name))
	if err != nil {
		return err
	}
	defer log.Close()
	build := t.build
	if build == nil {
		build = buildPlain
	}
	run := runner{layout: l, tool: t, log: log}
	if err := build(ctx, run); err != nil {
		return err
	}
	for _, f := range t.files {
		if err := run.layOut(ctx, f); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return writeFile(l.stamp(t.name), []byte(stamp))
}

// builder builds run.tool into its place.
type builder func(ctx context.Context, run runner) error

func buildPlain(ctx context.Context, run runner) error {
	return run.goBuild(ctx, run.layout.moduleFiles(), run.modfile())
}

// goFlags are the same for all tools but for what the linker is told, so that all share one build cache.
func goFlags(t tool) []string {
	ldflags := append([]string{"-s", "-w"}, t.ldflags...)
	return []string{"-mod=readonly", "-buildvcs=false", "-ldflags=" + strings.Join(ldflags, " ")}
}

// runner runs the go command for one tool and keeps a log of it.
type runner struct {
	layout Layout
	tool   tool
	log    *os.File
}

func (r runner) modfile() string { return "-modfile=" + r.tool.family + ".mod" }

// goBuild builds the tool in dir. The program is put into its place by renaming, since the old one may be running.
func (r runner) goBuild(ctx context.Context, dir string, flags ...string) error {
	final := r.layout.Bin(r.tool.name)
	temporary := final + ".new"
	args := append([]string{"build"}, goFlags(r.tool)...)
	args = append(append(args, flags...), "-o", temporary, r.tool.pkg)
	if _, err := r.goCommand(ctx, dir, args...); err != nil {
		return err
	}
	return os.Rename(temporary, final)
}

// moduleDir returns the folder of a module of the tool's family in the module cache.
func (r runner) moduleDir(ctx context.Context, module string) (string, error) {
	// go list alone does not fetch a module that no package has been asked of yet.
	if _, err := r.goCommand(ctx, r.layout.moduleFiles(), "mod", "download", r.modfile(), module); err != nil {
		return "", err
	}
	out, err := r.goCommand(ctx, r.layout.moduleFiles(), "list", r.modfile(), "-mod=readonly", "-m", "-f", "{{.Dir}}", module)
	return strings.TrimSpace(out), err
}

// goCommand runs go in dir, logs what it prints and returns its standard output.
func (r runner) goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	var stdout strings.Builder
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off")
	command.Stdout = io.MultiWriter(&stdout, r.log)
	command.Stderr = r.log
	// An interrupt lets go remove its temporary files.
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 10 * time.Second
	fmt.Fprintf(r.log, "$ cd %s && %s\n", dir, command)
	if err := command.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return "", fmt.Errorf("%s: `%s` in %s: %w\n%ssee %s", r.tool.name, command, dir, err, lastLines(r.log.Name()), r.log.Name())
	}
	return stdout.String(), nil
}

// layOut copies files out of the module cache.
func (r runner) layOut(ctx context.Context, f files) error {
	dir, err := r.moduleDir(ctx, f.module)
	if err != nil {
		return err
	}
	for _, glob := range f.globs {
		matches, err := filepath.Glob(filepath.Join(dir, glob))
		if err != nil {
			return err
		}
		if len(matches) == 0 {
			return fmt.Errorf("module %s has no %s", f.module, glob)
		}
		for _, from := range matches {
			text, err := os.ReadFile(from)
			if err != nil {
				return err
			}
			if err := writeFile(filepath.Join(r.layout.dir(), f.to, filepath.Base(from)), text); err != nil {
				return err
			}
		}
	}
	return nil
}

// lockFile takes an exclusive lock that ends with the process at the latest.
func lockFile(ctx context.Context, path string) (unlock func(), err error) {
	file, err := createFile(path)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond): // flock has no wait that a context could end
		}
	}
}
