// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// report prints what happens, a line a step, with the seconds since the start. On a terminal the step that runs is shown
// too, and gives way to its result.
type report struct {
	out      *os.File
	started  time.Time
	terminal bool

	mu      sync.Mutex
	running string // the step that is shown on the terminal's last line
}

func newReport(out *os.File, started time.Time) *report {
	info, err := out.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	return &report{out: out, started: started, terminal: terminal}
}

func (r *report) elapsed() time.Duration { return time.Since(r.started) }

// heading starts a chapter.
func (r *report) heading(title string) { r.print("\n" + title + "\n") }

// result is what happened and what there is to see: a line and, where that has more lines, those below it.
func (r *report) result(what, shown string) {
	first, more, _ := strings.Cut(shown, "\n")
	r.print(strings.TrimRight(fmt.Sprintf("%s  %-25s  %s", r.clock(), what, first), " ") + "\n")
	r.text(more)
}

// text prints lines, indented as far as the steps are.
func (r *report) text(text string) {
	for line := range strings.Lines(text) {
		r.print("          " + strings.TrimRight(line, "\n\t ") + "\n")
	}
}

// begin shows on a terminal that a step runs; the function it returns takes that away.
func (r *report) begin(what string) (end func()) {
	if !r.terminal {
		return func() {}
	}
	ticker, ended := time.NewTicker(500*time.Millisecond), make(chan struct{})
	r.show(what)
	go func() {
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				r.refresh()
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(ended)
		r.show("")
	}
}

func (r *report) clock() string { return fmt.Sprintf("%7.1fs", r.elapsed().Seconds()) }

func (r *report) show(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = what
	r.draw()
}

func (r *report) refresh() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draw()
}

// print writes above the step that runs.
func (r *report) print(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running != "" {
		fmt.Fprint(r.out, clearLine)
	}
	fmt.Fprint(r.out, text)
	if r.running != "" {
		r.draw()
	}
}

// draw writes the terminal's last line anew.
func (r *report) draw() {
	fmt.Fprint(r.out, clearLine)
	if r.running != "" {
		fmt.Fprintf(r.out, "%s  %s …", r.clock(), r.running)
	}
}

const clearLine = "\r\x1b[K"

// lines makes results of the lines that are written to it.
type lines struct {
	report *report
	rest   []byte
}

func (l *lines) Write(text []byte) (int, error) {
	l.rest = append(l.rest, text...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(text), nil
		}
		l.report.result(string(line), "")
		l.rest = rest
	}
}
