// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A bash on a terminal completes commands, flags, and the names that the cluster knows.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	m := newTeam(t, "completed")
	m.commit("Add a gateway", files{"class.yaml": webClass(), "website.yaml": gateway("website", "infrastructure: {replicas: 0}")})
	m.gateways.await(t, release, "website", "ready", isReady(1))
	b := newBash(m)
	for typed, want := range map[string]string{
		"sluice tr":                                          "sluice tree ",
		"sluice tree --wat":                                  "sluice tree --watch ",
		"sluice tree -o y":                                   "sluice tree -o yaml ",
		"sluice tree -n completed web":                       "sluice tree -n completed website ",
		"kubectl sluice tree -n completed web":               "kubectl sluice tree -n completed website ",
		"sluice reconcile --namespace complet":               "sluice reconcile --namespace completed ",
		"kubectl-sluice resume --context " + m.context()[:2]: "kubectl-sluice resume --context " + m.context() + " ",
	} {
		equal(m, "what becomes of "+typed, b.complete(typed), want)
	}
}

// context of the administrator's kubeconfig.
func (m *team) context() string {
	m.Helper()
	out, err := local.Kubectl(m.Context(), "config", "current-context")
	if err != nil {
		m.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// bash on a terminal, with the completion as people load it.
type bash struct {
	*team
	bin      string
	terminal *os.File
}

// What of the package bash-completion the script of completion needs.
const initCompletion = `
_init_completion() {
  COMPREPLY=() words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
}
`

func newBash(m *team) *bash {
	m.Helper()
	b := &bash{team: m, bin: m.TempDir()}
	for _, name := range []string{"sluice", "kubectl-sluice", "kubectl_complete-sluice"} {
		if err := os.Symlink(sluice, filepath.Join(b.bin, name)); err != nil {
			m.Fatal(err)
		}
	}
	rc := filepath.Join(b.bin, "bashrc")
	script := initCompletion + "PS1='> '\nbind 'set enable-bracketed-paste off'\n" +
		"source <(sluice completion bash)\nsource <(kubectl-sluice completion bash)\nsource <(kubectl completion bash)\n"
	if err := os.WriteFile(rc, []byte(script), 0o644); err != nil {
		m.Fatal(err)
	}
	command := exec.CommandContext(m.Context(), "bash", "--noprofile", "--rcfile", rc, "-i")
	command.Env = append(os.Environ(), "KUBECONFIG="+local.Kubeconfig(), "PATH="+b.bin+":"+filepath.Join(root, "bin", "tools")+":"+os.Getenv("PATH"), "TERM=dumb")
	var err error
	if b.terminal, err = pty.StartWithSize(command, &pty.Winsize{Rows: 24, Cols: 200}); err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() {
		b.terminal.Close()
		_ = command.Wait()
	})
	b.until("> ")
	return b
}

// complete types a text and the tab key, and returns what then stands on the line.
func (b *bash) complete(typed string) string {
	b.Helper()
	// The comment sign ends what is completed, and the line does nothing.
	b.write(typed + "\t")
	b.until(typed)
	b.write("#end")
	line := b.until("#end")
	// Control-U takes the line back, and draws its prompt once more: only the prompt after a command's output says that bash
	// reads again, and what is typed before that the terminal itself would show a second time.
	b.write("\x15printf 'next%s\\n' line\n")
	b.until("nextline")
	b.until("> ")
	return typed + strings.TrimSuffix(line, "#end")
}

func (b *bash) write(text string) {
	b.Helper()
	if _, err := b.terminal.WriteString(text); err != nil {
		b.Fatal(err)
	}
}

// until reads up to a text.
func (b *bash) until(text string) string {
	b.Helper()
	if err := b.terminal.SetReadDeadline(time.Now().Add(soon)); err != nil {
		b.Fatal(err)
	}
	var read strings.Builder
	for one := make([]byte, 1); !strings.HasSuffix(read.String(), text); {
		if _, err := b.terminal.Read(one); err != nil {
			b.Fatalf("%v before %q; read: %q", err, text, read.String())
		}
		read.Write(one)
	}
	return read.String()
}
