// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
)

// GitServer serves bare repositories over HTTP, for cloning and pushing, to everyone.
type GitServer struct {
	url  string
	root string
	http *http.Server // nil for a server that another process runs
}

// NewGitServer serves the repositories in the folder root, which is made if it is missing, on a free port of 127.0.0.1. It
// needs the git command. A Cluster has one already; see Cluster.Git.
func NewGitServer(root string) (*GitServer, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("git server: %w", err)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	backend := &cgi.Handler{
		Path: git, Args: []string{"http-backend"},
		Env: append(gitEnvironment(), "GIT_PROJECT_ROOT="+root, "GIT_HTTP_EXPORT_ALL=1"),
	}
	server := &GitServer{url: "http://" + listener.Addr().String(), root: root, http: &http.Server{Handler: backend}}
	go server.http.Serve(listener) // it returns when close closes the listener
	return server, nil
}

func (s *starter) startGit() error {
	server, err := NewGitServer(gitRoot(s.options.Dir))
	if err != nil {
		return err
	}
	s.cluster.git = server
	s.options.Progress("git server is ready")
	return nil
}

func gitRoot(dir string) string { return filepath.Join(dir, "data", "git") }

// URL is the server's base URL.
func (g *GitServer) URL() string { return g.url }

// RepositoryURL is the URL of a repository, existing or not, for git clone and for a GitRepository.
func (g *GitServer) RepositoryURL(name string) string { return g.url + "/" + name + ".git" }

// CreateRepository makes an empty bare repository whose branch will be main, and returns its URL. One of the name must not
// exist.
func (g *GitServer) CreateRepository(ctx context.Context, name string) (string, error) {
	folder := filepath.Join(g.root, name+".git")
	if _, err := os.Stat(folder); err == nil {
		return "", fmt.Errorf("git repository %s exists", folder)
	}
	if _, err := runGit(ctx, "", "init", "--quiet", "--bare", "--initial-branch=main", folder); err != nil {
		return "", err
	}
	if _, err := runGit(ctx, folder, "config", "http.receivepack", "true"); err != nil {
		return "", err
	}
	return g.RepositoryURL(name), nil
}

// close ends the server; on none, or one that another process runs, it does nothing.
func (g *GitServer) close() error {
	if g == nil || g.http == nil {
		return nil
	}
	return g.http.Close()
}

// gitEnvironment makes git the same on all machines: no configuration of the user or the system, a neutral author, no prompt,
// no cleaning up in the background, and trust in repositories whoever owns them.
func gitEnvironment() []string {
	environment := []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=Team", "GIT_AUTHOR_EMAIL=team@example.com",
		"GIT_COMMITTER_NAME=Team", "GIT_COMMITTER_EMAIL=team@example.com",
	}
	settings := []struct{ key, value string }{
		{"safe.directory", "*"},
		{"gc.auto", "0"},
		{"receive.autogc", "false"},
		{"maintenance.auto", "false"},
		{"http.postBuffer", "104857600"}, // larger pushes come in chunks, which CGI knows no way to take
	}
	for i, setting := range settings {
		environment = append(environment,
			fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, setting.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, setting.value))
	}
	return append(environment, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)))
}

// runGit runs git in a folder ("": none in particular) and returns what it prints.
func runGit(ctx context.Context, dir string, args ...string) (string, error) {
	made := newCommand(ctx, "git", args...)
	made.Dir, made.Env = dir, gitEnvironment()
	return made.output()
}
