// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/sluice-gateway/sluice/internal/story"
)

func TestWatchesPrintWhatChanges(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "watched")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "web.yaml": gateway("web")})
	m.gateways.await(t, release, "web", "ready", isReady(1))
	equal(m, "colours on a terminal", m.isColoured("TERM=xterm"), true)
	equal(m, "colours with NO_COLOR", m.isColoured("TERM=xterm", "NO_COLOR=1"), false)
	equal(m, "colours elsewhere", strings.Contains(m.ran(0, "tree", "web"), "\x1b"), false)
	list, stories := m.started("get", "--watch"), m.started("tree", "web", "--watch", "--output", "json")
	list.await("  Ready  ")
	stories.await(`"phase":"Ready"`)

	m.commit("Suspend it, with another message", files{"web.yaml": gateway("web", "suspend: true", "values: {message: two}")})
	list.await("  Suspended  ")
	var told story.Story
	if err := json.Unmarshal([]byte(stories.await(`"phase":"Suspended"`)), &told); err != nil {
		t.Fatal(err)
	}
	equal(m, "verdict", told.Verdict.Message, "the HelmRelease is suspended, and Flux has not confirmed that the desired state runs: set spec.suspend to false to go on")
}

// isColoured tells whether `sluice tree` on a terminal, with this environment, prints marks of colour.
func (m *team) isColoured(environment ...string) bool {
	m.Helper()
	command := exec.CommandContext(m.Context(), sluice, "tree", "web", "--namespace", m.name)
	command.Env = append([]string{"KUBECONFIG=" + local.Kubeconfig()}, environment...)
	terminal, err := pty.Start(command)
	if err != nil {
		m.Fatal(err)
	}
	defer terminal.Close()
	out, _ := io.ReadAll(terminal) // it ends with an error once nobody writes any more
	if err := command.Wait(); err != nil || !strings.Contains(string(out), "APIGateway watched/web") {
		m.Fatalf("%v\n%s", err, out)
	}
	return strings.Contains(string(out), "\x1b")
}

// printing is a command line that goes on, and the lines that it has printed.
type printing struct {
	*team
	lines chan string
}

func (m *team) started(args ...string) *printing {
	m.Helper()
	command := exec.CommandContext(m.Context(), sluice, append(args, "--namespace", m.name)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+local.Kubeconfig())
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		m.Fatal(err)
	}
	r := &printing{team: m, lines: make(chan string, 1000)}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			r.lines <- gaps.ReplaceAllString(lines.Text(), "  ")
		}
		close(r.lines)
		_ = command.Wait() // it ends with the test
	}()
	return r
}

// await returns the next line that holds a text.
func (r *printing) await(text string) string {
	r.Helper()
	timeout := time.After(soon)
	last := ""
	for {
		select {
		case line, more := <-r.lines:
			if !more {
				r.Fatalf("it ended before it printed %q; last: %s", text, last)
			}
			if last = line; strings.Contains(line, text) {
				return line
			}
		case <-timeout:
			r.Fatalf("it did not print %q within %s; last: %s", text, soon, last)
		}
	}
}
