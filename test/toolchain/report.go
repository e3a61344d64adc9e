// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package toolchain

import (
	"fmt"
	"io"
	"os"
	"time"
)

// report shows a person how far the build has come. On a terminal a line counts its seconds; elsewhere a tool that takes long
// gives a sign of life now and then.
type report struct {
	out      io.Writer
	count    int
	width    int
	number   int
	built    int
	start    time.Time
	terminal bool
}

func newReport(out io.Writer, chosen []tool) *report {
	r := &report{out: out, count: len(chosen), start: time.Now(), terminal: isTerminal(out)}
	for _, t := range chosen {
		r.width = max(r.width, len(t.name))
	}
	return r
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// current counts a tool that needs no building. It gets no line: mostly all are current.
func (r *report) current() { r.number++ }

// building starts a tool's line; the function it returns ends it.
func (r *report) building(t tool) (stop func(error)) {
	r.number++
	start, head := time.Now(), r.head(t)
	beat := 20 * time.Second
	if r.terminal {
		beat = time.Second
		fmt.Fprintf(r.out, "%s  building …", head)
	} else {
		fmt.Fprintf(r.out, "%s  building …\n", head)
	}
	quiet := every(beat, func() { r.line(head, "building … "+seconds(start), "") })
	return func(err error) {
		quiet()
		if err != nil {
			r.line(head, "FAILED after "+seconds(start), "\n")
			return
		}
		r.built++
		r.line(head, "built in "+seconds(start), "\n")
	}
}

// every calls f at intervals until the function that it returns is called; no call of f outlasts that one.
func every(interval time.Duration, f func()) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				return
			case <-ticker.C:
				f()
			}
		}
	}()
	return func() {
		close(ended)
		<-done
	}
}

// line writes over the tool's line on a terminal, and a line of its own elsewhere.
func (r *report) line(head, text, end string) {
	if r.terminal {
		fmt.Fprintf(r.out, "\r%s  %-24s%s", head, text, end)
		return
	}
	fmt.Fprintf(r.out, "%s  %s\n", head, text)
}

func (r *report) total() {
	if r.built == 0 {
		fmt.Fprintf(r.out, "%d tools, all current\n", r.count)
		return
	}
	fmt.Fprintf(r.out, "%d tools, %d built in %s\n", r.count, r.built, seconds(r.start))
}

func (r *report) head(t tool) string {
	return fmt.Sprintf("[%*d/%d] %-*s", len(fmt.Sprint(r.count)), r.number, r.count, r.width, t.name)
}

func seconds(since time.Time) string {
	return fmt.Sprintf("%ds", int(time.Since(since).Round(time.Second).Seconds()))
}
