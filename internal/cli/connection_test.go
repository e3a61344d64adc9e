// Copyright The Sluice Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluice-gateway/sluice/internal/cli"
)

const (
	notServed = "sluice: this cluster does not serve APIGateways (gateway.sluice.dev/v1alpha1): install Sluice, or choose another cluster by --context\n"
	notKnown  = "sluice: the cluster does not accept these credentials: log in again, or choose others by --context or --user\n"
)

// Servers stand for clusters that are not as they should be.
func TestClustersThatAreNotAsTheyShouldBe(t *testing.T) {
	for what, c := range map[string]struct {
		answer http.HandlerFunc
		stderr string
	}{
		"Sluice is not installed":          {withoutKinds, notServed},
		"it is no API server":              {http.NotFound, notServed},
		"the credentials are not accepted": {unauthorized, notKnown},
	} {
		t.Run(what, func(t *testing.T) {
			server := httptest.NewServer(c.answer)
			defer server.Close()
			t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
			for _, command := range []string{"get", "tree web", "reconcile web", "suspend web", "resume web"} {
				code, stdout, stderr := sluice("", append(strings.Fields(command), "--server", server.URL, "-n", "apis")...)
				if code != 1 || stdout != "" || stderr != c.stderr {
					t.Errorf("%s: exit %d, stdout %q, stderr %q, want %q", command, code, stdout, stderr, c.stderr)
				}
			}
		})
	}
}

func TestAKubeconfigThatIsNotThere(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "config")
	t.Setenv("KUBECONFIG", missing)
	want := "sluice: no cluster is configured by KUBECONFIG=" + missing + ": name a file that exists and has a context, or pass --server\n"
	if code, stdout, stderr := sluice("", "get"); code != 1 || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// withoutKinds serves the core API alone.
func withoutKinds(w http.ResponseWriter, r *http.Request) {
	body, served := map[string]string{
		"/api":  `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
	}[r.URL.Path]
	if !served {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(body))
}

func unauthorized(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`))
}

func TestATimeoutNeedsSomethingToWaitFor(t *testing.T) {
	const want = "sluice: --timeout says how long --wait waits: give --wait too, or leave it out\n"
	for _, command := range []string{"reconcile", "suspend", "resume"} {
		for _, wait := range [][]string{nil, {"--wait=false"}} {
			code, stdout, stderr := sluice("", append([]string{command, "web", "--timeout=1m"}, wait...)...)
			if code != 1 || stdout != "" || stderr != want {
				t.Errorf("%s %v: exit %d, stdout %q, stderr %q", command, wait, code, stdout, stderr)
			}
		}
	}
}

// Commands that need no cluster read no kubeconfig, not even one that nobody could read.
func TestRenderReadsNoKubeconfig(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "malformed")
	write(t, kubeconfig, "{")
	t.Setenv("KUBECONFIG", kubeconfig)
	if code, _, stderr := sluice("", "get"); code != 1 || !strings.HasPrefix(stderr, "sluice: kubeconfig: error loading config file") {
		t.Fatalf("the kubeconfig can be read: exit %d, %s", code, stderr)
	}
	compare(t, filepath.Join(examples, "quickstart", "expected.yaml"), "render", "-f", filepath.Join(examples, "quickstart"))
}

func TestAsAPluginOfKubectl(t *testing.T) {
	var out, errs strings.Builder
	code := cli.Run([]string{"/usr/local/bin/kubectl-sluice", "suspend", "--help"}, cli.Streams{Out: &out, Err: &errs}, "v1.2.3")
	if code != 0 || errs.String() != "" {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for _, line := range []string{"  kubectl sluice suspend NAME [flags]\n", "  kubectl sluice suspend web -n apis\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no line %q in\n%s", line, out.String())
		}
	}
}
