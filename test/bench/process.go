// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-gateway/sluice/test/monitoring"
	"github.com/sluice-gateway/sluice/test/operator"
)

// ticksPerSecond is the unit of CPU times in /proc on Linux.
const ticksPerSecond = 100

// cpuSeconds is what a process has used so far.
func cpuSeconds(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The second field, in parentheses, may hold spaces. utime and stime are the 14th and 15th.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var ticks float64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return ticks / ticksPerSecond, nil
}

// residentMB is the memory of a process.
func residentMB(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmRSS:" {
			kb, err := strconv.ParseFloat(fields[1], 64)
			return kb / 1000, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no VmRSS", pid)
}

// used is the CPU that the operator has used since its start, in seconds.
func (s *stage) used() (float64, error) {
	pid, err := s.pid()
	if err != nil {
		return 0, err
	}
	return cpuSeconds(pid)
}

func (s *stage) pid() (int, error) {
	status, err := s.cluster.Process(operator.ProcessName).Status()
	return status.PID, err
}

// scrape reads the operator's metrics.
func (s *stage) scrape(ctx context.Context) (monitoring.Metrics, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.metrics+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return monitoring.Parse(answer.Body)
}

// sum of all series of a metric that have the labels.
func sum(m monitoring.Metrics, name string, labels map[string]string) float64 {
	total := 0.0
	for _, series := range m[name] {
		matches := true
		for label, value := range labels {
			matches = matches && series.Labels[label] == value
		}
		if matches {
			total += series.Value
		}
	}
	return total
}

// A process is quiet when it has used next to no CPU for a moment. The operator's metrics would tell more of it, but with a
// dozen series a gateway to ask for them again and again is a load of its own.
const (
	stillFor = time.Second
	window   = 200 * time.Millisecond
	idle     = 0.02 // seconds of CPU in a window
)

// quiet returns once the operator is, and since when it has been.
func (s *stage) quiet(ctx context.Context) (time.Time, error) {
	return s.still(ctx, operator.ProcessName)
}

// still returns once a process is quiet, and since when it has been.
func (s *stage) still(ctx context.Context, process string) (time.Time, error) {
	status, err := s.cluster.Process(process).Status()
	if err != nil {
		return time.Time{}, err
	}
	before, err := cpuSeconds(status.PID)
	since := time.Now()
	for begin := since; err == nil && time.Since(since) < stillFor; {
		select {
		case <-ctx.Done():
			return since, ctx.Err()
		case <-time.After(window):
		}
		var used float64
		if used, err = cpuSeconds(status.PID); used-before > idle {
			since = time.Now()
		}
		before = used
		if time.Since(begin) > patience {
			return since, fmt.Errorf("%s has not been quiet for %s", process, patience)
		}
	}
	return since, err
}

// pause lets pass what one measurement has caused, which takes milliseconds, before the next.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(50 * time.Millisecond):
		return nil
	}
}
